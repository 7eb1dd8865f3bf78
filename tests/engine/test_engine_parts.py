"""Every predictor, polytope and regulariser: numpy and torch play the same game."""

import tempfile
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.problems import composed_job, make_problem
from support.samples import examples, marked

from odfl_cli.algorithms.base import Algorithm, State
from odfl_cli.core.errors import RoundError, UserError
from odfl_cli.core.settings import settings
from odfl_cli.engine.array_engine import ArrayEngine
from odfl_cli.engine.base import Engine, Trace
from odfl_cli.engine.torch_engine import TorchEngine
from odfl_cli.environments.base import Rounds
from odfl_cli.problem.ball import Ball
from odfl_cli.problem.oracles.descent import SGD
from odfl_cli.problem.polytopes.assignment import Assignment
from odfl_cli.problem.polytopes.box import Box
from odfl_cli.problem.polytopes.budget import Budget
from odfl_cli.problem.polytopes.custom import Custom
from odfl_cli.problem.polytopes.knapsack import Knapsack
from odfl_cli.problem.polytopes.linear import Polytope
from odfl_cli.problem.polytopes.shortest_path import ShortestPath
from odfl_cli.problem.polytopes.simplex import Simplex
from odfl_cli.problem.predictors.base import Predictor
from odfl_cli.problem.predictors.linear import Affine, Linear, PerItem, Quadratic
from odfl_cli.problem.problem import Problem
from odfl_cli.problem.regularizers.base import Regularizer
from odfl_cli.problem.regularizers.entropy import Entropy
from odfl_cli.problem.regularizers.log_barrier import LogBarrier
from odfl_cli.problem.regularizers.quadratic import Quadratic as Projection
from odfl_cli.runs.simulate import simulate

CLOSE = {"rtol": 1e-9, "atol": 1e-9}


def from_file(polytope: Polytope) -> Custom:
    """The same set, stated in a file."""
    A, b = polytope.faces()
    with tempfile.NamedTemporaryFile(suffix=".npz") as file:
        np.savez(file, A=A, b=b)
        file.flush()
        return Custom(file=file.name)


SETS: dict[type[Polytope], st.SearchStrategy[Polytope]] = {
    Simplex: st.builds(Simplex, dimension=st.integers(2, 7)),
    Box: st.builds(
        Box, dimension=st.integers(1, 7), lower=st.floats(-2, 0), upper=st.floats(0.5, 3)
    ),
    Budget: st.integers(2, 7).flatmap(
        lambda d: st.builds(Budget, dimension=st.just(d), k=st.integers(1, d - 1))
    ),
    Knapsack: st.builds(
        Knapsack,
        dimension=st.integers(1, 7),
        capacity=st.floats(0.5, 6.0),
        weights_seed=st.integers(0, 9) | st.none(),
    ),
    ShortestPath: st.builds(ShortestPath, rows=st.integers(2, 4), columns=st.integers(2, 4)),
    Assignment: st.builds(Assignment, size=st.integers(2, 4)),
    Custom: st.builds(
        from_file, st.builds(Knapsack, dimension=st.integers(2, 4), capacity=st.floats(0.5, 3.0))
    ),
}
KINDS = (Linear, Affine, PerItem, Quadratic)
BY_A_SOLVER = (ShortestPath, Assignment, Custom)
"""Sets onto which quadprog projects."""
SMOOTHED: list[tuple[type[Polytope], type[Regularizer]]] = [
    (Simplex, Entropy),
    *((polytope, LogBarrier) for polytope in reversed(SETS)),
    *((polytope, Projection) for polytope in SETS if polytope not in BY_A_SOLVER),
]
ALGORITHMS = ("df_ogd", "df_ftpl", "fenchel_young", "perturbed", "df_moments", "vote")
COMBINATIONS = [
    (ALGORITHMS[number % len(ALGORITHMS)], KINDS[number % len(KINDS)], *smoothed)
    for number, smoothed in enumerate(SMOOTHED * 2)
]
"""Every smoothed set twice, with other predictors and algorithms: a part knows nothing of the others."""
ONCE = set(COMBINATIONS[: len(SMOOTHED)])


