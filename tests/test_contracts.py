"""What every choice of every group must keep."""

import pickle
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import yaml
from hydra import initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.types import RunMode
from omegaconf import OmegaConf
from support.problems import (
    block_of,
    choices,
    composed,
    composed_job,
    groups,
    runnable,
    skip_without_data,
    with_kernel,
)
from support.samples import each_once, marked, some_of

from odfl_cli.config.compose import prepare_hydra
from odfl_cli.config.directory import conf_directory, variants
from odfl_cli.core.reading import flatten
from odfl_cli.engine.array_engine import ArrayEngine
from odfl_cli.engine.base import Engine, Trace
from odfl_cli.engine.compiled_engine import CompiledEngine
from odfl_cli.metrics.base import COLUMNS
from odfl_cli.runs.build import build
from odfl_cli.runs.simulate import Job, Simulation, simulate
from odfl_cli.runs.sweep.grid import grid_cells, is_grid

ALGORITHMS = choices("algo")
ENGINES = {"compiled": CompiledEngine(), "array": ArrayEngine()}  # auto is one of them
PAIRS = [
    (algorithm, engine)
    for engine in ENGINES
    for algorithm in (with_kernel() if engine == "compiled" else ALGORITHMS)
]
ARRAY = [pair for pair in PAIRS if pair[1] == "array"]
KERNEL_BLOCKS = [(*pair, block) for pair in PAIRS if pair not in ARRAY for block in (1, 5, 9)]
"""What threads, blocks and other seeds change in kernels is in test_engine_agreement.py, too."""
ROUNDS = 12
FEWER = 8  # where there are many items, for time
SEEDS = tuple(range(2, 19))  # 17: whole vectors of any width, and a rest


def small_job(
    algo: str, seeds: tuple[int, ...], engine: str = "array", items: int = 4, radius: float = 1.0
) -> Job:
    return replace(build_small(algo, engine, items, radius), seeds=seeds)


@cache
def build_small(algo: str, engine: str, items: int, radius: float) -> Job:
    job = composed_job(
        f"algo={algo}",
        f"horizon.rounds={ROUNDS if items < 30 else FEWER}",
        f"data.items={items}",
        f"data.features={items - 1}",
        f"theta_radius={radius}",
    )
    return replace(job, engine=ENGINES[engine].choose(job.algorithm))


@cache
def simulate_small(
    algo: str, seeds: tuple[int, ...], engine: str, items: int = 4, block: int | None = None
) -> Simulation:
    return simulate(small_job(algo, seeds, engine, items), block)


def leaves(record: Any, name: str = "") -> dict[str, Any]:
    """Every array and number of a record, also of the records within it, by where it is."""
    if isinstance(record, tuple):
        names = getattr(record, "_fields", range(len(record)))
        record = dict(zip(names, record, strict=True))
    if not isinstance(record, dict):
        return {name: record}
    return {
        path: leaf
        for key, part in record.items()
        for path, leaf in leaves(part, f"{name}.{key}").items()
    }


def assert_same(one: Simulation, other: Simulation, rows: slice) -> None:
    """`one` is bitwise the rows of `other`, table and state."""
    for column, values in one.table.items():
        np.testing.assert_array_equal(values, other.table[column][rows], err_msg=column)
    everything = leaves(other.state)
    for name, value in leaves(one.state).items():
        expected = everything[name]
        expected = expected[rows] if isinstance(value, np.ndarray) else expected
        np.testing.assert_array_equal(value, expected, err_msg=name)


@pytest.mark.parametrize(
    ("algo", "engine", "items"),
    marked(
        [(*pair, items) for pair in PAIRS for items in (4, 37)],
        lambda case: case[1:] == ("array", 4) or case == ("df_ftpl", "array", 37),
    ),
)
def test_a_seed_does_not_see_the_other_seeds(algo, engine, items):
    """Bitwise the same alone, among 3, among 7 and among 17."""
    everyone = simulate_small(algo, SEEDS, engine, items)
    for start, stop in [(0, 1), (16, 17), (4, 7), (0, 7)]:
        few = simulate_small(algo, SEEDS[start:stop], engine, items)
        assert_same(few, everyone, slice(start, stop))


@pytest.mark.parametrize(
    ("algo", "engine", "block"),
    each_once(ARRAY, [1, 5, 9]) + marked(KERNEL_BLOCKS, lambda _: False),
)
def test_the_block_size_changes_no_number(algo, engine, block):
    seeds = SEEDS[:7]
    cut = simulate_small(algo, seeds, engine, block=block)
    assert_same(cut, simulate_small(algo, seeds, engine), slice(None))


