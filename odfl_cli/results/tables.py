"""The rows of runs as tables."""

import io
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from odfl_cli.core.errors import UserError
from odfl_cli.core.files import read_regular
from odfl_cli.core.reading import UnreadableError
from odfl_cli.core.statistics import mean_ci95
from odfl_cli.results.finding import Warn, find_runs, warn_of_more_seeds
from odfl_cli.results.grouping import Run, differing_keys, sort_key
from odfl_cli.results.runs import CSV_LARGEST, StoredRun
from odfl_cli.results.selection import EVERY, Where
from odfl_cli.results.summary import CUMULATIVE, file_record, seed_file

REQUIRED_COLUMNS = ("t", "cost", "avg_cost", "mse", "avg_mse", "best_cost")
EXTRAS = ("marks", "margin", "oracle_share")
SEED_FILE = re.compile(r"seed-(\d+)\.csv")


def read_runs(directories: list[Path], warn: Warn, where: Where = EVERY) -> list[Run]:
    """Every readable run in or below the directories; `warn` is called with what was skipped.

    Of a run that a sweep names, the seeds that the sweep asked for.
    """
    place = ", ".join(map(str, directories))
    return read_found(find_runs(directories, warn, where), place, warn)


def read_found(found: list[StoredRun], place: str, warn: Warn) -> list[Run]:
    """The rows of those runs that can be read, or a UserError that names the place."""
    runs = []
    for stored in found:
        try:
            runs.append(read_run(stored, warn))
        except UnreadableError as error:
            warn(f"skipped {stored.directory}: {error}")
    if not runs:
        reason = "no run there could be read" if found else "no directory there holds a run"
        raise UserError(f"nothing to plot in {place}: {reason}")
    warn_of_more_seeds(found, warn)
    return runs


def read_run(stored: StoredRun, warn: Warn) -> Run:
    """The rows of a run's seeds; `warn` is called with each file that was left out."""
    summary = stored.summary
    if summary is None:
        raise UnreadableError(f"{stored.state}, {stored.reason}")
    tables = []
    for seed in (s for s in summary.seeds if stored.asked is None or s in stored.asked):
        path = stored.directory / seed_file(seed)
        try:
            if seed in stored.damage:
                raise UnreadableError(stored.damage[seed])
            table = read_seed(path, summary.rounds, summary.files[path.name])
            table["seed"] = seed
            tables.append(table)
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


def read_seed(path: Path, rounds: int, record: Mapping[str, Any]) -> pd.DataFrame:
    """The rows of one seed, numbers only, checked to be what was recorded and whole.

    Columns beyond the basic ones may be empty in rounds where they were not evaluated.
    """
    table = _read_csv(path, record)
    missing = [column for column in REQUIRED_COLUMNS if column not in table]
    if missing:
        raise UnreadableError(f"it has no column {', '.join(missing)}")
    numbers = {  # arrays, because pandas takes as long for each of its steps as to read the file
        name: column.to_numpy() for name, column in table.items() if column.dtype.kind in "iuf"
    }
    checked = [*REQUIRED_COLUMNS, *(["regret"] if "regret" in table else [])]
    if not all(name in numbers and np.isfinite(numbers[name]).all() for name in checked):
        raise UnreadableError("it holds cells that are not finite numbers")
    t = numbers["t"]
    if (t < 1).any() or (t % 1 != 0).any() or (np.diff(t) <= 0).any():
        raise UnreadableError("t should count rounds upwards from 1")
    if t[-1] != rounds:
        raise UnreadableError(f"it ends at round {t[-1]:.0f} of {rounds}")
    if t.dtype != np.int64:
        table["t"] = t.astype(np.int64)
    words = [name for name in table if name not in numbers]
    return table.drop(columns=words) if words else table


def with_averages(table: pd.DataFrame) -> pd.DataFrame:
    """The table with a column `avg_…` for each that accumulates: `avg_regret` = regret / t."""
    cumulative = [column for column in CUMULATIVE if column in table]
    return table.assign(**{f"avg_{column}": table[column] / table["t"] for column in cumulative})


def summary_table(runs: list[Run]) -> pd.DataFrame:
    """One row per run: algorithm, differing keys, seeds, rounds, then the final columns."""
    keys = differing_keys(runs)

    def order(run: Run) -> tuple[Any, ...]:
        return run.algorithm, [sort_key(run.settings.get(key)) for key in keys], run.directory

    return pd.DataFrame([_summary(run, keys) for run in sorted(runs, key=order)])


def _summary(run: Run, keys: list[str]) -> dict[str, Any]:
    varying = {key: run.settings.get(key) for key in keys}
    row = {"algorithm": run.algorithm, **varying, "seeds": len(run.seeds), "rounds": run.rounds}
    return row | final_figures(run) | {"directory": run.directory.name}


def final_figures(run: Run) -> dict[str, float]:
    """`<column>_mean` and `<column>_ci95` of every column over the seeds, after the last round."""
    last = run.rows[run.rows["t"] == run.rounds].sort_values("seed")
    final = last.drop(columns=["t", "seed"])
    figures: dict[str, float] = {}
    for column in final:
        mean, ci95 = mean_ci95(final[column].to_numpy())
        figures |= {f"{column}_mean": float(mean), f"{column}_ci95": float(ci95)}
    return figures


def _read_csv(path: Path, record: Mapping[str, Any]) -> pd.DataFrame:
    try:
        content = read_regular(path, CSV_LARGEST)
        table = pd.read_csv(io.BytesIO(content), low_memory=False)
    except OSError as error:
        raise UnreadableError(error.strerror) from None
    except (UserError, ValueError) as error:  # pandas' own errors are ValueErrors
        raise UnreadableError(" ".join(str(error).split())) from None
    if file_record(content, "")["sha256"] != record.get("sha256"):
        raise UnreadableError("it is not what was written")
    if table.empty:
        raise UnreadableError("it has no rows")
    if not content.endswith(b"\n"):  # else a number cut in two would pass for a number
        raise UnreadableError("it ends in the middle of a line")
    return table
