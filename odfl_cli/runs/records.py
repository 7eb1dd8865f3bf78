"""The files of a run: one CSV per seed, summary.json, failed.json."""

import csv
import io
import platform
import traceback
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from odfl_cli import __version__
from odfl_cli.core.errors import message
from odfl_cli.core.files import atomic, write_json
from odfl_cli.core.reading import SEAL, read_json, seal
from odfl_cli.core.statistics import interval
from odfl_cli.environments.base import switches_of
from odfl_cli.results.summary import FAILURE, FORMAT, SUMMARY, file_record, seed_file
from odfl_cli.runs.simulate import Job, Simulation

INTEGER_COLUMNS = frozenset({"t"})
LIBRARIES = ("numpy", "numba", "torch", "hydra-core")
Table = dict[str, np.ndarray]


def write_seed(directory: Path, seed: int, table: Table, row: int) -> dict[str, Any]:
    """Writes seed-<seed>.csv from row `row` of every column [S, rows]; floats round-trip, NaN is an empty cell."""
    columns = [
        _cells(values[row].astype(np.int64) if name in INTEGER_COLUMNS else values[row])
        for name, values in table.items()
    ]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(table)
    text.write("\n".join(map(",".join, zip(*columns, strict=True))) + "\n")
    return write_file(directory / seed_file(seed), text.getvalue().encode(), durable=False)


def write_file(path: Path, content: bytes, durable: bool = True) -> dict[str, Any]:
    """Writes a file of a run and returns its record for summary.json, which reveals damage."""
    with atomic(path, "wb", durable) as file:
        file.write(content)
    return file_record(content, __version__)


def _cells(values: np.ndarray) -> list[str]:
    return ["" if cell != cell else repr(cell) for cell in values.tolist()]


def have_columns(directory: Path, seeds: Iterable[int], columns: Iterable[str]) -> bool:
    """True if the CSVs of the seeds have exactly these columns."""
    header = ",".join(columns)
    for seed in seeds:
        with open(directory / seed_file(seed)) as file:
            if file.readline().rstrip("\n") != header:
                return False
    return True


def last_rows(
    table: Table, computed: list[int], earlier: Mapping[str, Mapping[int, float]], kept: list[int]
) -> Table:
    """Column → [S, 1], the last round of the computed and of the kept seeds in ascending order."""
    rows = {}
    for name, values in table.items():
        final = {**earlier.get(name, {}), **dict(zip(computed, values[:, -1], strict=True))}
        seeds = sorted([*computed, *kept])
        rows[name] = np.array([[final.get(seed, np.nan)] for seed in seeds])
    return rows


def summarise(job: Job, simulation: Simulation, seconds: dict[str, float]) -> dict[str, Any]:
    """The entries of summary.json about the numbers; figures are of the last round."""
    return {
        "choices": job.choices,
        "config": job.config | {"seeds": list(job.seeds)},
        "seeds": list(job.seeds),
        "rounds": job.horizon.rounds,
        "marks": switches_of(job.environment, job.horizon.rounds),  # drawn in figures
        "final": {
            name: {**interval(values[:, -1]), "per_seed": values[:, -1].tolist()}
            for name, values in simulation.table.items()
            if name != "t" and np.isfinite(values[:, -1]).all()
        },
        **simulation.report,
        "seconds": {name: round(value, 4) for name, value in seconds.items()},
        "engine": job.engine.name,
        "versions": versions(),
    }


@cache
def versions() -> dict[str, str]:
    """The versions of odfl, Python, and the installed libraries that compute the numbers."""
    found = {"odfl": __version__, "python": platform.python_version()}
    for name in LIBRARIES:
        with suppress(PackageNotFoundError):  # torch may be missing
            found[name] = version(name)
    return found


def note_request(directory: Path, seeds: Sequence[int]) -> None:
    """Records the seeds of a request that needed no computation: readers show the last request."""
    content = read_json(directory / SUMMARY)
    if content.get("asked", content["seeds"]) != list(seeds):
        content.pop(SEAL, None)
        write_json(directory / SUMMARY, seal(content | {"asked": list(seeds)}))


def write_failure(directory: Path, error: Exception, job: dict[str, Any]) -> None:
    """Writes failed.json: the error in one line, its place, and the `job` that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{frames[-1].filename}:{frames[-1].lineno} in {frames[-1].name}" if frames else None
    content = {
        "format": FORMAT,
        "error": message(error),
        "place": place,
        "when": datetime.now().astimezone().isoformat(timespec="seconds"),
        **job,
        "versions": {"odfl": __version__},
    }
    write_json(directory / FAILURE, content)
