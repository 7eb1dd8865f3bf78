"""Finding finished runs on disk and reading them back, files only."""

import io
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from odfl_cli.core.errors import UserError
from odfl_cli.core.flat import flatten
from odfl_cli.results.run_state import FORMAT, file_record, seed_file
from odfl_cli.results.sweep_index import read_index

REQUIRED_COLUMNS = ("t", "cost", "avg_cost", "mse", "avg_mse", "best_cost")
CUMULATIVE = ("regret", "static_regret", "expected_static_regret", "dynamic_regret", "bound")
EXTRAS = ("marks", "margin", "oracle_share")
SEED_FILE = re.compile(r"seed-(\d+)\.csv")

Warn = Callable[[str], None]


class UnreadableError(Exception):
    """A file that is not what its name promises: the message says why."""


@dataclass(frozen=True)
class Run:
    """One finished job. `settings` maps dotted config keys, and each group to its choice."""

    directory: Path
    algorithm: str
    settings: Mapping[str, Any]
    rounds: int
    rows: pd.DataFrame  # one row per seed and logged round: seed, t, cost, avg_cost, …
    extras: Mapping[str, Any] = field(default_factory=dict)  # what the summary tells besides

    @property
    def seeds(self) -> list[int]:
        """Those that could be read, ascending."""
        return sorted(int(seed) for seed in self.rows["seed"].unique())

    def final(self) -> pd.DataFrame:
        """The last round of every seed, in the order of `seeds`."""
        last = self.rows[self.rows["t"] == self.rounds]
        return last.sort_values("seed", ignore_index=True)


class FoundRun(NamedTuple):
    """A run directory and the seeds of it that are wanted; None: all."""

    directory: Path
    seeds: frozenset[int] | None = None

    def joined(self, other: "FoundRun") -> "FoundRun":
        """What either wants."""
        if self.seeds is None or other.seeds is None:
            return FoundRun(self.directory)
        return FoundRun(self.directory, self.seeds | other.seeds)


def newest(outputs: Path) -> Path:
    """The sweep or run under `outputs` that finished last; a sweep is as new as its newest run."""
    ages = {run.parent: _modified(run) for run in outputs.glob("runs/*/summary.json")}
    for index in outputs.glob("sweeps/*/index.json"):
        jobs = [job.directory / "summary.json" for job in _jobs(index, warn=lambda _: None)]
        ages[index.parent] = max(_modified(index), *map(_modified, jobs), 0.0)
    if not ages:
        raise UserError(f"no runs under {outputs}: start one with 'odfl run', or name a directory")
    return max(ages, key=lambda directory: (ages[directory], (directory / "index.json").exists()))


def read_runs(directories: list[Path], warn: Warn) -> list[Run]:
    """Every readable run in or below the directories, each once; `warn` hears what was skipped.

    Of a run that a sweep names, the seeds that the sweep asked for.
    """
    found: dict[Path, FoundRun] = {}
    for place in (place for directory in directories for place in find_runs(directory, warn)):
        key = place.directory.resolve()
        found[key] = found[key].joined(place) if key in found else place
    runs = [run for place in found.values() if (run := _read_or_warn(place, warn)) is not None]
    if not runs:
        where = ", ".join(map(str, directories))
        raise UserError(
            f"nothing to plot in {where}: "
            + ("no run there could be read" if found else "no directory there holds a run")
        )
    return runs


def find_runs(directory: Path, warn: Warn) -> Iterator[FoundRun]:
    """Run directories in or below `directory`, and those that a sweep's index.json names."""
    if not directory.is_dir():
        raise UserError(f"{directory} is not a directory: name one that holds runs")
    for folder, below, files in os.walk(directory):
        below[:] = sorted(name for name in below if not name.startswith("."))
        if "index.json" in files:
            yield from _jobs(Path(folder, "index.json"), warn)
        if "summary.json" in files or any(map(SEED_FILE.fullmatch, files)):
            yield FoundRun(Path(os.path.normpath(folder)))


def read_run(directory: Path, warn: Warn, only: frozenset[int] | None = None) -> Run:
    """Reads summary.json and the seeds' files; `warn` hears of each file left out."""
    summary = read_summary(directory / "summary.json")
    seeds, rounds = summary["seeds"], summary["rounds"]
    present = {int(match[1]) for match in map(SEED_FILE.fullmatch, os.listdir(directory)) if match}
    for seed in sorted(present.difference(seeds)):
        warn(f"skipped {directory / f'seed-{seed}.csv'}: summary.json does not name this seed")
    tables = []
    for seed in (seed for seed in seeds if only is None or seed in only):
        path = directory / seed_file(seed)
        try:
            _check_unchanged(path, summary.get("files"))
            table = read_seed(path, rounds)
        except UnreadableError as error:
            warn(f"skipped {error}")
        else:
            tables.append(table.assign(seed=seed))
    if not tables:
        raise UnreadableError(f"{directory}: none of its seeds could be read")
    return Run(
        directory=directory,
        algorithm=summary["choices"]["algo"],
        settings=flatten(summary["config"]) | summary["choices"],
        rounds=rounds,
        rows=pd.concat(tables, ignore_index=True),
        extras={name: summary[name] for name in EXTRAS if name in summary},
    )


