"""Data and learning of the paper's runs, beside numpy's normals and a scan in JAX."""

from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec

import numpy as np

from benchmarks import timing
from benchmarks.report import Row, Section
from benchmarks.timing import busy, job_of
from odfl_cli.core.streams import block_length
from odfl_cli.engine.compiled_engine import CompiledEngine
from odfl_cli.problem.problem import Horizon
from odfl_cli.runs.simulate import Job, simulate

SEEDS, ROUNDS = 10, 5000
LEARNING = {5: 1e-6, 80: 8e-6}
"""Items → the most seconds that learning may take per seed and round."""
REPETITIONS = 5


def sections() -> Iterator[Section]:
    """The paper's two sizes."""
    for items in LEARNING:
        yield section(items)


def section(items: int) -> Section:
    """Processor seconds per seed and round; JAX if it is installed (pip install 'odfl[bench]')."""
    size = ("algo=df_ogd", f"data.items={items}", "data.features=10", f"seeds={SEEDS}")
    job = job_of(*size, rounds=ROUNDS, engine=CompiledEngine())
    simulate(replace(job, horizon=Horizon(rounds=20)))  # loads what must be loaded
    normals = least(lambda: draw_normals(items))
    learn, both = timing.learning(job), least(lambda: play(job))
    return Section(
        f"DF-OGD, K={items} p=10 S={SEEDS} T={ROUNDS}: processor time per seed and round",
        [
            Row("numpy draws the normals", normals),
            Row("learning", learn, at_most_seconds=LEARNING[items]),
            Row("data and learning", both, both / normals, "numpy"),
            jax_row(job, both),
        ],
    )


def jax_row(job: Job, ours: float) -> Row:
    """The same in JAX, data included."""
    if find_spec("jax") is None:
        return Row("a scan in JAX: skipped, jax is not installed (the bench extra)")
    from benchmarks.jax_scan import simulation

    run = simulation(job.algorithm, job.environment, ROUNDS)
    run(SEEDS)  # compiles
    scan = least(lambda: run(SEEDS))
    return Row("a scan in JAX, float64", scan, scan / ours, "data and learning")


def play(job: Job) -> None:
    """Draws the data and learns, block by block, without metrics."""
    state = job.algorithm.init(SEEDS, job.environment.theta_star(job.seeds))
    for start in range(0, ROUNDS, block := job.choose_block_rounds()):
        drawn = job.draw_block(start, min(start + block, ROUNDS))
        state, _ = job.engine.advance(job.algorithm, state, *drawn)


def least(function) -> float:
    """The least processor seconds of several calls, per seed and round."""
    return min(busy(function) for _ in range(REPETITIONS)) / (SEEDS * ROUNDS)


def draw_normals(items: int) -> None:
    """Draws X, the noise of θ* and that of the costs of all rounds, in the pieces of a run.

    Pieces differ, as a processor learns to predict the branches of numbers that are repeated.
    """
    shapes = (items, 10), (10,), (items,)
    for shape in shapes:
        length = block_length(shape)
        out = np.empty((length, *shape))
        for piece in range(SEEDS * -(-ROUNDS // length)):
            np.random.default_rng([items, piece]).standard_normal(out=out)