@pytest.mark.parametrize(("algo", "engine", "pause"), each_once(PAIRS, [1, 9]))
def test_a_run_can_be_stopped_stored_and_continued(algo, engine, pause):
    job = small_job(algo, SEEDS[:3], engine)
    rounds, draws = block_of(job, 0, ROUNDS)
    job.engine.start(job.algorithm)
    fresh = lambda: job.algorithm.init(3, job.environment.theta_star(job.seeds))  # noqa: E731
    state, trace = job.engine.advance(job.algorithm, fresh(), rounds, draws)

    half, first = job.engine.advance(job.algorithm, fresh(), *block_of(job, 0, pause))
    stored = pickle.loads(pickle.dumps(half))
    again, second = job.engine.advance(job.algorithm, stored, *block_of(job, pause, ROUNDS))
    joined = leaves(Trace.join([first, second], axis=1))
    for name, values in leaves(trace).items():
        np.testing.assert_array_equal(joined[name], values, err_msg=name)
    expected = leaves(state)
    assert leaves(again).keys() == expected.keys()
    for name, value in leaves(again).items():
        np.testing.assert_array_equal(value, expected[name], err_msg=name)


@pytest.mark.parametrize("algo", ALGORITHMS)
def test_parameters_stay_in_theta_and_decisions_in_the_polytope(algo):
    """The radius is so small that nearly every step is projected."""
    job = small_job(algo, SEEDS[:3], radius=0.01)
    algorithm, polytope = job.algorithm, job.algorithm.problem.polytope
    state = algorithm.init(3, job.environment.theta_star(job.seeds))
    rounds, draws = block_of(job, 0, ROUNDS)
    for t in range(ROUNDS):
        prediction, decision = algorithm.decide(state, rounds.X[:, t])
        assert prediction.shape == decision.shape == (3, 4)
        assert polytope.contains(decision).all()
        now = {name: values[:, t] for name, values in draws.items()}
        state = algorithm.update(state, rounds.X[:, t], rounds.costs[:, t], now)
        assert state.t == t + 1
        assert (np.linalg.norm(state.theta, axis=-1) <= 0.01 * (1 + 1e-14)).all()


@dataclass
class Recorder:
    """An engine that keeps what it is given."""

    engine: Engine
    seen: list = field(default_factory=list)
    name: str = "recorder"

    def start(self, algorithm):
        self.engine.start(algorithm)

    def advance(self, algorithm, state, rounds, draws):
        self.seen.append(rounds)
        return self.engine.advance(algorithm, state, rounds, draws)


@pytest.mark.parametrize("algo", ALGORITHMS)
def test_the_data_are_the_same_for_every_algorithm(algo):
    job = small_job(algo, SEEDS[:3])
    recorder = Recorder(job.engine)
    table = simulate(replace(job, engine=recorder), block=16).table
    expected = small_job("uniform", SEEDS[:3]).environment.rounds(SEEDS[:3], 0, ROUNDS)
    for name in expected._fields:
        given = np.concatenate([getattr(rounds, name) for rounds in recorder.seen], axis=1)
        np.testing.assert_array_equal(given, getattr(expected, name))
    np.testing.assert_array_equal(table["best_cost"], expected.costs.min(-1))


@pytest.mark.parametrize("algo", ALGORITHMS)
def test_what_one_draws_no_other_does(algo):
    """Algorithms name their own streams, learners as they do alone; no environment uses them."""
    algorithm = small_job(algo, SEEDS[:1]).algorithm
    assert algo.startswith(algorithm.name)  # a variant shares the draws of its original
    inside = [*algorithm.learners, getattr(algorithm, "learner", algorithm)]
    learners = [learner for learner in (algorithm, *inside) if not isinstance(learner, str)]
    classes = [kind for learner in learners for kind in type(learner).__mro__]
    owners = {getattr(one, "name", "") for one in (*learners, *classes)}
    streams = {spec.stream or name for name, spec in algorithm.draws().items()}
    assert {stream.split("/")[0] for stream in streams} <= owners


RUN_OFTEN = {
    ("data", "replay"),
    ("data", "sin4"),
    ("engine", "torch"),
    ("experiment", "main"),
    ("horizon", "recorded"),
    ("oracle", "exact"),
    ("predictor", "torch"),
    ("tune", "oracle"),
    ("until", "decided"),
}
"""One choice of every other group."""


@pytest.mark.parametrize(
    ("group", "choice"),
    marked(
        [(group, choice) for group in groups() for choice in choices(group)],
        # algorithms play in the tests above, and many parts in those of their room
        lambda pair: (
            (pair[0] in ("feedback", "metrics", "polytope", "regularizer") and pair[1] != "model")
            or pair in RUN_OFTEN
        ),
    ),
)
def test_every_choice_runs(group, choice, tmp_path):
    skip_without_data(choice)
    chosen = runnable(f"{group}={choice}", tmp_path)
    job = composed_job(*chosen, "horizon.rounds=6", "seeds=2")
    table = simulate(job).table
    assert all(values.shape == (2, 6) for values in table.values())
    assert all(np.isfinite(table[column]).all() for column in COLUMNS)
    np.testing.assert_array_equal(table["t"][0], np.arange(1, 7))


