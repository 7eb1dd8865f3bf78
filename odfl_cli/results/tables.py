"""The rows of runs as tables."""

import os
import re
from pathlib import Path

import numpy as np
import pandas as pd

from odfl_cli.core.errors import UserError
from odfl_cli.core.reading import UnreadableError
from odfl_cli.core.statistics import mean_ci95
from odfl_cli.results.finding import EVERY, Warn, Where, find_runs
from odfl_cli.results.grouping import Run
from odfl_cli.results.runs import StoredRun
from odfl_cli.results.summary import CUMULATIVE, seed_file

BASIC_COLUMNS = ("t", "cost", "avg_cost", "mse", "avg_mse", "best_cost")
EXTRAS = ("marks", "margin", "oracle_share")
SEED_FILE = re.compile(r"seed-(\d+)\.csv")


def read_runs(directories: list[Path], warn: Warn, where: Where = EVERY) -> list[Run]:
    """All readable runs in or below the directories; `warn` is called with what was skipped."""
    place = ", ".join(map(str, directories))
    return read_found(find_runs(directories, warn, where), place, warn)


def read_found(found: list[StoredRun], place: str, warn: Warn) -> list[Run]:
    """The readable runs with their rows; raises a UserError that names the place if there is none."""
    runs = []
    for stored in found:
        try:
            runs.append(read_run(stored, warn))
        except UnreadableError as error:
            warn(f"skipped {stored.directory}: {error}")
    if not runs:
        reason = "no run there could be read" if found else "no directory there holds a run"
        raise UserError(f"nothing to read in {place}: {reason}")
    return runs


def read_run(stored: StoredRun, warn: Warn) -> Run:
    """The rows of a run's seeds; `warn` is called with each file that was left out."""
    summary = stored.summary
    if summary is None:
        raise UnreadableError(f"{stored.state}, {stored.reason}")
    tables = []
    asked = summary.seeds if stored.asked is None else stored.asked
    for seed in filter(asked.__contains__, summary.seeds):
        path = stored.directory / seed_file(seed)
        try:
            if seed in stored.damage:
                raise UnreadableError(stored.damage[seed])
            tables.append(_parse(path, summary.rounds).assign(seed=seed))
        except UnreadableError as error:
            warn(f"skipped {path}: {error}")
    present = filter(None, map(SEED_FILE.fullmatch, os.listdir(stored.directory)))
    for seed in sorted({int(match[1]) for match in present}.difference(summary.seeds)):
        warn(f"skipped {stored.directory / seed_file(seed)}: the summary does not name this seed")
    if not tables:
        raise UnreadableError("none of its seeds could be read")
    return Run(
        directory=stored.directory,
        algorithm=stored.algorithm,
        settings=stored.settings,
        rounds=summary.rounds,
        rows=with_averages(pd.concat(tables, ignore_index=True)),
        extras={name: summary.content[name] for name in EXTRAS if name in summary.content},
    )


def _parse(path: Path, rounds: int) -> pd.DataFrame:
    """The numeric columns of an intact CSV; columns beyond the basic ones may have empty cells."""
    try:
        table = pd.read_csv(path, low_memory=False).select_dtypes("number")
        t = table["t"].to_numpy()
        is_whole = np.isfinite(table[list(BASIC_COLUMNS)].to_numpy()).all()
        is_whole &= t[0] >= 1 and t[-1] == rounds and bool((t[1:] > t[:-1]).all())
    except (OSError, ValueError, LookupError):
        is_whole = False
    if not is_whole:
        raise UnreadableError(f"it does not hold {rounds} rounds of finite numbers")
    return table.astype({"t": np.int64})


def with_averages(table: pd.DataFrame) -> pd.DataFrame:
    """The table with a column `avg_…` for each cumulative one: `avg_regret` = regret / t."""
    t = table["t"].to_numpy()
    cumulative = [column for column in CUMULATIVE if column in table]
    return table.assign(**{f"avg_{column}": table[column].to_numpy() / t for column in cumulative})


def final_figures(run: Run) -> dict[str, float]:
    """`<column>_mean` and `<column>_ci95` of every column over the seeds, after the last round."""
    final = run.last.sort_index().drop(columns="t")
    figures: dict[str, float] = {}
    for column in final:
        mean, ci95 = mean_ci95(final[column].to_numpy())
        figures |= {f"{column}_mean": float(mean), f"{column}_ci95": float(ci95)}
    return figures
