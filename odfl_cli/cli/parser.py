"""What the command lines of the verbs have in common."""

import argparse
import os
from pathlib import Path
from typing import NoReturn

from odfl_cli.core.errors import UserError

OUTPUTS = Path("outputs")


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are one line."""

    def __init__(self, verb: str, description: str, examples: str = "") -> None:
        super().__init__(
            prog=f"odfl {verb}",
            description=description,
            epilog=f"examples:\n{examples}" if examples else None,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        self.verb = verb

    def error(self, message: str) -> NoReturn:
        """Refuses the command line."""
        raise UserError(f"{self.verb}: {message}; see 'odfl {self.verb} --help'")


def located(name: str, kind: str) -> Path:
    """A directory as given, or outputs/<kind>/<name> for short."""
    for path in (Path(name), OUTPUTS / kind / name):
        if os.path.isdir(path):  # a name that is too long is none
            return path
    raise UserError(f"{name}: no such directory, nor is there {OUTPUTS / kind / name}")
