"""Every fast path computes what the plain one does: its second run, at the smallest sizes of every axis."""

import os
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from itertools import product
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from support.problems import composed_job, make_problem, with_kernel

from odfl_cli.algorithms.base import Algorithm
from odfl_cli.engine.array_engine import ArrayEngine
from odfl_cli.engine.compiled_engine import CompiledEngine
from odfl_cli.environments.replay.environment import Replay
from odfl_cli.environments.sin4 import Sin4
from odfl_cli.problem.polytopes.box import Box
from odfl_cli.problem.polytopes.knapsack import Knapsack
from odfl_cli.problem.polytopes.simplex import Simplex
from odfl_cli.problem.problem import Horizon
from odfl_cli.problem.regularizers.entropy import Entropy
from odfl_cli.problem.regularizers.log_barrier import LogBarrier
from odfl_cli.problem.regularizers.quadratic import Quadratic
from odfl_cli.runs.simulate import Job, simulate

ROUNDS = 30
SIZES = list(product((1, 2), (2, 3), (1, 2), (1, 2)))
"""Seeds, items (two at least), features, and rounds of a block."""
Arrays = dict[str, np.ndarray]
Size = tuple[int, int, int, int]


@cache
def algorithm_of(algo: str) -> Algorithm:
    return composed_job(f"algo={algo}").algorithm


def job_of(algo: str, seeds: int, items: int, features: int) -> Job:
    algorithm = replace(algorithm_of(algo), problem=make_problem(items, features, ROUNDS))
    environment = Sin4(items=items, features=features, gamma=0.5)
    engine, horizon = CompiledEngine(threads=1), Horizon(rounds=ROUNDS)
    return Job(environment, algorithm, engine, horizon, tuple(range(seeds)))


def kernel(algo: str, size: Size, _: Path) -> tuple[Callable[[], Arrays], Arrays]:
    """A compiled algorithm, block by block, and the same in arrays at once."""
    *sizes, block = size
    job = job_of(algo, *sizes)
    plain = simulate(replace(job, engine=ArrayEngine()), ROUNDS).table
    return lambda: simulate(job, block).table, plain


def seeds_at_once(algo: str, size: Size, _: Path) -> tuple[Callable[[], Arrays], Arrays]:
    """Seeds beside each other, and each of them alone."""
    *sizes, block = size
    job = job_of(algo, *sizes)
    alone = [simulate(replace(job, seeds=(seed,)), ROUNDS).table for seed in job.seeds]
    plain = {name: np.concatenate([table[name] for table in alone]) for name in alone[0]}
    return lambda: simulate(job, block).table, plain


def drawn(size: Size, _: Path) -> tuple[Callable[[], Arrays], Arrays]:
    """Rounds that are drawn block by block, and at once."""
    seeds, items, features, block = size
    environment = Sin4(items=items, features=features, gamma=0.5)
    return partial(in_blocks, environment, seeds, block), in_blocks(environment, seeds, ROUNDS)


def recorded(size: Size, folder: Path) -> tuple[Callable[[], Arrays], Arrays]:
    """Rounds from the recording of a file, and those that it was written from."""
    seeds, items, features, block = size
    plain = in_blocks(Sin4(items=items, features=features, gamma=0.5), seeds, ROUNDS)
    np.savez(folder / "rounds.npz", **plain)

    def read() -> Arrays:
        with mock.patch.dict(os.environ, XDG_CACHE_HOME=str(folder)):
            return in_blocks(Replay(file=str(folder / "rounds.npz")), seeds, block)

    return read, plain


def in_blocks(environment: Sin4 | Replay, seeds: int, block: int) -> Arrays:
    parts = [
        environment.rounds(tuple(range(seeds)), start, start + block)
        for start in range(0, ROUNDS, block)
    ]
    X, c = (np.concatenate(several, axis=1) for several in zip(*parts, strict=True))
    return {"X": X, "c": c}


def rows(name: str, size: Size, _: Path) -> tuple[Callable[[], Arrays], Arrays]:
    """Smoothed decisions and their gradients of several rows, and of each row alone."""
    seeds, items, features, block = size
    g, v = np.random.default_rng(list(size)).normal(size=(2, seeds * block, items))
    regularizer = {
        "entropy": lambda: Entropy(polytope=Simplex(dimension=items)),
        "barrier": lambda: LogBarrier(polytope=Box(dimension=items)),
        "barrier on a knapsack": lambda: LogBarrier(polytope=knapsack(items)),
        "projection": lambda: Quadratic(polytope=knapsack(items)),
    }[name]()

    def smooth(rows: slice) -> Arrays:
        alpha = np.full((len(g[rows]), 1), 0.1 * features)
        w = regularizer.smooth(g[rows], alpha)
        return {"w": w, "vjp": regularizer.vjp(w, alpha, v[rows])}

    alone = [smooth(slice(i, i + 1)) for i in range(len(g))]
    plain = {key: np.concatenate([one[key] for one in alone]) for key in ("w", "vjp")}
    return lambda: smooth(slice(None)), plain


def knapsack(items: int) -> Knapsack:
    return Knapsack(dimension=items, capacity=1.0)


PATHS = {
    **{f"kernel of {algo}": partial(kernel, algo) for algo in with_kernel()},
    **{f"seeds of {algo}": partial(seeds_at_once, algo) for algo in ("df_ogd", "df_ftpl")},
    "drawn rounds": drawn,
    "recorded rounds": recorded,
    **{
        f"rows of {name}": partial(rows, name)
        for name in ("entropy", "barrier", "barrier on a knapsack", "projection")
    },
}


@pytest.mark.parametrize("path", PATHS)
def test_a_fast_path_equals_the_plain_one(path: str, tmp_path: Path) -> None:
    for size in SIZES:
        fast, plain = PATHS[path](size, tmp_path)
        fast()
        warm = fast()
        assert warm.keys() == plain.keys()
        for name, values in plain.items():
            np.testing.assert_allclose(
                warm[name], values, rtol=1e-9, atol=1e-9, err_msg=f"{name} {size}"
            )
