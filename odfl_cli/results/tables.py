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
from odfl_cli.results.summary import CUMULATIVE, Summary, file_record, seed_file

REQUIRED_COLUMNS = ("t", "cost", "avg_cost", "mse", "avg_mse", "best_cost")
EXTRAS = ("marks", "margin", "oracle_share")
SEED_FILE = re.compile(r"seed-(\d+)\.csv")


def read_runs(directories: list[Path], warn: Warn, where: Where = EVERY) -> list[Run]:
    """Every readable run in or below the directories; `warn` is called with what was skipped.

    A run that a sweep names has the seeds that the sweep asked for.
    """
    place = ", ".join(map(str, directories))
    return read_found(find_runs(directories, warn, where), place, warn)


def read_found(found: list[StoredRun], place: str, warn: Warn) -> list[Run]:
    """The runs that can be read, with their rows; a UserError that names the place if there is none."""
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
    asked = [seed for seed in summary.seeds if stored.asked is None or seed in stored.asked]
    read = (_read_seed(stored, summary, seed, warn) for seed in asked)
    tables = [table for table in read if table is not None]
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


def _read_seed(stored: StoredRun, summary: Summary, seed: int, warn: Warn) -> pd.DataFrame | None:
    """The rows of a seed; None, and a warning, where they cannot be read."""
    path = stored.directory / seed_file(seed)
    try:
        if seed in stored.damage:
            raise UnreadableError(stored.damage[seed])
        content = _content(path, summary.files[path.name])
        return _parse(content, summary.rounds).assign(seed=seed)
    except UnreadableError as error:
        warn(f"skipped {path}: {error}")
        return None


def _content(path: Path, record: Mapping[str, Any]) -> bytes:
    """A CSV as it was written."""
    try:
        content = read_regular(path, CSV_LARGEST)
    except OSError as error:
        raise UnreadableError(error.strerror) from None
    except UserError as error:
        raise UnreadableError(" ".join(str(error).split())) from None
    if file_record(content, "")["sha256"] != record.get("sha256"):
        raise UnreadableError("it is not what was written")
    return content


def _parse(content: bytes, rounds: int) -> pd.DataFrame:
    """The columns of numbers of a CSV that is checked to be whole.

    Columns beyond the basic ones may be empty in rounds where they were not evaluated.
    """
    try:
        table = pd.read_csv(io.BytesIO(content), low_memory=False)
    except ValueError as error:  # pandas' own errors are ValueErrors
        raise UnreadableError(" ".join(str(error).split())) from None
    if table.empty:
        raise UnreadableError("it has no rows")
    if not content.endswith(b"\n"):
        raise UnreadableError("it ends in the middle of a line")  # a number may be cut in two
    if missing := [column for column in REQUIRED_COLUMNS if column not in table]:
        raise UnreadableError(f"it has no column {', '.join(missing)}")
    numbers = table.select_dtypes("number")
    checked = [*REQUIRED_COLUMNS, *(["regret"] if "regret" in table else [])]
    if not all(name in numbers and np.isfinite(numbers[name]).all() for name in checked):
        raise UnreadableError("it holds cells that are not finite numbers")
    t = numbers["t"].to_numpy()
    if (t < 1).any() or (t % 1 != 0).any() or not (t[1:] > t[:-1]).all():
        raise UnreadableError("t should count rounds upwards from 1")
    if t[-1] != rounds:
        raise UnreadableError(f"it ends at round {t[-1]:.0f} of {rounds}")
    return numbers.astype({"t": np.int64})


def with_averages(table: pd.DataFrame) -> pd.DataFrame:
    """The table with a column `avg_…` for each that accumulates: `avg_regret` = regret / t."""
    t = table["t"].to_numpy()
    cumulative = [column for column in CUMULATIVE if column in table]
    return table.assign(**{f"avg_{column}": table[column].to_numpy() / t for column in cumulative})


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
    final = run.last.sort_index().drop(columns="t")
    figures: dict[str, float] = {}
    for column in final:
        mean, ci95 = mean_ci95(final[column].to_numpy())
        figures |= {f"{column}_mean": float(mean), f"{column}_ci95": float(ci95)}
    return figures
