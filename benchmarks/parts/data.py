"""Data and learning of the paper's runs, against the time numpy needs to draw as many normals."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from benchmarks.report import Row, Section
from benchmarks.timing import busy, job_of, seconds
from odfl_cli.core.streams import block_length
from odfl_cli.engine import CompiledEngine
from odfl_cli.problem.problem import Horizon
from odfl_cli.runs.simulate import simulate

SEEDS, ROUNDS = 10, 5000
REPETITIONS = {5: 40, 80: 7}
"""Of short runs more: others use the machine, too."""


def sections() -> Iterator[Section]:
    """The paper's two sizes."""
    for items in REPETITIONS:
        yield section(items)


def section(items: int) -> Section:
    """Both in turn, so that a busy moment of the machine hits both."""
    size = ("algo=df_ogd", f"data.items={items}", "data.features=10", f"seeds={SEEDS}")
    job = job_of(*size, rounds=ROUNDS, engine=CompiledEngine())
    simulate(replace(job, horizon=Horizon(rounds=20)))  # loads what must be loaded
    drawn, runs = [], []
    for _ in range(REPETITIONS[items]):
        drawn.append(seconds(lambda: draw_normals(items)))
        runs.append(simulate(job).seconds)
    work = min(busy(lambda: simulate(job)) for _ in range(3))
    alone = min(busy(lambda: draw_normals(items)) for _ in range(3))
    each = SEEDS * ROUNDS
    floor, data, learn, both = (
        min(times) / each
        for times in (
            drawn,
            [run["data"] for run in runs],
            [run["learn"] for run in runs],
            [run["data"] + run["learn"] for run in runs],
        )
    )
    return Section(
        f"DF-OGD, K={items} p=10 S={SEEDS} T={ROUNDS}: per seed and round",
        [
            Row("numpy draws the normals on one core", floor),
            Row("data", data, data / floor, "numpy"),
            Row("learning", learn, learn / floor, "numpy"),
            Row("data and learning", both, both / floor, "numpy", at_most=1.2),
            Row("processor time of both, all cores", work / each, work / alone, "numpy's"),
        ],
    )


def draw_normals(items: int) -> None:
    """X, θ*'s noise and the costs' noise of all rounds, in the pieces that a run draws them in."""
    shapes = (items, 10), (10,), (items,)
    for shape in shapes:
        length = block_length(shape)
        out = np.empty((length, *shape))
        for _ in range(SEEDS * -(-ROUNDS // length)):
            np.random.default_rng(1).standard_normal(out=out)
