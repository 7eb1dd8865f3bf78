"""The items that were played, against the costs that were paid."""

import numpy as np
import pytest
from support.problems import composed_job
from support.samples import each_once, some_of

from odfl_cli.metrics.decisions import encode_items
from odfl_cli.report.numbers import items
from odfl_cli.runs.simulate import simulate

SMALL = ("horizon.rounds=12", "seeds=3")
PATHS = (
    "data=polynomial", "data.items=40", "data.features=5", "polytope=shortest_path",
    "polytope.rows=5", "polytope.columns=5", "regularizer=log_barrier",
)  # fmt: skip


@pytest.mark.parametrize(
    ("algo", "engine"), each_once(["df_ogd", "df_ftpl"], ["torch", "compiled"])
)
def test_the_items_cost_what_was_paid(algo: str, engine: str) -> None:
    job = composed_job("metrics=decisions", f"algo={algo}", f"engine={engine}", *SMALL)
    table = simulate(job).table
    costs = job.environment.rounds(job.seeds, 0, 12).costs[:, table["t"][0].astype(int) - 1]
    for decision, cost in (("decision", "cost"), ("best_decision", "best_cost")):
        item = table[decision].astype(int)[..., None]
        np.testing.assert_array_equal(np.take_along_axis(costs, item, -1)[..., 0], table[cost])


@pytest.mark.parametrize("inner", some_of(["basic", "regret"], 1))
def test_the_other_columns_keep_every_digit(inner: str) -> None:
    choice = ("metrics=decisions", f"metrics@metrics.of={inner}")
    with_decisions = simulate(composed_job(*choice, *SMALL)).table
    without = simulate(composed_job(f"metrics={inner}", *SMALL)).table
    assert list(with_decisions) == [*without, "decision", "best_decision"]
    for name, values in without.items():
        np.testing.assert_array_equal(with_decisions[name], values)


def test_decisions_of_several_items() -> None:
    job = composed_job("metrics=decisions", *PATHS, *SMALL)
    table = simulate(job).table
    costs = job.environment.rounds(job.seeds, 0, 12).costs[:, table["t"][0].astype(int) - 1]
    best = job.algorithm.problem.polytope.minimise(costs)
    assert (best > 1e-9).sum(-1).max() > 1
    for s, row in np.ndindex(table["best_decision"].shape):
        played = items(table["best_decision"][s, row])
        assert played == np.flatnonzero(best[s, row] > 1e-9).tolist()


def test_numbers_name_sets_of_items() -> None:
    decisions = np.array([[0, 1, 0], [1, 0, 1], [1 / 3, 1 / 3, 1 / 3], [0, 0, 0]])
    np.testing.assert_array_equal(encode_items(decisions), [1, -6, -8, -1])
    wide = np.zeros((2, 80))
    wide[0, 70], wide[1, [3, 4]] = 1, 1
    np.testing.assert_array_equal(encode_items(wide), [70, np.nan])
