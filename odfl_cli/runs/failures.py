"""failed.json: what went wrong with a run, in short; run.log has the traceback."""

import traceback
from datetime import datetime
from pathlib import Path
from typing import Any

from odfl_cli import __version__
from odfl_cli.config.identity import identity
from odfl_cli.core.errors import UserError
from odfl_cli.core.files import write_json
from odfl_cli.results.summary import FAILURE, FORMAT


def one_line(error: BaseException) -> str:
    """What went wrong, without a line break."""
    if isinstance(error, MemoryError):
        return f"out of memory ({error}); fewer seeds or oracle.history=window take less"
    return " ".join(str(error).split()) or type(error).__name__


def first_line(error: BaseException) -> str:
    """The same with the kind of an error that is not the user's."""
    told = one_line(error)
    kind = type(error).__name__
    return told if isinstance(error, UserError | MemoryError) or told == kind else f"{kind}: {told}"


def write_failure(
    directory: Path,
    error: Exception,
    config: dict[str, Any],
    choices: dict[str, str],
    overrides: list[str],
    command: list[str],
) -> None:
    """Leaves failed.json in the run's directory."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{frames[-1].filename}:{frames[-1].lineno} in {frames[-1].name}" if frames else None
    content = {
        "format": FORMAT,
        "error": first_line(error),
        "place": place,
        "when": datetime.now().astimezone().isoformat(timespec="seconds"),
        "job": identity(config),
        "choices": choices,
        "config": config,
        "overrides": overrides,
        "command": command,
        "versions": {"odfl": __version__},
    }
    write_json(directory / FAILURE, content)
