"""Writes the rounds of a configuration to a file that data=replay reads, after standardise, intercept and on_missing."""

import csv
import shlex
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.lib import format as npy

from odfl_cli.cli.parser import Parser
from odfl_cli.config.compose import compose_job
from odfl_cli.core.errors import UserError
from odfl_cli.core.files import atomic, check_replaceable, explain_write_errors
from odfl_cli.environments.base import Rounds
from odfl_cli.runs.build import build
from odfl_cli.runs.simulate import Job


def main(arguments: list[str]) -> int:
    """Composes the configuration as `odfl run` does and writes its rounds with exact numbers."""
    options = Parser("data export", __doc__ or "")
    options.add_argument("-o", "--out", type=Path, required=True, metavar="FILE")
    options.add_argument(
        "--force", action="store_true", help="replace a file that is not an export"
    )
    options.add_argument("overrides", nargs="*", help="as for odfl run: data=sin4 horizon=short")
    chosen = options.parse_intermixed_args(arguments)
    writers = {".csv": _write_csv, ".npz": _write_npz}
    if chosen.out.suffix.lower() not in writers:
        raise UserError(f"{chosen.out}: the name should end in .csv or .npz")
    check_replaceable(chosen.out, _is_export, chosen.force)
    job = build(compose_job(chosen.overrides))
    with explain_write_errors(chosen.out):
        chosen.out.parent.mkdir(parents=True, exist_ok=True)
        writers[chosen.out.suffix.lower()](job, chosen.out)
    print(shlex.join(["odfl", "run", "data=replay", f"data.file={chosen.out}"]))
    return 0


def _is_export(content: bytes) -> bool:
    return content.startswith(b"seed,round,item,") or (
        content.startswith(b"PK") and b"seed.npy" in content[:100]
    )


def _blocks(job: Job) -> Iterator[tuple[int, int, Rounds]]:
    """Yields (seed, first round, the rounds), seed by seed and block by block."""
    for seed in job.seeds:
        for start in range(0, job.horizon.rounds, job.choose_block_rounds()):
            stop = min(start + job.choose_block_rounds(), job.horizon.rounds)
            yield seed, start, job.environment.rounds((seed,), start, stop)


def _write_csv(job: Job, path: Path) -> None:
    """Writes a long table: seed, round, item, x0, x1, …, cost."""
    names = [f"x{i}" for i in range(job.environment.features)]
    with atomic(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["seed", "round", "item", *names, "cost"])
        for seed, start, rounds in _blocks(job):
            for t, (X, costs) in enumerate(zip(*(v[0].tolist() for v in rounds), strict=True)):
                rows = zip(X, costs, strict=True)
                writer.writerows(
                    [seed, start + t + 1, item, *x, cost] for item, (x, cost) in enumerate(rows)
                )


def _write_npz(job: Job, path: Path) -> None:
    """Writes X [S, T, d, p], c [S, T, d] and seed [S], the first two block by block."""
    sizes = (len(job.seeds), job.horizon.rounds, job.environment.items)
    shapes = {"X": (*sizes, job.environment.features), "c": sizes}
    with atomic(path, "wb") as file, zipfile.ZipFile(file, "w") as archive:
        with archive.open("seed.npy", "w") as member:
            npy.write_array(member, np.array(job.seeds, dtype="<i8"))
        for place, (name, shape) in enumerate(shapes.items()):
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                head = {"descr": "<f8", "fortran_order": False, "shape": shape}
                npy.write_array_header_2_0(member, head)
                for _, _, rounds in _blocks(job):
                    member.write(np.ascontiguousarray(rounds[place], dtype="<f8").tobytes())
