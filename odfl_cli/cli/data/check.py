"""`odfl data check`: what a file holds, and whether it can be replayed."""

import shlex
from pathlib import Path
from typing import Any, get_args

import yaml

from odfl_cli.cli.parser import Parser
from odfl_cli.core.errors import UserError
from odfl_cli.core.text import did_you_mean, printable, table
from odfl_cli.environments.replay.inspection import Inspection, inspect, preview
from odfl_cli.environments.replay.recording import Recording, record
from odfl_cli.environments.replay.tables import Columns, OnMissing

EXAMPLES = """\
  odfl data check my_rounds.csv data.columns.round=day data.group=shop
  odfl data check my_rounds.csv data.columns.item=null data.on_missing=last
"""
KEYS = (
    "data.columns.round",
    "data.columns.item",
    "data.columns.cost",
    "data.columns.features",
    "data.group",
    "data.on_missing",
)
PREVIEW = 5
WIDEST = 12


def main(arguments: list[str]) -> int:
    """Prints a preview, every column's figures, the shape and the line to run; 2 if unusable."""
    options = Parser("data check", __doc__ or "", EXAMPLES)
    options.add_argument("file", metavar="FILE", help="a CSV, Parquet or NPZ file")
    options.add_argument("words", nargs="*", metavar="KEY=VALUE", help="as for odfl run")
    typed = options.parse_args(arguments)
    columns, group, on_missing = _parse_keys(typed.words)
    path = Path(typed.file)
    _print_preview(preview(path, PREVIEW))
    _print_columns(inspect(path, columns, group))
    recording = record(path, columns, group, False, on_missing)
    _print_shape(recording)
    command = ["odfl", "run", "data=replay", f"data.file={typed.file}", *typed.words]
    print(f"\nusable: {printable(shlex.join(command))}")
    return 0


def _parse_keys(words: list[str]) -> tuple[Columns, str | None, OnMissing]:
    """What the words set: the keys of data=replay that decide how a file is read."""
    values: dict[str, Any] = {}
    for word in words:
        key, _, text = word.partition("=")
        if key not in KEYS or not text:
            raise UserError(f"data check: {word}: should be KEY=VALUE; {did_you_mean(key, KEYS)}")
        values[key] = yaml.safe_load(text)
    columns = {
        key.rpartition(".")[2]: values[key] for key in KEYS if "columns" in key and key in values
    }
    missing = values.get("data.on_missing", "refuse")
    if missing not in get_args(OnMissing):
        raise UserError(
            f"data.on_missing={missing}: {did_you_mean(str(missing), get_args(OnMissing))}"
        )
    try:
        return Columns(**columns), values.get("data.group"), missing
    except ValueError as error:
        raise UserError(f"data.columns: {' '.join(str(error).split())}") from None


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
    for name, missing, infinite, *figures in zip(found.names, *found[2:], strict=True):
        note = "constant" if figures[0] >= figures[2] else ""
        shown = [f"{value:.6g}" for value in figures]
        rows.append([name, str(missing), str(infinite), *shown, note])
    print(f"{found.rows} rows\n{table(rows)}")


def _print_shape(recording: Recording) -> None:
    lengths = recording.lengths
    span = f"{min(lengths)}" if len(set(lengths)) == 1 else f"{min(lengths)} to {max(lengths)}"
    print(f"\n{span} rounds, {recording.items} items, {recording.features} features", end="")
    print(f", {len(lengths)} groups" if len(lengths) > 1 else "", end="")
    print(f"; rounds skipped: {recording.skipped}" if recording.skipped else "")