@st.composite
def problems(
    draw: st.DrawFn,
    predictor: type[Predictor],
    polytope: type[Polytope],
    regularizer: type[Regularizer],
) -> Problem:
    chosen = draw(SETS[polytope])
    rounds = draw(st.integers(1, 8))
    return Problem(
        items=chosen.dimension,
        features=draw(st.integers(1, 4)),
        rounds=rounds,
        theta_set=Ball(radius=draw(st.floats(0.1, 3.0))),
        predictor=predictor(),
        polytope=chosen,
        regularizer=regularizer(polytope=chosen),
        oracle=SGD(
            steps=draw(st.integers(1, 3)),
            lr=draw(st.floats(0.01, 0.2)),
            batch=draw(st.integers(1, 3)),
            every=draw(st.integers(1, 2)),
        ),
        kappa=draw(st.sampled_from([0.0, 0.05, 1.0])),
    )


def play(
    algorithm: Algorithm, engine: Engine, rounds: Rounds, seed: int = 0
) -> tuple[dict[str, np.ndarray], Trace]:
    """The block from the first round, every draw from `seed`: the last state, and the trace."""
    seeds, length = rounds.costs.shape[:2]
    rng = np.random.default_rng(seed)
    draws = {
        name: rng.random((seeds, length, *spec.shape)) for name, spec in algorithm.draws().items()
    }
    truth = rng.normal(size=(seeds, algorithm.problem.parameters))
    engine.start(algorithm)
    state, trace = engine.advance(algorithm, algorithm.init(seeds, truth), rounds, draws)
    return {"theta": state.theta, "t": state.t}, trace


def data_for(problem: Problem, seeds: int, seed: int, grid: bool) -> Rounds:
    """Normal features and costs; on a grid of halves, costs tie and are zero now and then."""
    rng = np.random.default_rng(seed)
    shape = (seeds, problem.rounds, problem.items)
    X, costs = rng.normal(size=(*shape, problem.features)), rng.normal(size=shape)
    return Rounds(X, np.round(2 * costs) / 2 if grid else costs)


@pytest.mark.parametrize(
    ("algo", "predictor", "polytope", "regularizer"), marked(COMBINATIONS, ONCE.__contains__)
)
@examples(0.1)
@given(data=st.data())
def test_numpy_equals_torch(algo, predictor, polytope, regularizer, data) -> None:
    """Costs, squared errors, θ and every note."""
    problem = data.draw(problems(predictor, polytope, regularizer))
    algorithm = replace(composed_job(f"algo={algo}").algorithm, problem=problem)
    seeds, seed = data.draw(st.integers(1, 3)), data.draw(st.integers(0, 99))
    grid = algo != "vote" and data.draw(st.booleans())  # experts that tie are weighed by rounding
    rounds = data_for(problem, seeds, seed, grid)
    (ours, trace), (theirs, expected) = (
        play(algorithm, engine.choose(algorithm), rounds, seed)
        for engine in (ArrayEngine(), TorchEngine())
    )
    assert trace.notes.keys() == expected.notes.keys()
    np.testing.assert_allclose(ours["theta"], theirs["theta"], **CLOSE)
    np.testing.assert_allclose(trace.cost, expected.cost, **CLOSE)
    np.testing.assert_allclose(trace.mse, expected.mse, **CLOSE)
    for name, values in trace.notes.items():
        np.testing.assert_allclose(values, expected.notes[name], **CLOSE, err_msg=name)


def hopeless(algo: str, polytope: Polytope) -> Algorithm:
    """An α of 1e-12 for predictions beyond 1e8: out of Newton's reach."""
    problem = replace(
        make_problem(items=polytope.dimension, features=2, rounds=4, radius=1e9),
        polytope=polytope,
        regularizer=LogBarrier(polytope=polytope),
    )
    given = composed_job(f"algo={algo}").algorithm
    return replace(given, problem=problem, c_alpha=1e-12, c_eta=1e-3)


@pytest.mark.parametrize("algo", ["df_ogd", "df_ftpl"])
@pytest.mark.parametrize("engine", [ArrayEngine(), TorchEngine()], ids=["array", "torch"])
def test_a_newton_failure_names_the_round_the_seed_and_the_residual(algo, engine) -> None:
    """Three seeds; the first predicts zero throughout, the others fail in rounds 3 and 2."""
    algorithm = hopeless(algo, Knapsack(dimension=5, capacity=3.0))
    rng = np.random.default_rng(0)
    X, costs = rng.normal(size=(3, 4, 5, 2)), rng.normal(size=(3, 4, 5))
    X[0] = X[1, :2] = X[2, :1] = 0.0
    X *= 1e8
    with pytest.raises(RoundError, match=r"residual of [0-9.e+na-]+ with alpha = ") as refusal:
        play(algorithm, engine, Rounds(X, costs))
    if algo == "df_ogd":  # DF-FTPL samples its rounds
        assert (refusal.value.round_index, refusal.value.seed_index) == (1, 2)
    assert refusal.value.round_index >= 1
    assert refusal.value.seed_index > 0


