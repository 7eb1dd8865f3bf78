"""The kernels play the same game as the algorithms in arrays, which know nothing of them."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.problems import composed_job, make_problem, with_kernel
from support.samples import each_once, examples

from odfl_cli.algorithms.base import Algorithm
from odfl_cli.core.errors import UserError
from odfl_cli.engine.array_engine import ArrayEngine
from odfl_cli.engine.base import Engine
from odfl_cli.engine.compiled_engine import CompiledEngine
from odfl_cli.environments.base import Rounds
from odfl_cli.environments.sin4 import Sin4
from odfl_cli.problem.oracles.descent import SGD
from odfl_cli.problem.problem import Horizon
from odfl_cli.runs.simulate import Job, Simulation, simulate

ALGORITHMS = with_kernel()
HISTORY = ("X", "costs")
"""Slots that were never filled hold anything."""
CLOSE = {"rtol": 1e-9, "atol": 1e-9}


@dataclass
class Listener:
    """An engine that keeps the draws it is given."""

    engine: Engine
    draws: list[dict[str, np.ndarray]] = field(default_factory=list)
    name: str = "listener"

    def start(self, algorithm: Algorithm) -> None:
        self.engine.start(algorithm)

    def advance(self, algorithm: Algorithm, state: Any, rounds: Any, draws: Any) -> Any:
        self.draws.append({name: values.copy() for name, values in draws.items()})
        return self.engine.advance(algorithm, state, rounds, draws)


@dataclass(frozen=True)
class Relaid:
    """An environment that hands out views and other precisions, as a user's own may."""

    inner: Sin4
    layout: Callable[[np.ndarray], np.ndarray]

    def rounds(self, seeds: tuple[int, ...], start: int, stop: int) -> Rounds:
        return Rounds(*(self.layout(values) for values in self.inner.rounds(seeds, start, stop)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


@st.composite
def oracles(draw: st.DrawFn, rounds: int) -> SGD:
    return SGD(
        steps=draw(st.integers(1, 6)),
        lr=draw(st.floats(1e-3, 0.3)),
        batch=draw(st.integers(1, 5)),
        history=draw(st.sampled_from(["full", "window", "reservoir"])),
        history_size=draw(st.integers(1, rounds + 3)),
        every=draw(st.integers(1, 4)),
    )


@st.composite
def jobs(draw: st.DrawFn, algo: str) -> Job:
    """The algorithm as its YAML sets it, its own rates scaled, on data of any small shape."""
    rounds = draw(st.integers(1, 30))
    items, features = draw(st.integers(2, 9)), draw(st.integers(1, 6))
    radius = draw(st.floats(0.05, 5.0))
    problem = replace(
        make_problem(items, features, rounds, radius), oracle=draw(oracles(rounds=rounds))
    )
    given = composed_job(f"algo={algo}").algorithm
    rates = {
        rate.name: getattr(given, rate.name) * draw(st.floats(0.3, 3.0), label=rate.name)
        for rate in fields(given)
        if isinstance(getattr(given, rate.name), float)
    }
    limits = {"delta": 1.0, "forgetting": 1.0}
    for name in limits.keys() & rates.keys():
        rates[name] = draw(st.floats(0.05, limits[name]), label=name)
    environment = Sin4(
        items=items, features=features, gamma=draw(st.floats(0, 1)), clip=draw(st.booleans())
    )
    seeds = tuple(draw(st.lists(st.integers(0, 99), min_size=1, max_size=5, unique=True)))
    algorithm = replace(given, problem=problem, **rates)
    return Job(environment, algorithm, CompiledEngine(threads=1), Horizon(rounds=rounds), seeds)


def arrays(simulation: Simulation) -> dict[str, np.ndarray]:
    """All numbers of a run: every column of the table, every field of the last state."""
    return fields_of(simulation.state, "state") | simulation.table


def fields_of(state: Any, name: str) -> dict[str, np.ndarray]:
    """The fields of a state by name, and those of the states in it."""
    found = {
        f"{name}.{key}": np.asarray(value)
        for key, value in state._asdict().items()
        if key not in ("states", *HISTORY)
    }
    for k, inner in enumerate(getattr(state, "states", ())):
        found |= fields_of(inner, f"{name}.{k}")
    return found


def assert_bitwise(one: Simulation, other: Simulation, rows: list[int]) -> None:
    """`one` is the given seeds of `other`, to the last bit."""
    expected = arrays(other)
    for name, values in arrays(one).items():
        wanted = expected[name][rows] if values.ndim else expected[name]
        np.testing.assert_array_equal(values, wanted, err_msg=name)


@pytest.mark.parametrize("algo", ALGORITHMS)
@examples(0.3)
@given(data=st.data())
def test_compiled_equals_arrays(algo: str, data: st.DataObject) -> None:
    """Costs, squared errors, θ and path length to 1e-9, each engine with its own block size.

    Long steps on a sharply smoothed cost double a rounding error in every round. Where the engines
    differ by more, they may differ as much as arrays do from themselves on data that are changed in the
    last digit, times a hundred.
    """
    job = data.draw(jobs(algo))
    compiled, in_arrays = Listener(CompiledEngine()), Listener(ArrayEngine())
    blocks = [data.draw(st.integers(1, job.horizon.rounds)) for _ in range(2)]
    ours, theirs = (
        arrays(simulate(replace(job, engine=engine), block))
        for engine, block in zip((compiled, in_arrays), blocks, strict=True)
    )
    assert ours.keys() == theirs.keys()
    different = [name for name in ours if not np.allclose(ours[name], theirs[name], **CLOSE)]
    if different:
        changed = Relaid(job.environment, in_the_last_digit)
        moved = arrays(simulate(replace(job, engine=ArrayEngine(), environment=changed), blocks[1]))
    for name in different:
        spread = np.abs(moved[name] - theirs[name]).max()
        np.testing.assert_allclose(ours[name], theirs[name], atol=100 * spread, err_msg=name)
    for name in job.algorithm.draws():
        heard = [
            np.concatenate([d[name] for d in engine.draws], axis=1)
            for engine in (compiled, in_arrays)
        ]
        np.testing.assert_array_equal(*heard)


def in_the_last_digit(values: np.ndarray) -> np.ndarray:
    """The values, changed there."""
    return values * (1 + np.finfo(float).eps)


@pytest.mark.thorough
def test_engines_are_as_far_apart_as_rounding_moves_one_of_them() -> None:
    """Steps of 1 on costs smoothed by 0.01 multiply a rounding error from round to round; nothing ties."""
    words = "algo=df_ftpl", "polytope=knapsack", "algo.c_alpha=0.01", "oracle.lr=1", "seeds=3"
    job, in_torch = (
        composed_job(*words, "horizon.rounds=20", f"engine={name}") for name in ("array", "torch")
    )
    moved = replace(job, environment=Relaid(job.environment, in_the_last_digit))
    ours, theirs, spread = (simulate(one).table["mse"] for one in (job, in_torch, moved))
    apart, spread = (abs(values - ours).max(0) for values in (theirs, spread))
    assert apart[:4].max() < 1e-9
    assert spread[-1] > 1e-3
    assert (apart <= 100 * np.maximum.accumulate(spread) + 1e-12).all()


@pytest.mark.parametrize("algo", ALGORITHMS)
@examples(0.15)
@given(data=st.data())
def test_threads_blocks_and_other_seeds_change_no_bit(algo: str, data: st.DataObject) -> None:
    job = data.draw(jobs(algo))
    alone = simulate(job, block=job.horizon.rounds)
    everyone = list(range(len(job.seeds)))
    for threads in (1, 2, 3):
        block = data.draw(st.integers(1, job.horizon.rounds))
        threaded = replace(job, engine=CompiledEngine(threads=threads))
        assert_bitwise(simulate(threaded, block), alone, everyone)
        few = data.draw(st.permutations(everyone))[: data.draw(st.integers(1, len(everyone)))]
        chosen = tuple(job.seeds[row] for row in few)
        assert_bitwise(simulate(replace(threaded, seeds=chosen), block), alone, few)


@pytest.mark.parametrize(("algo", "items", "features"), each_once(ALGORITHMS, [(80, 10), (37, 33)]))
def test_bits_stay_where_loops_fill_whole_vectors(algo: str, items: int, features: int) -> None:
    """Sums long enough for every width of vector register, a remainder, and many seeds at once."""
    size = (f"data.items={items}", f"data.features={features}", "horizon.rounds=7")
    job = composed_job(f"algo={algo}", "engine=compiled", "seeds=11", *size)
    alone = simulate(replace(job, engine=CompiledEngine(threads=1)))
    for threads, block in [(2, 7), (3, 5), (8, 1)]:
        threaded = replace(job, engine=CompiledEngine(threads=threads))
        assert_bitwise(simulate(threaded, block), alone, list(range(11)))
        assert_bitwise(simulate(replace(threaded, seeds=(9, 4)), block), alone, [9, 4])
    slow = arrays(simulate(replace(job, engine=ArrayEngine())))
    for name, values in arrays(alone).items():
        np.testing.assert_allclose(values, slow[name], **CLOSE, err_msg=name)


@pytest.mark.parametrize("algo", ALGORITHMS)
def test_the_compiled_engine_leaves_rounds_and_draws_as_they_are(algo: str) -> None:
    job = composed_job(f"algo={algo}", "engine=compiled", "horizon.rounds=9", "seeds=3")
    state = job.algorithm.init(3, job.environment.theta_star(job.seeds))
    rounds = job.environment.rounds(job.seeds, 0, 9)
    draws = {
        name: np.full((3, 9, *spec.shape), 0.5) for name, spec in job.algorithm.draws().items()
    }
    given = [*rounds, *draws.values(), state.theta]
    kept = [array.copy() for array in given]
    after, _ = job.engine.advance(job.algorithm, state, rounds, draws)
    for before, now in zip(kept, given, strict=True):
        np.testing.assert_array_equal(before, now)
    assert after.t == 9
    assert state.t == 0


def read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    "layout",
    [np.asfortranarray, read_only, lambda array: array.astype(np.float32).astype(np.float64)],
    ids=["fortran", "read-only", "rounded"],
)
@pytest.mark.parametrize("narrow", [False, True], ids=["float64", "float32"])
def test_data_of_any_layout(layout: Callable[[np.ndarray], np.ndarray], narrow: bool) -> None:
    job = composed_job("algo=df_ogd", "engine=compiled", "horizon.rounds=9", "seeds=3")
    given = (lambda a: layout(a).astype(np.float32)) if narrow else layout
    exact = (lambda a: given(a).astype(np.float64)) if narrow else (lambda a: np.array(layout(a)))
    ours, expected = (
        simulate(replace(job, environment=Relaid(job.environment, change)))
        for change in (given, exact)
    )
    np.testing.assert_allclose(ours.state.theta, expected.state.theta, **CLOSE)


def test_blocks_of_rounds_that_are_kept_are_played_alike() -> None:
    """Regret keeps all rounds of a run, so that a block is a view with gaps between the seeds."""
    basic, regret = (
        simulate(composed_job("algo=df_ogd", "horizon=smoke", "seeds=2", f"metrics={metrics}"))
        for metrics in ("basic", "regret")
    )
    np.testing.assert_array_equal(basic.table["cost"], regret.table["cost"])


def test_a_parameter_whose_square_overflows_stops_the_run() -> None:
    job = composed_job("algo=df_ogd", "algo.c_eta=1e200", "horizon.rounds=50", "seeds=2")
    with pytest.raises(UserError, match="stopped being finite in round"):
        simulate(job)


def test_the_exponential_of_kernels_is_that_of_numpy() -> None:
    exp = import_module("odfl_cli.engine.kernels.steps").exp
    x = np.concatenate(
        [-np.geomspace(1e-9, 708.0, 300), [0.0, 1.0, 700.0, -1e300, -np.inf, np.nan]]
    )
    np.testing.assert_allclose([exp(value) for value in x], np.exp(x), rtol=1e-15)


ENGINES = pytest.mark.parametrize(
    "engine", [CompiledEngine(), ArrayEngine()], ids=["compiled", "array"]
)
ITEMS, FEATURES, ALPHA, RADIUS = 500, 4, 1e-6, 2.0


def sharp(algo: str) -> Algorithm:
    """The algorithm with K = 500 items and α = 1e-6 in round 1, its oracle three steps of 0.1."""
    problem = replace(
        make_problem(ITEMS, FEATURES, radius=RADIUS), oracle=SGD(steps=3, lr=0.1, batch=2)
    )
    one = replace(composed_job(f"algo={algo}").algorithm, problem=problem, c_alpha=1.0)
    n = np.log(ITEMS)
    return replace(one, c_alpha=ALPHA / (one.alpha if algo == "df_ftpl" else n**-0.5))


def play(algorithm: Algorithm, engine: Engine, X: np.ndarray, costs: np.ndarray, start: Any) -> Any:
    """The rounds X [B, d, p], costs [B, d] of one seed, every draw one half, from θ = start."""
    draws = {
        name: np.full((1, len(costs), *spec.shape), 0.5) for name, spec in algorithm.draws().items()
    }
    state = algorithm.init(1, None)
    where = {name: start[None] for name in ("theta", "vartheta") if name in state._fields}
    engine.start(algorithm)
    return engine.advance(algorithm, state._replace(**where), Rounds(X[None], costs[None]), draws)


def follow_sigma(algorithm: Algorithm, theta: np.ndarray, steps: int) -> np.ndarray:
    """DF-FTPL's oracle in round 1 where the smoothed cost is flat: only ⟨σ, ·⟩ is left."""
    for _ in range(steps):
        theta = algorithm.problem.theta_set.project(theta + 0.1 * (0.5 / algorithm.eta))
    return theta


def assert_one_item_wins(X: np.ndarray, theta: np.ndarray) -> None:
    """The gap is so large that e^(−gap/α), and so every gradient, is 0 in float64."""
    lowest, second = np.partition(X @ theta, 1, axis=-1)[..., :2].T
    assert ((second - lowest) / ALPHA > 750).all()


@ENGINES
@pytest.mark.parametrize("algo", ["df_ogd", "df_ftpl"])
@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_exponents_beyond_any_float(algo: str, engine: Engine, scale: float) -> None:
    """Predictions of both signs, up to 1e10 α: one item takes all and the smoothed cost is flat."""
    rng = np.random.default_rng(1)
    X, costs = scale * rng.normal(size=(1, ITEMS, FEATURES)), rng.random((1, ITEMS))
    start = np.array([0.5, -0.4, 0.3, 0.2])
    assert_one_item_wins(X, start)
    algorithm = sharp(algo)
    after, trace = play(algorithm, engine, X, costs, start)
    prediction = X[0] @ start
    assert trace.cost[0, 0] == costs[0, prediction.argmin()]
    np.testing.assert_allclose(trace.mse[0, 0], np.mean((prediction - costs[0]) ** 2), rtol=1e-12)
    steps = 3 if algo == "df_ftpl" else 0
    np.testing.assert_allclose(after.theta[0], follow_sigma(algorithm, start, steps), rtol=1e-12)


@ENGINES
@pytest.mark.parametrize("algo", ["df_ogd", "df_ftpl"])
@pytest.mark.parametrize("sign", [1.0, -1.0, 0.0])
def test_identical_predictions_for_all_items(algo: str, engine: Engine, sign: float) -> None:
    """All rows of X alike: w̃ is uniform whatever θ, so nothing is learnt and item 1 is played."""
    rng = np.random.default_rng(2)
    x, costs = rng.normal(size=FEATURES), rng.random((1, ITEMS))
    X = np.broadcast_to(x, (1, ITEMS, FEATURES)).copy()
    start = sign * x / np.linalg.norm(x)  # |Xθ|/α is 1e6 or 0
    algorithm = sharp(algo)
    after, trace = play(algorithm, engine, X, costs, start)
    assert trace.cost[0, 0] == costs[0, 0]
    np.testing.assert_allclose(trace.mse[0, 0], np.mean((x @ start - costs) ** 2), **CLOSE)
    steps = 3 if algo == "df_ftpl" else 0
    np.testing.assert_allclose(after.theta[0], follow_sigma(algorithm, start, steps), **CLOSE)


def at_the_tie(X: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """∇f̃(0) = Xᵀ(c̄ − c)/(Kα): all predictions are 0 and w̃ is uniform."""
    return X.T @ (costs.mean() - costs) / (ITEMS * ALPHA)


@ENGINES
def test_df_ogd_leaves_the_tie_at_zero_for_the_boundary(engine: Engine) -> None:
    """ϑ jumps to −R∇f̃(0)/‖∇f̃(0)‖ and stays; f̃ is flat between ϑ and θ, so θ stays 0."""
    rng = np.random.default_rng(3)
    X, costs = rng.normal(size=(3, ITEMS, FEATURES)), rng.random((3, ITEMS))
    after, trace = play(sharp("df_ogd"), engine, X, costs, np.zeros(FEATURES))
    gradient = at_the_tie(X[0], costs[0])
    vartheta = -RADIUS * gradient / np.linalg.norm(gradient)
    assert 0.1 * np.linalg.norm(gradient) > RADIUS
    assert_one_item_wins(X, 0.5 * vartheta)
    np.testing.assert_allclose(after.vartheta[0], vartheta, **CLOSE)
    np.testing.assert_array_equal(after.theta[0], 0.0)
    assert after.path_length[0] == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_array_equal(trace.cost[0], costs[:, 0])
    np.testing.assert_allclose(trace.mse[0], (costs**2).mean(-1), rtol=1e-12)


@ENGINES
def test_df_ftpl_leaves_the_tie_at_zero_for_the_boundary(engine: Engine) -> None:
    rng = np.random.default_rng(4)
    X, costs = rng.normal(size=(1, ITEMS, FEATURES)), rng.random((1, ITEMS))
    algorithm = sharp("df_ftpl")
    after, _ = play(algorithm, engine, X, costs, np.zeros(FEATURES))
    pull = 0.5 / algorithm.eta - at_the_tie(X[0], costs[0])
    edge = RADIUS * pull / np.linalg.norm(pull)
    assert 0.1 * np.linalg.norm(pull) > RADIUS
    assert_one_item_wins(X, edge)
    np.testing.assert_allclose(after.theta[0], follow_sigma(algorithm, edge, 2), **CLOSE)
