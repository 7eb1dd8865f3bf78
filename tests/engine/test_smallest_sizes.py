"""Compiled code computes what its source says, at sizes 1 and 2 of every axis and beyond its first call."""

from dataclasses import replace
from functools import partial
from importlib import import_module

import numpy as np
import pytest
from support.problems import composed_job

from odfl_cli.engine.array_engine import ArrayEngine
from odfl_cli.problem.polytopes.box import Box
from odfl_cli.problem.polytopes.knapsack import Knapsack
from odfl_cli.problem.regularizers.log_barrier import LogBarrier
from odfl_cli.problem.regularizers.quadratic import Quadratic
from odfl_cli.runs.simulate import simulate

ROWS = (
    "odfl_cli.problem.regularizers.newton",
    "odfl_cli.problem.regularizers.sum_projection",
    "odfl_cli.algorithms.df_moments_rows",
    "odfl_cli.environments.sin4_kernel",
)
"""Where the functions on rows are; the kernels of whole rounds are played by the array engine."""
FAST = (
    "algo=df_ogd engine=compiled",
    "algo=df_ftpl engine=compiled",
    "algo=df_moments",
    "polytope=box",
    "polytope=knapsack",
    "polytope=simplex regularizer=log_barrier",
    "polytope=simplex regularizer=quadratic",
    "polytope=knapsack regularizer=quadratic",
)
SIZES = [(1, 2, 1, 1), (2, 2, 2, 2), (1, 3, 1, 2), (2, 3, 2, 1)]
"""Seeds, items (data have two at least), features and rounds of a block."""
SETS = [Box, partial(Knapsack, capacity=0.8)]


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch):
    """Has Python run the functions on rows."""

    def interpret() -> None:
        for module in map(import_module, ROWS):
            for name, value in list(vars(module).items()):
                monkeypatch.setattr(module, name, getattr(value, "py_func", value))

    return interpret


@pytest.mark.parametrize(("seeds", "items", "features", "block"), SIZES)
@pytest.mark.parametrize("words", FAST)
def test_fast_equals_plain(words, seeds, items, features, block, plain) -> None:
    sizes = (f"seeds={seeds}", f"data.items={items}", f"data.features={features}")
    job = composed_job(*words.split(), *sizes, "horizon.rounds=7", "horizon.rows=7")
    fast = simulate(job, block)
    plain()
    slow = simulate(replace(job, engine=ArrayEngine()), block=7)
    assert fast.table.keys() == slow.table.keys()
    for name, values in fast.table.items():
        np.testing.assert_allclose(values, slow.table[name], rtol=1e-9, atol=1e-9, err_msg=name)
    np.testing.assert_allclose(fast.state.theta, slow.state.theta, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("regularizer", [LogBarrier, Quadratic])
@pytest.mark.parametrize("polytope", SETS, ids=["box", "knapsack"])
def test_rows_of_one_item_and_of_two(regularizer, polytope, plain) -> None:
    rng = np.random.default_rng(0)
    shapes = [(rows, items) for rows in (1, 2) for items in (1, 2)]
    given = [rng.normal(size=(2, *shape)) for shape in shapes]
    parts = [regularizer(polytope=polytope(dimension=items)) for _, items in shapes]

    def compute() -> list[np.ndarray]:
        smooth = [part.smooth(g, 0.3) for part, (g, _) in zip(parts, given, strict=True)]
        pairs = zip(parts, smooth, given, strict=True)
        return [*smooth, *(part.vjp(w, 0.3, v) for part, w, (_, v) in pairs)]

    compute()
    fast = compute()
    plain()
    for ours, expected in zip(fast, compute(), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-10, atol=1e-12)
