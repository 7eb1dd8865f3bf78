"""The guard: its weights by hand, and its two bounds in any sequence of rounds."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.commands import complaints, odfl
from support.problems import composed_job, make_problem

from odfl_cli.algorithms.base import Algorithm, State
from odfl_cli.algorithms.guard import Guard
from odfl_cli.algorithms.rls import RLS
from odfl_cli.core.arrays import dot
from odfl_cli.core.errors import RowError, UserError
from odfl_cli.environments.base import Rounds
from odfl_cli.runs.simulate import simulate


class Fixed(Algorithm):
    """Plays a θ that never changes."""

    def init(self, seeds, truth):
        return State(0, np.tile(self.theta, (seeds, 1)))


class Left(Fixed):
    theta = np.array([1.0, 0.0])  # X is the identity: item 2 is predicted to cost less


class Right(Fixed):
    theta = np.array([0.0, 1.0])  # and here item 1


def play(guard, rounds):
    """The costs of the guard [T] and of each of its algorithms [T, 1 + N], and the last state."""
    state, paid, each = guard.init(1, None), [], []
    for t in range(rounds.costs.shape[1]):
        X, costs = rounds.X[:, t], rounds.costs[:, t]
        paid.append(dot(guard.decide(state, X)[1], costs)[0])
        each.append(dot(guard._votes(state, X)[1], costs[:, None])[0])
        state = guard.update(state, X, costs, {})
    return np.array(paid), np.array(each), state


def two_items(costs):
    return Rounds(np.tile(np.eye(2), (1, len(costs), 1, 1)), np.array(costs, dtype=float)[None])


def test_two_rounds_by_hand():
    """The base pays 1 and the rival 0 in round 1: v = (½, ½·(1 + ½)), so p = (0.4, 0.6)."""
    problem = make_problem(items=2, features=2)
    guard = Guard(problem=problem, base=Left, rivals={"right": Right}, range=1.0)
    paid, _, state = play(guard, two_items([[0, 1], [0, 1]]))
    np.testing.assert_allclose(paid, [0.5, 0.4], rtol=1e-14)
    v = np.array([0.5, 0.5 * 1.5**2])
    np.testing.assert_allclose(guard.shares(state)[0], v / v.sum(), rtol=1e-14)


@given(
    costs=st.lists(st.tuples(*[st.sampled_from([0.0, 0.25, 1.0])] * 2), min_size=1, max_size=80),
    eta=st.floats(0.01, 0.5),
)
def test_both_bounds_hold_for_any_costs(costs, eta):
    problem = make_problem(items=2, features=2)
    guard = Guard(problem=problem, base=Left, rivals={"right": Right}, eta=eta, range=1.0)
    paid, each, _ = play(guard, two_items(costs))
    to_base = math.log(1 / (1 - eta)) / eta
    to_rival = eta * ((each[:, 0] - each[:, 1]) ** 2).sum() + math.log(1 / eta) / eta
    assert paid.sum() <= each[:, 0].sum() + to_base + 1e-9
    assert paid.sum() <= each[:, 1].sum() + to_rival + 1e-9


@given(
    costs=st.lists(
        st.tuples(*[st.sampled_from([0.0, 1e-6, 0.01, 0.25, 1.0, 50.0])] * 2),
        min_size=1,
        max_size=80,
    ),
    eta=st.floats(0.01, 0.5),
)
def test_both_bounds_hold_for_a_range_that_is_learned(costs, eta):
    problem = make_problem(items=2, features=2)
    guard = Guard(problem=problem, base=Left, rivals={"right": Right}, eta=eta)
    paid, each, _ = play(guard, two_items(costs))
    lead = np.abs(each[:, 0] - each[:, 1])
    B, so_far = lead.max(), np.maximum.accumulate(lead)
    squares = (lead**2 / np.maximum(so_far, 1e-300)).sum()
    assert paid.sum() <= each[:, 0].sum() + B * (math.log(1 / (1 - eta)) / eta + 1) + 1e-9
    assert paid.sum() <= each[:, 1].sum() + eta * squares + B * (math.log(1 / eta) / eta + 2) + 1e-9


def test_a_thousand_small_differences_do_not_outweigh_a_few_large_ones():
    """The base pays 0.01 and the rival 0, then 0 and 1: counted in ranges of their time, 585 were paid."""
    problem = make_problem(items=2, features=2)
    guard = Guard(problem=problem, base=Left, rivals={"right": Right})
    paid, each, _ = play(guard, two_items([[0, 0.01]] * 1000 + [[1, 0]] * 200))
    assert each[:, 0].sum() == pytest.approx(10.0)
    assert paid.sum() <= 10.0 + 2.39
    # a rival that leads from the start takes over
    late, _, _ = play(guard, two_items([[0, 1]] * 50))
    assert late[-1] < 1e-6


def test_one_line_refusals():
    with pytest.raises(UserError, match="needs one rival"):
        Guard(problem=make_problem(), base=RLS, rivals={})
    with pytest.raises(UserError, match=r"algo\.rivals\.rls\.ridge=-1"):
        composed_job("algo=guard", "algo.rivals.rls.ridge=-1")
    with pytest.raises(UserError, match=r"algo\.rivals\.rls=5: choose a file"):
        composed_job("algo=guard", "algo.rivals.rls=5")


def test_what_cannot_be_weighed_is_refused_in_one_line():
    problem = make_problem(items=2, features=2)
    guard = Guard(problem=problem, base=Left, rivals={"right": Right}, range=0.5)
    with pytest.raises(
        RowError, match=r"algo\.range=0\.5: .* differ by 1; give a range that is larger"
    ):
        play(guard, two_items([[0, 0.25], [0, 1]]))
    with pytest.raises(RowError, match="algo=guard: algorithm pays nan, which cannot be weighed"):
        play(guard, two_items([[0, np.nan]]))


def test_both_engines_refuse_costs_beyond_the_range_in_the_same_round():
    given = ("algo=guard", "algo.range=1e-9", "horizon.rounds=30", "seeds=[3]")
    said = []
    for engine in ("auto", "array"):
        with pytest.raises(UserError, match=r"seed 3, round \d+: algo\.range=1e-09") as refusal:
            simulate(composed_job(*given, f"engine={engine}"))
        said.append(str(refusal.value))
    assert said[0] == said[1]


def test_a_range_that_proves_too_small_in_a_run_is_a_failed_run_and_not_bad_input(tmp_path):
    given = ("algo=guard", "algo.range=1e-9", "horizon.rounds=30", "seeds=[3]")
    done = odfl("run", *given, cwd=tmp_path)
    assert done.returncode == 1
    (said,) = complaints(done)
    assert "algo.range=1e-09" in said
    assert "algo.range=null" in said
    (record,) = tmp_path.rglob("failed.json")
    assert json.loads(record.read_text())["error"] in said


def test_a_rival_can_be_left_out_and_another_named():
    changed = ["algo.rivals.spo=null", "+algo@algo.rivals.ogd=ogd", "+algo.rivals.ogd._partial_=true"]  # fmt: skip
    learners = composed_job("algo=guard", *changed).algorithm.learners
    assert [learner.name for learner in learners] == ["df_moments", "rls", "df_ogd", "ogd"]
