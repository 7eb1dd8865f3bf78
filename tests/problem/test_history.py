"""Which rounds DF-FTPL remembers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.problems import composed_job

from odfl_cli.core.streams import draw
from odfl_cli.problem.oracles.base import Oracle
from odfl_cli.runs.simulate import simulate

SIZES = st.integers(1, 12)
ROUNDS = st.integers(1, 40)


def buffer(history: Oracle, uniform: np.ndarray) -> np.ndarray:
    """The rounds (from 1) in every slot after all rounds of uniform [S, T]; 0: none. [S, slots]."""
    seeds, rounds = uniform.shape
    slots = history.slots(np.arange(1, rounds + 1), uniform)
    kept = np.zeros((seeds, history.capacity(rounds)), dtype=int)
    for t in range(rounds):
        kept[np.arange(seeds), slots[:, t]] = t + 1
    return kept


def first_slots(history: Oracle, uniform: np.ndarray) -> np.ndarray:
    """The rounds an oracle can sample: the first `held` slots, [S, held]."""
    return buffer(history, uniform)[:, : int(history.held(uniform.shape[1]))]


def draws(seeds: int, rounds: int) -> np.ndarray:
    return np.random.default_rng(0).random((seeds, rounds))


@given(rounds=ROUNDS, size=SIZES)
def test_full_holds_everything(rounds: int, size: int) -> None:
    held = first_slots(Oracle(history="full", history_size=size), draws(2, rounds))
    np.testing.assert_array_equal(held, [np.arange(1, rounds + 1)] * 2)


@given(rounds=ROUNDS, size=SIZES)
def test_a_window_holds_exactly_the_latest_rounds(rounds: int, size: int) -> None:
    latest = np.arange(max(1, rounds - size + 1), rounds + 1)
    for held in first_slots(Oracle(history="window", history_size=size), draws(2, rounds)):
        np.testing.assert_array_equal(np.sort(held), latest)


@given(rounds=ROUNDS, size=SIZES)
def test_a_reservoir_holds_so_many_different_rounds(rounds: int, size: int) -> None:
    """All rounds while they fit, then `size` of them; what it dropped is never among them."""
    history = Oracle(history="reservoir", history_size=size)
    uniform = draws(3, rounds)
    slots = history.slots(np.arange(1, rounds + 1), uniform)
    for seed, held in enumerate(first_slots(history, uniform)):
        assert len(set(held)) == min(rounds, size)
        assert held.min() >= 1
        dropped = set(np.flatnonzero(slots[seed] == size) + 1)
        assert dropped.isdisjoint(held)
        assert dropped.isdisjoint(range(1, size + 1))


@pytest.mark.parametrize(("rounds", "size"), [(30, 1), (30, 7), (31, 30), (200, 20)])
def test_every_round_is_equally_likely_to_be_in_the_reservoir(rounds: int, size: int) -> None:
    """χ² over rounds of the counts; its mean is T − 1 and its deviation at most √(2T)."""
    seeds = 4000
    held = first_slots(Oracle(history="reservoir", history_size=size), draws(seeds, rounds))
    counts = np.bincount(held.ravel(), minlength=rounds + 1)[1:]
    share = size / rounds
    variance = seeds * share * (1.0 - share)
    chi_square = ((counts - seeds * share) ** 2).sum() / variance * (rounds - 1) / rounds
    assert abs(chi_square - (rounds - 1)) < 6.0 * np.sqrt(2.0 * rounds)


@pytest.mark.parametrize("size", [3, 10])
def test_pairs_of_rounds_are_equally_likely_too(size: int) -> None:
    """A uniform subset: any two rounds are both held with probability size(size−1)/(T(T−1))."""
    rounds, seeds = 12, 20_000
    held = first_slots(Oracle(history="reservoir", history_size=size), draws(seeds, rounds))
    member = np.zeros((seeds, rounds))
    np.put_along_axis(member, held - 1, 1.0, axis=1)
    together = (member.T @ member / seeds)[np.triu_indices(rounds, 1)]
    expected = size * (size - 1) / (rounds * (rounds - 1))
    assert np.abs(together - expected).max() < 6.0 * np.sqrt(expected / seeds)


@given(rounds=st.integers(1, 10**9), size=SIZES)
def test_memory_is_bounded(rounds: int, size: int) -> None:
    assert Oracle(history="full", history_size=size).capacity(rounds) == rounds
    assert Oracle(history="window", history_size=size).capacity(rounds) <= size
    assert Oracle(history="reservoir", history_size=size).capacity(rounds) <= size + 1


@given(keep=st.sampled_from(["full", "window", "reservoir"]), size=SIZES, data=st.data())
def test_no_draw_points_outside_the_buffer(keep: str, size: int, data: st.DataObject) -> None:
    """This holds for the smallest and the largest uniform number in every round."""
    rounds = data.draw(st.integers(1, 10**6))
    history, t = Oracle(history=keep, history_size=size), np.array([rounds])
    for uniform in (0.0, np.nextafter(1.0, 0.0), data.draw(st.floats(0, 1, exclude_max=True))):
        (slot,) = history.slots(t, np.array([[uniform]]))[0]
        assert 0 <= slot < history.capacity(rounds)
        assert 0 <= int(uniform * history.held(t)[0]) < history.held(t)[0]
    assert history.held(t)[0] <= min(rounds, history.capacity(rounds))


@pytest.mark.parametrize("t", [1, 5, 6, 1000])
def test_what_the_buffer_represented(t: int) -> None:
    """All t rounds, but for the window, which has forgotten the older ones."""
    assert Oracle(history="full", history_size=5).represented(t) == t
    assert Oracle(history="reservoir", history_size=5).represented(t) == t
    assert Oracle(history="window", history_size=5).represented(t) == min(t, 5)


@pytest.mark.parametrize("engine", ["compiled", "torch"])
@pytest.mark.parametrize("keep", ["window", "reservoir"])
def test_df_ftpl_fills_its_buffer_by_these_rules(engine: str, keep: str) -> None:
    """The buffer after a run holds the costs of the rounds that the rule names, block by block."""
    size = (f"oracle.history={keep}", "oracle.history_size=6", "horizon.rounds=25", "seeds=3")
    job = composed_job("algo=df_ftpl", f"engine={engine}", *size)
    state = simulate(job, block=4).state
    uniform = draw(job.seeds, "df_ftpl/slot", job.algorithm.draws()["df_ftpl/slot"], 0, 25)
    held = first_slots(Oracle(history=keep, history_size=6), uniform)
    data = job.environment.rounds(job.seeds, 0, 25)
    assert state.X.shape[1] == 6 + (keep == "reservoir")
    for seed in range(3):
        np.testing.assert_array_equal(state.costs[seed, :6], data.costs[seed, held[seed] - 1])
        np.testing.assert_array_equal(state.X[seed, :6], data.X[seed, held[seed] - 1])


@pytest.mark.parametrize("keep", ["window", "reservoir"])
def test_a_history_that_never_overflows_is_the_full_one(keep: str) -> None:
    same = ("algo=df_ftpl", "horizon.rounds=25", "seeds=3", "oracle.history_size=25")
    bounded = simulate(composed_job(*same, f"oracle.history={keep}"))
    full = simulate(composed_job(*same))
    for name, values in full.table.items():
        np.testing.assert_array_equal(bounded.table[name], values)
