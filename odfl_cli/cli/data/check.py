"""`odfl data check`: what a file holds, and whether it can be replayed."""

import shlex
from argparse import Namespace
from pathlib import Path
from typing import Any

from odfl_cli.cli.parser import Parser
from odfl_cli.core.text import printable, table
from odfl_cli.environments.replay.environment import seeds_key
from odfl_cli.environments.replay.inspection import Inspection, inspect, preview
from odfl_cli.environments.replay.recording import Recording, record
from odfl_cli.environments.replay.tables import Columns

PREVIEW = 5
WIDEST = 12


def main(arguments: list[str]) -> int:
    """Prints a preview, every column's figures, the shape and the line to run; 2 if unusable."""
    chosen = _options().parse_args(arguments)
    columns = Columns(
        round=chosen.round,
        item=chosen.item or None,
        cost=chosen.cost,
        features=tuple(chosen.features.split(",")) if chosen.features else None,
    )
    path = Path(chosen.file)
    _print_preview(preview(path, PREVIEW))
    _print_columns(inspect(path, columns, chosen.group))
    recording = record(path, columns, chosen.group, False, chosen.on_missing)
    _print_shape(recording)
    print(f"\nusable: {printable(_command(chosen, recording))}")
    return 0


def _options() -> Parser:
    options = Parser("data check", __doc__ or "")
    options.add_argument("file", metavar="FILE", help="a CSV, Parquet or NPZ file")
    options.add_argument("--round", default="round", metavar="NAME", help="column, increasing")
    options.add_argument(
        "--item", default="item", metavar="NAME", help='column; "" if there is none'
    )
    options.add_argument("--cost", default="cost", metavar="NAME", help="column")
    options.add_argument("--features", metavar="A,B", help="columns; all others if left out")
    options.add_argument("--group", metavar="NAME", help="column whose values are the seeds")
    options.add_argument("--on-missing", choices=["refuse", "skip", "mask"], default="refuse")
    return options


def _print_preview(rows: list[list[str]]) -> None:
    if not rows:
        return
    width = min(len(rows[0]), WIDEST)
    print(table([[cell[:WIDEST] for cell in row[:width]] for row in rows if len(row) >= width]))
    if len(rows[0]) > width:
        print(f"… and {len(rows[0]) - width} more columns")
    print()


def _print_columns(found: Inspection) -> None:
    rows = [["column", "missing", "infinite", "smallest", "mean", "largest", ""]]
    for column in found.columns:
        figures = [f"{value:.6g}" for value in (column.smallest, column.mean, column.largest)]
        note = "constant" if column.constant else ""
        rows.append([column.name, str(column.missing), str(column.infinite), *figures, note])
    print(f"{found.rows} rows\n{table(rows)}")


def _print_shape(recording: Recording) -> None:
    lengths = recording.lengths
    span = f"{min(lengths)}" if len(set(lengths)) == 1 else f"{min(lengths)} to {max(lengths)}"
    print(f"\n{span} rounds, {recording.items} items, {recording.features} features", end="")
    print(f", {len(lengths)} groups" if len(lengths) > 1 else "", end="")
    print(f"; rounds skipped: {recording.skipped}" if recording.skipped else "")


def _command(chosen: Namespace, recording: Recording) -> str:
    """The line that replays the file from its beginning to its end."""
    given: dict[str, Any] = {"data.file": chosen.file}
    for name in ("round", "item", "cost"):
        if getattr(chosen, name) != name:
            given[f"data.columns.{name}"] = getattr(chosen, name) or "null"
    if chosen.features:
        given["data.columns.features"] = f"[{chosen.features}]"
    if chosen.group:
        given["data.group"] = chosen.group
    if chosen.on_missing != "refuse":
        given["data.on_missing"] = chosen.on_missing
    seeds = recording.seeds(chosen.group) or list(range(len(recording.groups)))
    given |= {"seeds": seeds_key(seeds), "horizon.rounds": min(recording.lengths)}
    words = ["odfl", "run", "data=replay", *(f"{key}={value}" for key, value in given.items())]
    return shlex.join(words)