@pytest.mark.parametrize("batch", [1, 3, 6])
def test_rounds_of_the_history_are_smoothed_as_alone(batch: int) -> None:
    """Newton's method on several rounds takes for each the steps that it takes alone."""
    size = "data.items=4", "horizon.rounds=12", f"oracle.batch={batch}"
    parts = "algo=df_ftpl", "polytope=knapsack", "regularizer=log_barrier", "polytope.capacity=2"
    together, alone = (
        simulate(composed_job(*parts, *size, f"seeds={seeds}")).table for seeds in ("2", "[1]")
    )
    for name, values in alone.items():
        np.testing.assert_array_equal(together[name][1:], values, err_msg=name)


def test_a_decision_that_cannot_be_found_leaves_those_beside_it_as_they_are() -> None:
    barrier = LogBarrier(polytope=Box(dimension=3))
    g, alpha = np.random.default_rng(0).normal(size=(4, 3)), np.full((4, 1), 0.1)
    (wanted, found), residuals = np.empty((2, 4, 3)), np.empty(4)
    kernel = import_module("odfl_cli.problem.regularizers.newton").smooth_rows
    kernel(barrier.barrier, g, alpha, wanted, residuals)
    g[1, 0] = np.nan
    kernel(barrier.barrier, g, alpha, found, residuals)
    assert np.isnan(residuals[1])
    np.testing.assert_array_equal(wanted[[0, 2, 3]], found[[0, 2, 3]])


@pytest.mark.parametrize("engine", [ArrayEngine(), TorchEngine()], ids=["array", "torch"])
def test_the_kappa_gap_is_noted(engine) -> None:
    """Zero predictions leave no gap; others leave all of κ, or what the polytope's width allows."""
    problem = make_problem(items=4, features=3, rounds=9, kappa=0.05)
    algorithm = replace(composed_job("algo=pf_ogd").algorithm, problem=problem, eta=0.1)
    rounds = data_for(problem, seeds=2, seed=0, grid=False)
    _, trace = play(algorithm, engine, rounds)
    gap = trace.notes["kappa_gap"]
    assert (gap[:, 0] == 0).all()
    np.testing.assert_allclose(gap[:, 1:], 0.05, atol=1e-12)
    exact = replace(algorithm, problem=make_problem(items=4, rounds=9))
    assert "kappa_gap" not in play(exact, engine, rounds)[1].notes


def test_paths_that_tie_but_for_rounding_are_equal() -> None:
    """To the right the sum 0.3 + (0.2 + 0.1) exceeds 0.6 in the last digit; down, 0.1 + (0.2 + 0.3) = 0.6."""
    grid = ShortestPath(rows=2, columns=3)
    right, down, far = 0, 2, 5  # of the first node, of the first node, from the lower left
    costs = np.zeros(grid.dimension)
    costs[[right, 1, 4]] = 0.3, 0.2, 0.1
    costs[[down, far, 6]] = 0.1, 0.2, 0.3
    costs[3] = 1.0
    assert 0.3 + (0.2 + 0.1) > 0.1 + (0.2 + 0.3)
    w = grid.minimise(costs[None])[0]
    assert w[right] == 1.0
    worse = costs.copy()
    worse[right] += 1e-9
    assert grid.minimise(worse[None])[0][down] == 1.0


@settings
class Misshapen(Algorithm):
    """Returns θ of the wrong shape from `init` or from `update`."""

    first: int
    then: int
    name = "misshapen"

    def init(self, seeds, truth):
        return State(0, np.zeros((seeds, self.first)))

    def update(self, state, X, costs, draws):
        return State(state.t + 1, np.zeros((len(costs), self.then)))


@pytest.mark.parametrize(("first", "then", "function"), [(1, 3, "init"), (3, 1, "update")])
def test_parameters_of_another_shape_are_refused(first: int, then: int, function: str) -> None:
    problem = make_problem(items=2)
    algorithm = Misshapen(problem=problem, first=first, then=then)
    rounds = Rounds(np.ones((4, 2, 2, 3)), np.ones((4, 2, 2)))
    told = rf"shape \(4, 1\) in the state that {function} returns; .* are \(4, 3\)"
    with pytest.raises(UserError, match=told):
        ArrayEngine().advance(algorithm, algorithm.init(4, None), rounds, {})