def read_summary(path: Path) -> dict[str, Any]:
    """The summary of a run, with the parts that plotting leans on checked."""
    summary = _read_json(path)
    number = summary.get("format", 0)
    if isinstance(number, int) and number > FORMAT:
        raise UnreadableError(f"{path}: it has format {number}, this version reads up to {FORMAT}")
    choices, config = summary.get("choices"), summary.get("config")
    if not isinstance(choices, dict) or not isinstance(choices.get("algo"), str):
        raise UnreadableError(f"{path}: it names no algorithm (choices.algo)")
    if not isinstance(config, dict):
        raise UnreadableError(f"{path}: it holds no configuration (config)")
    if not _is_count(summary.get("rounds")):
        raise UnreadableError(f"{path}: rounds should be a whole number above 0")
    seeds = summary.get("seeds")
    if not isinstance(seeds, list) or not all(type(seed) is int for seed in seeds):
        raise UnreadableError(f"{path}: seeds should be a list of whole numbers")
    return summary | {"seeds": list(dict.fromkeys(seeds))}


def read_seed(path: Path, rounds: int) -> pd.DataFrame:
    """The rows of one seed, numbers only, checked to be whole.

    What accumulates gets its average as well: `avg_regret` = regret / t. Columns beyond the basic
    ones may be empty in rounds where they were not evaluated.
    """
    table = _read_csv(path)
    missing = [column for column in REQUIRED_COLUMNS if column not in table]
    if missing:
        raise UnreadableError(f"{path}: it has no column {', '.join(missing)}")
    checked = [*REQUIRED_COLUMNS, *(["regret"] if "regret" in table else [])]
    table[checked] = table[checked].apply(pd.to_numeric, errors="coerce")
    if not np.isfinite(table[checked].to_numpy(dtype=float)).all():
        raise UnreadableError(f"{path}: it holds cells that are not finite numbers")
    _check_rounds(path, table["t"], rounds)
    return with_averages(table.select_dtypes("number").astype({"t": int}))


def with_averages(table: pd.DataFrame) -> pd.DataFrame:
    """The table with a column `avg_…` per round for each that accumulates."""
    cumulative = [column for column in CUMULATIVE if column in table]
    return table.assign(**{f"avg_{column}": table[column] / table["t"] for column in cumulative})


def _jobs(index: Path, warn: Warn) -> list[FoundRun]:
    """The run directories of a sweep, without those that are gone or never finished."""
    try:
        jobs = read_index(index.parent)
    except UserError as error:
        warn(f"skipped {error}")
        return []
    for absent in (job.directory for job in jobs if not job.directory.is_dir()):
        warn(f"skipped {absent}: {index} names it, but it does not exist")
    return [
        FoundRun(job.directory, None if job.seeds is None else frozenset(job.seeds))
        for job in jobs
        if job.directory.is_dir()
    ]


def _read_or_warn(place: FoundRun, warn: Warn) -> Run | None:
    try:
        return read_run(place.directory, warn, place.seeds)
    except UnreadableError as error:
        warn(f"skipped {error}")
        return None


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise UnreadableError(f"{path}: there is no such file (an unfinished run?)") from None
    except (OSError, ValueError) as error:
        raise UnreadableError(f"{path}: {_one_line(error)}") from None
    if not isinstance(content, dict):
        raise UnreadableError(f"{path}: it should hold a JSON object")
    return content


def _read_csv(path: Path) -> pd.DataFrame:
    try:
        content = path.read_bytes()
        table = pd.read_csv(io.BytesIO(content), low_memory=False)
    except FileNotFoundError:
        raise UnreadableError(f"{path}: there is no such file") from None
    except (OSError, ValueError) as error:  # pandas' own errors are ValueErrors
        raise UnreadableError(f"{path}: {_one_line(error)}") from None
    if table.empty:
        raise UnreadableError(f"{path}: it has no rows")
    if not content.endswith(b"\n"):  # else a number cut in two would pass for a number
        raise UnreadableError(f"{path}: it ends in the middle of a line")
    return table


def _check_unchanged(path: Path, records: object) -> None:
    """Refuses a file that is not what the run wrote, where its summary tells what that was."""
    if not isinstance(records, dict) or not path.is_file():
        return
    recorded, found = records.get(path.name), file_record(path.read_bytes(), "")
    if not isinstance(recorded, dict):
        raise UnreadableError(f"{path}: summary.json does not list this file")
    if any(recorded.get(name) != found[name] for name in ("bytes", "sha256")):
        raise UnreadableError(f"{path}: it is not what was written (changed or damaged)")


def _check_rounds(path: Path, t: pd.Series, rounds: int) -> None:
    if (t < 1).any() or (t % 1 != 0).any() or (t.diff() <= 0).any():
        raise UnreadableError(f"{path}: t should count rounds upwards from 1")
    if t.iloc[-1] != rounds:
        raise UnreadableError(f"{path}: it ends at round {t.iloc[-1]:.0f} of {rounds}")


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 1


def _modified(path: Path) -> float:
    return path.stat().st_mtime if path.exists() else 0.0


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
