"""Shows what a file holds, whether it can be replayed, and the command that replays it."""

import shlex
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf
from pydantic import TypeAdapter, ValidationError

from odfl_cli.cli.parser import Parser
from odfl_cli.config.arguments import quote
from odfl_cli.config.compose import compose_job
from odfl_cli.config.explain import explain_errors
from odfl_cli.config.identity import plain
from odfl_cli.config.schema import refusal
from odfl_cli.core.errors import UserError
from odfl_cli.core.files import atomic
from odfl_cli.core.text import printable, shorten, table
from odfl_cli.environments.look import look
from odfl_cli.environments.replay.environment import Replay
from odfl_cli.environments.replay.inspection import Inspection, inspect, preview
from odfl_cli.environments.replay.recording import Recording, record
from odfl_cli.environments.replay.tables import Columns
from odfl_cli.problem.targets import transform_costs

EXAMPLES = """\
  odfl data check my_rounds.csv data.columns.round=day data.group=shop
  odfl data check my_rounds.csv data.columns.item=null data.on_missing=last
  odfl data check wide.csv 'data.columns.cost=[north,south]' -o conf/data/wide.yaml
"""
PREVIEW = 5
LOOKED_AT = 1000
WIDEST = 12


def main(arguments: list[str]) -> int:
    """Prints a preview, statistics of every column, the shape and the command; returns the exit code."""
    options = Parser("data check", __doc__ or "", EXAMPLES)
    options.add_argument("file", metavar="FILE", help="a CSV, Parquet or NPZ file")
    options.add_argument(
        "words", nargs="*", default=[], metavar="KEY=VALUE", help="as for odfl run"
    )
    options.add_argument(
        "-o", dest="output", metavar="YAML", type=Path,
        help="remember the keys as a choice of data, such as conf/data/sales.yaml for data=sales",
    )  # fmt: skip
    typed = options.parse_args(arguments)
    path, file = Path(typed.file), f"data.file={quote('data.file', typed.file)}"
    words = ["data=replay", file, *typed.words]
    config = compose_job(words)
    with explain_errors(words):
        keys = {key: value for key, value in plain(config.data).items() if key != "_target_"}
    columns = _validate(Columns, keys.get("columns", {}), "data.columns")
    group = _validate(str | None, keys.get("group"), "data.group")
    _print_preview(preview(path, PREVIEW))
    _print_columns(inspect(path, columns, group))
    try:
        replay = Replay(**keys)
    except ValidationError as error:
        raise refusal(error, "data", Replay) from error
    _print_shape(record(path, columns, replay.group, replay.standardise, replay.on_missing))
    for remark in _look(replay, shared=not any(w.startswith("predictor=") for w in typed.words)):
        print(f"- {shorten(printable(remark))}")
    command = ["odfl", "run", "data=replay", f"data.file={typed.file}", *typed.words]
    if typed.output:
        _write_choice(typed.output, path, config, typed.words)
        folder = typed.output.parent.parent
        command = ["odfl", "run", f"--config-dir={folder}", f"data={typed.output.stem}"]
    print(f"\nusable: {printable(shlex.join(command))}")
    return 0


def _validate(kind: Any, value: Any, key: str) -> Any:
    """The value as this kind; raises a UserError if it is none."""
    try:
        return TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        raise refusal(error, key, kind) from error


def _look(replay: Replay, shared: bool) -> list[str]:
    """Remarks on the first rounds of the first group; `shared`: items share weights."""
    if not replay.offers_all:
        return []
    rounds = min(LOOKED_AT, replay.extent["horizon.rounds"])
    X, costs = replay.rounds(replay.extent["seeds"][:1], 0, rounds)[:2]
    columns = replay.feature_names[: replay.features - replay.intercept]
    return list(look(X[0], transform_costs(replay.target, costs[0]), columns, shared))


def _write_choice(output: Path, file: Path, config: DictConfig, words: list[str]) -> None:
    """Writes a choice of the group data that replays the file with these keys."""
    if output.parent.name != "data" or output.suffix != ".yaml":
        raise UserError(
            f"-o {output}: a choice of data is a file data/NAME.yaml in a folder of yours"
        )
    values = OmegaConf.create({"defaults": ["replay", "_self_"], "file": str(file.absolute())})
    for key in (word.partition("=")[0] for word in words):
        if key.startswith("data."):
            OmegaConf.update(values, key.removeprefix("data."), OmegaConf.select(config, key))
    output.parent.mkdir(parents=True, exist_ok=True)
    with atomic(output) as target:
        target.write(f"# Rounds of {file.name}, as odfl data check found them\n")
        target.write(OmegaConf.to_yaml(values))


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
        rows.append([shorten(name), str(missing), str(infinite), *shown, note])
    print(f"{found.rows} rows\n{table(rows)}")


def _print_shape(recording: Recording) -> None:
    lengths = recording.lengths
    span = f"{min(lengths)}" if len(set(lengths)) == 1 else f"{min(lengths)} to {max(lengths)}"
    print(f"\n{span} rounds, {recording.items} items, {recording.features} features", end="")
    print(f", {len(lengths)} groups" if len(lengths) > 1 else "", end="")
    print(f"; rounds skipped: {recording.skipped}" if recording.skipped else "")
