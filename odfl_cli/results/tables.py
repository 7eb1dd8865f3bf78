"""The rows of runs as tables."""

import io
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
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
TOGETHER = 20  # seeds whose CSVs are in memory at once
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
    asked = [seed for seed in summary.seeds if stored.asked is None or seed in stored.asked]
    batches = [asked[start : start + TOGETHER] for start in range(0, len(asked), TOGETHER)]
    tables = [table for seeds in batches for table in _read_seeds(stored, summary, seeds, warn)]
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


def _read_seeds(
    stored: StoredRun, summary: Summary, seeds: list[int], warn: Warn
) -> list[pd.DataFrame]:
    """The rows of those seeds that can be read, parsed together, or one by one if one is wrong."""
    contents: dict[int, bytes] = {}
    for seed in seeds:
        path = stored.directory / seed_file(seed)
        with _skipping(path, warn):
            if seed in stored.damage:
                raise UnreadableError(stored.damage[seed])
            contents[seed] = _content(path, summary.files[path.name])
    with suppress(UnreadableError):
        return [_parsed(contents, summary.rounds)]
    tables = []
    for seed, content in contents.items():
        with _skipping(stored.directory / seed_file(seed), warn):
            tables.append(_parsed({seed: content}, summary.rounds))
    return tables


@contextmanager
def _skipping(path: Path, warn: Warn) -> Iterator[None]:
    """Calls `warn` with why a file is left out."""
    try:
        yield
    except UnreadableError as error:
        warn(f"skipped {path}: {error}")


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


def _parsed(contents: Mapping[int, bytes], rounds: int) -> pd.DataFrame:
    """The rows of the CSVs, seed → bytes, numbers only and each checked to be whole.

    pandas takes longer to begin than to read a seed. Columns beyond the basic ones may be empty in
    rounds where they were not evaluated.
    """
    parts = [content.partition(b"\n") for content in contents.values()]
    heads, bodies = {head for head, _, _ in parts}, [body for _, _, body in parts]
    if len(heads) != 1:
        raise UnreadableError("it has other columns than other seeds")
    try:
        text = b"\n".join([*heads, b"".join(bodies)])
        table = pd.read_csv(io.BytesIO(text), low_memory=False)
    except ValueError as error:  # pandas' own errors are ValueErrors
        raise UnreadableError(" ".join(str(error).split())) from None
    lengths = [body.count(b"\n") for body in bodies] if len(contents) > 1 else [len(table)]
    if len(table) != sum(lengths):
        raise UnreadableError("it has empty lines")
    if 0 in lengths:
        raise UnreadableError("it has no rows")
    if not all(body.endswith(b"\n") for body in bodies):
        raise UnreadableError("it ends in the middle of a line")  # a number may be cut in two
    numbers = _checked(table, np.cumsum(lengths), rounds)
    if len(contents) > 1 and len(numbers) < len(table.columns):
        raise UnreadableError("it holds words")
    return pd.DataFrame({**numbers, "seed": np.repeat(list(contents), lengths)})


def _checked(table: pd.DataFrame, ends: np.ndarray, rounds: int) -> dict[str, np.ndarray]:
    """Its columns of numbers, checked for seeds whose rows end before the rows `ends`."""
    missing = [column for column in REQUIRED_COLUMNS if column not in table]
    if missing:
        raise UnreadableError(f"it has no column {', '.join(missing)}")
    numbers = {  # arrays, because pandas takes as long for each of its steps as to read the file
        str(name): column.to_numpy() for name, column in table.items() if column.dtype.kind in "iuf"
    }
    checked = [*REQUIRED_COLUMNS, *(["regret"] if "regret" in table else [])]
    if not all(name in numbers and np.isfinite(numbers[name]).all() for name in checked):
        raise UnreadableError("it holds cells that are not finite numbers")
    t = numbers["t"]
    rising = np.delete(t[1:] > t[:-1], ends[:-1] - 1)  # but for steps from seed to seed
    if (t < 1).any() or (t % 1 != 0).any() or not rising.all():
        raise UnreadableError("t should count rounds upwards from 1")
    for last in t[ends - 1]:
        if last != rounds:
            raise UnreadableError(f"it ends at round {last:.0f} of {rounds}")
    return numbers | {"t": t.astype(np.int64)}


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
