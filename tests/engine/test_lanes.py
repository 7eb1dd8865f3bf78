"""Four seeds in one register are four seeds."""

from types import ModuleType

import numpy as np
import pytest
from support.problems import block_of, composed_job

from odfl_cli.algorithms.base import for_seeds
from odfl_cli.core.kernel_cache import load_kernel
from odfl_cli.core.streams import draw_all
from odfl_cli.engine import CompiledEngine
from odfl_cli.engine.base import Trace
from odfl_cli.engine.compiled_engine import kernel_module, seeds_of
from odfl_cli.environments import Rounds
from odfl_cli.problem.polytopes import Box
from odfl_cli.problem.regularizers import LogBarrier
from odfl_cli.runs.simulate import NotFiniteError, simulate

ROUNDS = 300


def loaded(kernel: str) -> ModuleType:
    return load_kernel(f"odfl_cli.engine.kernels.{kernel}")


@pytest.mark.parametrize(
    ("seeds", "items", "features"), [(1, 5, 10), (4, 2, 1), (5, 3, 3), (6, 13, 7)]
)
def test_seeds_in_lanes_learn_what_they_learn_alone(seeds: int, items: int, features: int) -> None:
    job = composed_job(
        "algo=df_ogd", f"data.items={items}", f"data.features={features}", f"seeds={seeds}"
    )
    algorithm = for_seeds(job.algorithm, job.seeds)
    X, costs = job.environment.rounds(job.seeds, 0, ROUNDS + 1)
    rounds = Rounds(X[:, 1:], costs[:, 1:])  # a part of a block, as metrics may ask for
    draws = draw_all(job.seeds, algorithm.draws(), 0, ROUNDS)
    ends = []
    for kernel, at_once in (("df_ogd", 1), ("df_ogd_lanes", seeds_of(algorithm, seeds))):
        trace = Trace.blank(algorithm, seeds, ROUNDS)
        start = algorithm.init(seeds, None)
        after, play = loaded(kernel).prepare(algorithm, start, rounds, draws, trace)
        for group in range(-(-seeds // at_once)):
            play(group)
        ends.append((after, trace))
    (alone, one), (together, other) = ends
    np.testing.assert_array_equal(one.cost, other.cost)
    np.testing.assert_allclose(one.mse, other.mse, rtol=1e-9)
    for name, values in one.notes.items():
        np.testing.assert_allclose(values, other.notes[name], rtol=1e-9)
    for field, wanted in zip(together, alone, strict=True):
        np.testing.assert_allclose(field, wanted, rtol=1e-9, atol=1e-12)


def test_other_parts_are_played_one_seed_at_a_time() -> None:
    assert kernel_module(composed_job("algo=df_ogd").algorithm) is loaded("df_ogd_lanes")
    for other in ("regularizer=quadratic", "predictor=affine", "kappa=0.1"):
        assert kernel_module(composed_job("algo=df_ogd", other).algorithm) is loaded("df_ogd")


def test_a_parameter_whose_square_overflows_stops_the_run() -> None:
    job = composed_job("algo=df_ogd", "algo.c_eta=1e200", "horizon.rounds=50", "seeds=2")
    with pytest.raises(NotFiniteError, match="round"):
        simulate(job)


def test_blocks_of_rounds_that_are_kept_are_played_alike() -> None:
    """Regret keeps all rounds of a run, so that a block is a view with gaps between the seeds."""
    basic, regret = (
        simulate(composed_job("algo=df_ogd", "horizon=short", "seeds=2", f"metrics={metrics}"))
        for metrics in ("basic", "regret")
    )
    np.testing.assert_array_equal(basic.table["cost"], regret.table["cost"])


@pytest.mark.parametrize("experts", [1, 3, 6])
@pytest.mark.parametrize("predictor", ["linear", "affine"])
def test_experts_in_lanes_pay_what_they_pay_alone(experts: int, predictor: str) -> None:
    job = composed_job("algo=hedge", f"algo.experts={experts}", f"predictor={predictor}", "seeds=2")
    rounds, draws = block_of(job, 0, 50)
    state, _ = CompiledEngine().advance(job.algorithm, job.algorithm.init(2, None), rounds, draws)
    problem, design = job.algorithm.problem, job.algorithm.design
    guesses = problem.predictor.predict(design[:, None, None], rounds.X[None])
    paid = (problem.polytope.minimise(guesses) * rounds.costs).sum(-1)
    np.testing.assert_allclose(state.losses, paid.sum(-1).T, rtol=1e-12)


@pytest.mark.parametrize("batch", [1, 3, 6])
def test_rounds_of_the_history_in_lanes_are_smoothed_as_alone(batch: int) -> None:
    """Newton's method on four rounds at once takes for each the steps that it takes alone."""
    size = "data.items=4", "horizon.rounds=12", "seeds=2", f"oracle.batch={batch}"
    parts = "algo=df_ftpl", "polytope=knapsack", "regularizer=log_barrier", "polytope.capacity=2"
    by_torch, compiled = (
        simulate(composed_job(*parts, *size, f"engine={engine}")).table
        for engine in ("torch", "compiled")
    )
    np.testing.assert_array_equal(compiled["newton_steps"], by_torch["newton_steps"])
    np.testing.assert_allclose(compiled["cost"], by_torch["cost"], rtol=1e-12)
    np.testing.assert_allclose(compiled["mse"], by_torch["mse"], rtol=1e-9)


def test_a_decision_that_cannot_be_found_leaves_those_beside_it_as_they_are() -> None:
    barrier = LogBarrier(polytope=Box(dimension=3))
    rows = np.random.default_rng(0).normal(size=(4, 4))
    rows[:, -1] = 0.1
    kernel = load_kernel("odfl_cli.problem.regularizers.barrier_rows").barrier_decisions

    def solved(given: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        g, alpha = np.ascontiguousarray(given[:, :-1]), np.ascontiguousarray(given[:, -1:])
        w, told = np.empty_like(g), np.empty((len(g), 2))
        kernel(g, alpha, *barrier.packed, w, told)
        return w, told

    wanted = solved(rows)
    rows[1, 0] = np.nan
    found = solved(rows)
    assert np.isnan(found[1][1, 1])
    for one, other in zip(wanted, found, strict=True):
        np.testing.assert_array_equal(one[[0, 2, 3]], other[[0, 2, 3]])
