"""Four seeds in one register are four seeds."""

from importlib import import_module

import numpy as np
import pytest
from support.problems import composed_job

from odfl_cli.problem.polytopes.box import Box
from odfl_cli.problem.regularizers.log_barrier import LogBarrier
from odfl_cli.runs.simulate import NotFiniteError, simulate


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


@pytest.mark.parametrize("batch", [1, 3, 6])
def test_rounds_of_the_history_in_lanes_are_smoothed_as_alone(batch: int) -> None:
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
    rows = np.random.default_rng(0).normal(size=(4, 4))
    rows[:, -1] = 0.1
    kernel = import_module("odfl_cli.problem.regularizers.newton").smooth_rows

    def solve(given: np.ndarray) -> np.ndarray:
        g, alpha = np.ascontiguousarray(given[:, :-1]), np.ascontiguousarray(given[:, -1:])
        out = np.empty((len(g), g.shape[1] + 2))
        kernel(barrier.barrier, g, alpha, out)
        return out

    wanted = solve(rows)
    rows[1, 0] = np.nan
    found = solve(rows)
    assert np.isnan(found[1, -1])
    np.testing.assert_array_equal(wanted[[0, 2, 3]], found[[0, 2, 3]])
