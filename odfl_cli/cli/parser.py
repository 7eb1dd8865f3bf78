"""The command line of a verb."""

import argparse
from typing import NoReturn

from odfl_cli.core.errors import UserError


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