@pytest.mark.parametrize("choice", choices("horizon"))
def test_every_horizon_builds_at_its_own_length(choice, tmp_path):
    job = composed_job(*runnable(f"horizon={choice}", tmp_path))
    lengths = {"smoke": 50, "short": 1000, "paper": 5000, "long": 100_000, "recorded": 6}
    expected = lengths[choice]
    assert job.horizon.rounds == job.algorithm.problem.rounds == expected
    assert job.horizon.logged()[-1] == expected


@pytest.mark.parametrize("choice", choices("data"))
def test_learners_take_their_scale_from_recorded_data_alone(choice):
    config = composed(f"data={choice}")
    recorded = config.data._target_.endswith(".Replay")
    expected = ("auto", None, None) if recorded else (1.0, 10, 1000)
    assert (config.theta_radius, config.seeds, config.horizon.rounds) == expected


def pairs(group: str) -> list[tuple[str, str]]:
    """The algorithm and the other choice that each file of a group `tuned/…` is for."""
    files = choices(group)
    return [
        (algo, file.removeprefix(f"{algo}_"))
        for file in files
        for algo in (*ALGORITHMS, *variants())
        if file.startswith(f"{algo}_")
        and file.removeprefix(f"{algo}_").removesuffix(WITH) in choices(OTHER[group])
    ]


WITH = "_sin4"
"""Ends a choice that is for these data alone."""
OTHER = {
    "tuned/algo_oracle": "oracle",
    "tuned/algo_regularizer": "regularizer",
    "tuned/algo_data": "data",
}


def words_for(group: str, choice: str) -> tuple[str, ...]:
    """The words that choose what a file of conf/tuned is for, beside the algorithm."""
    data = ("data=sin4",) if choice.endswith(WITH) else ()
    return f"{OTHER[group]}={choice.removesuffix(WITH)}", *data


TUNED = [(group, *pair) for group in OTHER for pair in pairs(group)]


def values_in(group: str, algo: str, choice: str) -> dict[str, Any]:
    """The keys and values that a file of conf/tuned sets."""
    file = conf_directory() / group / f"{algo}_{choice}.yaml"
    return flatten(yaml.safe_load(file.read_text()))


@pytest.mark.parametrize(("group", "algo", "choice"), some_of(TUNED, 8))
def test_settings_for_a_pair_of_choices_apply_to_that_pair(group, algo, choice):
    given = values_in(group, algo, choice)
    tuned = composed(f"algo={algo}", *words_for(group, choice))
    assert given
    assert {key: OmegaConf.select(tuned, key) for key in given} == given


@pytest.mark.parametrize(("group", "algo", "choice"), some_of(TUNED, 3))
def test_what_a_user_types_wins_over_settings_for_a_pair(group, algo, choice):
    key = sorted(values_in(group, algo, choice))[0]
    typed = composed(f"algo={algo}", *words_for(group, choice), f"{key}=0.125", hydra=True)
    assert OmegaConf.select(typed, key) == 0.125


def test_every_file_of_a_pair_sets_keys_that_its_algorithm_or_the_other_choice_has():
    """Hydra takes a misspelt key of a file for a new one."""
    for group, algo, choice in TUNED:
        other = OTHER[group]
        for key in values_in(group, algo, choice):
            owner = (
                f"{other}={choice.removesuffix(WITH)}"
                if key.startswith(f"{other}.")
                else f"algo={algo}"
            )
            assert key in flatten(OmegaConf.to_container(composed(owner))), (group, algo, choice)


def test_every_file_of_a_pair_names_a_pair():
    for group in OTHER:
        assert len(pairs(group)) == len(choices(group))


@pytest.mark.thorough
@pytest.mark.parametrize("experiment", choices("experiment"))
def test_every_cell_of_an_experiment_builds(experiment):
    skip_without_data(experiment)
    words = (f"experiment={experiment}",)
    prepare_hydra()
    with initialize_config_dir(str(conf_directory()), version_base="1.3"):
        hydra = GlobalHydra.instance().hydra
        master = hydra.compose_config("config", list(words), run_mode=RunMode.MULTIRUN)
        grid = is_grid(master.hydra.sweeper._target_)  # other sweepers choose values as they go
        cells = grid_cells(master) if grid else [words]
    for cell in cells:
        job = build(composed(*cell))
        assert job.algorithm.problem.polytope.dimension == job.environment.items
