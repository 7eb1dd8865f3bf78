"""What the verbs' command lines have in common."""

import sys
from pathlib import Path

from odfl_cli.core.errors import UserError

OUTPUTS = Path("outputs")


def located(name: str, kind: str) -> Path:
    """A directory as given, or outputs/<kind>/<name> for short."""
    for path in (Path(name), OUTPUTS / kind / name):
        if path.is_dir():
            return path
    raise UserError(f"{name}: no such directory, nor is there {OUTPUTS / kind / name}")


def warn(line: str) -> None:
    """A line on stderr that stops nothing."""
    print(f"odfl: {line}", file=sys.stderr)
