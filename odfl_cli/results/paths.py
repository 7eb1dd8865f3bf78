"""Runs as paths over time: every round of every seed, and means with intervals over the rounds."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from odfl_cli.core.errors import UserError
from odfl_cli.core.statistics import Interval
from odfl_cli.core.time_series import path_mean
from odfl_cli.results.runs import StoredRun

AVERAGED = {"avg_cost": "cost", "avg_mse": "mse"}
"""Columns of averages → the columns they average."""


def paths_of(run: StoredRun, column: str) -> dict[int, Any]:
    """Seed → the values [T] whose mean is the column's final value."""
    if column not in AVERAGED:
        raise UserError(f"--over rounds: --by is {' or '.join(AVERAGED)}, not {column}")
    from odfl_cli.core.text import tell
    from odfl_cli.results.tables import read_run

    table = read_run(run, tell)
    rounds, seeds = table.rounds, table.rows.groupby("seed")[AVERAGED[column]]
    found = {int(str(seed)): values.to_numpy() for seed, values in seeds}
    if (shortest := min(map(len, found.values()))) < rounds:
        raise UserError(
            f"--over rounds: {run.directory} has {shortest} of {rounds} rounds; "
            f"run with horizon.rows={rounds} to log them all"
        )
    return found


def over_rounds(paths: Iterable[Any]) -> Interval:
    """The mean of the paths [T] and its interval over time, by the moving-block bootstrap.

    Seeds need not be independent: they are averaged in every round before.
    """
    several = list(paths)
    if len({len(path) for path in several}) > 1:
        raise UserError("--over rounds: the runs have different numbers of rounds")
    mean, ci95, _ = path_mean(np.mean(several, axis=0))
    return {"mean": mean, "ci95": None if np.isnan(ci95) else ci95}
