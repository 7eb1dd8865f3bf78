"""The loop over blocks: progress, failures, memory."""

import math
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.problems import make_job

from odfl_cli.algorithms.gradient import PFOGD
from odfl_cli.algorithms.references import Uniform
from odfl_cli.core.errors import UserError
from odfl_cli.environments.base import Rounds
from odfl_cli.environments.sin4 import Sin4
from odfl_cli.runs.simulate import BLOCK_BYTES, MOST_ROUNDS, simulate


@dataclass
class Fixed:
    """An environment without chance: the cost of item i in round t is costs[t][i]."""

    costs: np.ndarray  # [T, d]
    X: np.ndarray = field(default_factory=lambda: np.zeros((4, 3)))  # the same every round
    items: int = 4
    features: int = 3

    def rounds(self, seeds, start, stop):
        size = (len(seeds), stop - start, self.items)
        X = np.broadcast_to(self.X, (*size, self.features)).copy()
        return Rounds(X, np.broadcast_to(self.costs[start:stop], size).copy())

    def theta_star(self, seeds):
        return None


class Breaking(Sin4):
    """Data that break for some seeds from some round on (counted from 1)."""

    def rounds(self, seeds, start, stop):
        data = super().rounds(seeds, start, stop)
        for row, seed in enumerate(seeds):
            for t in range(start, stop):
                if (seed, t + 1) in BREAKS:
                    data.costs[row, t - start, 2] = BREAKS[seed, t + 1]
        return data


BREAKS = {(40, 13): math.nan, (41, 9): math.inf, (42, 9): math.nan, (43, 20): math.nan}


@pytest.mark.parametrize("block", [1, 4, 8, 9, 64])
@pytest.mark.parametrize(
    ("seeds", "seed", "t"),
    [((1, 40), 40, 13), ((40, 1, 41), 41, 9), ((42, 41), 42, 9), ((43,), 43, 20)],
)
def test_numbers_that_are_not_finite_are_named(seeds, seed, t, block):
    """The earliest round, in it the first seed, whatever the block."""
    job = make_job(PFOGD, seeds=seeds, environment=Breaking(items=4, features=3), rounds=20)
    with pytest.raises(UserError) as failure:
        simulate(job, block)
    message = str(failure.value)
    assert message.startswith("pf_ogd:")
    assert f"seed {seed} " in message
    assert f"round {t}; smaller learning rates" in message
    assert "\n" not in message


def test_a_learner_that_diverges_is_named():
    """A step that overflows in round 1 shows in the squared error of round 2."""
    costs = np.full((9, 4), 1e10)
    X = np.ones((4, 3))
    job = make_job(
        PFOGD, seeds=(3,), environment=Fixed(costs, X), settings={"eta": 1e300}, rounds=9
    )
    with pytest.raises(UserError, match=r"pf_ogd: the numbers of seed 3 .* in round 2;"):
        simulate(job)


def test_who_has_no_learning_rate_is_not_told_to_lower_it():
    job = make_job(Uniform, seeds=(40,), environment=Breaking(items=4, features=3), rounds=20)
    with pytest.raises(UserError, match=r"uniform: the numbers of seed 40 .* in round 13$"):
        simulate(job)


class Overflowing(Sin4):
    """Data whose own arithmetic leaves the reals, with numpy's warnings."""

    def rounds(self, seeds, start, stop):
        data = super().rounds(seeds, start, stop)
        return Rounds(data.X, np.exp(1e6 * (1 + data.costs)) * 0.0)


class Singular(Uniform):
    """Inverts a matrix of zeros; whether other matrices are singular depends on the processor."""

    def update(self, state, X, costs, draws):
        return np.linalg.inv(np.zeros((2, 2)))


def test_a_matrix_that_cannot_be_solved_is_named():
    with pytest.raises(UserError, match=r"^uniform, rounds 1 to 2: LinAlgError: Singular matrix"):
        simulate(make_job(Singular, rounds=2))


def test_data_that_overflow_are_refused_without_a_warning():
    """Warnings are errors here, so none may pass."""
    job = make_job(Uniform, seeds=(1,), environment=Overflowing(items=4, features=3), rounds=3)
    with pytest.raises(UserError, match=r"in round 1$"):
        simulate(job)


@given(rounds=st.integers(1, 30), block=st.integers(1, 40))
def test_progress_hears_of_every_block(rounds, block):
    heard = []
    simulate(make_job(Uniform, rounds=rounds), block, heard.append)
    assert heard[-1] == rounds
    assert heard == [min(stop, rounds) for stop in range(block, rounds + block, block)]


def test_thinned_rows_are_rows_of_the_full_table():
    full = simulate(make_job(PFOGD, rounds=40))
    thin_job = make_job(PFOGD, rounds=40, rows=9)
    thin = simulate(thin_job, block=7)
    logged = thin_job.horizon.logged()
    assert len(logged) < 40
    for name, values in thin.table.items():
        np.testing.assert_array_equal(values, full.table[name][:, logged - 1])


@given(seeds=st.integers(1, 300), items=st.integers(2, 600), features=st.integers(1, 60))
def test_a_block_fits_the_memory_budget(seeds, items, features):
    """X and the costs of a block stay within the budget, unless 16 rounds alone exceed it."""
    job = make_job(
        Uniform, tuple(range(seeds)), Sin4(items=items, features=features), items=2, features=1
    )
    block = job.choose_block_rounds()
    assert block.bit_count() == 1
    assert 16 <= block <= MOST_ROUNDS
    bytes_of_data = 8 * seeds * block * items * (features + 1)
    assert bytes_of_data <= BLOCK_BYTES or block == 16
    # and no block is shorter than it must be
    assert block == MOST_ROUNDS or 2 * block * 8 * seeds * items * (features + 4) > BLOCK_BYTES
