"""What the command lines of the verbs have in common."""

import argparse
from typing import NoReturn

from odfl_cli.core.errors import UserError
from odfl_cli.results.selection import located


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

    def add_runs(self, nargs: str, help: str, check: bool = True) -> None:
        """The directories of the runs that a verb takes, and the conditions that they must meet.

        Without `check` they are the words as typed.
        """
        self.add_argument(
            "runs", nargs=nargs, type=located if check else str, metavar="RUN|SWEEP",
            help=f"a directory, the name of a sweep or a run, or the beginning of a hash; {help}",
        )  # fmt: skip
        self.add_argument(
            "--where", nargs="+", action="extend", default=[], metavar="KEY=VALUE",
            help="only runs with these settings: --where algo=df_ogd,pf_ogd data.gamma=0.5",
        )  # fmt: skip

    def error(self, message: str) -> NoReturn:
        """Refuses the command line."""
        raise UserError(f"{self.verb}: {message}; see 'odfl {self.verb} --help'")
