"""The argument parser of the verbs."""

import argparse
from pathlib import Path
from typing import NoReturn

from odfl_cli.core.errors import UserError
from odfl_cli.core.seeds import parse_seeds
from odfl_cli.results.finding import Where, locate_all


class Parser(argparse.ArgumentParser):
    """A parser that raises UserErrors of one line."""

    def __init__(self, verb: str, description: str, examples: str = "") -> None:
        super().__init__(
            prog=f"odfl {verb}",
            description=description,
            epilog=f"examples:\n{examples}" if examples else None,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        self.verb = verb

    def add_runs(self, nargs: str, help: str) -> None:
        """Adds the arguments that select runs."""
        self.add_argument(
            "runs", nargs=nargs, metavar="RUN|SWEEP",
            help=f"a directory, the name of a sweep or a run, or the beginning of a hash; {help}",
        )  # fmt: skip
        self.add_argument(
            "--where", nargs="+", action="extend", default=[], metavar="KEY=VALUE",
            help="only runs with these settings: --where algo=df_ogd,pf_ogd data.gamma=0.5",
        )  # fmt: skip
        self.add_seeds()

    def add_seeds(self) -> None:
        """Adds the option --seeds."""
        self.add_argument(
            "--seeds", type=parse_seeds, nargs="?", const=(), metavar="SEEDS",
            help="the seeds to read, as in 0-19 or 0-9,20; by default those of the last request",
        )  # fmt: skip

    def error(self, message: str) -> NoReturn:
        """Raises a UserError for the command line."""
        raise UserError(f"{self.verb}: {message}; see 'odfl {self.verb} --help'")


def read_selection(arguments: argparse.Namespace) -> tuple[list[Path], Where]:
    """The directories, and the conditions and seeds that select runs."""
    seeds = getattr(arguments, "seeds", None)
    if seeds == ():
        each = "; --each-seed draws a line for each" if "each_seed" in arguments else ""
        raise UserError(f"--seeds: name those to read, as in 0-19{each}")
    return locate_all(arguments.runs), Where.parse(arguments.where, seeds)


def check_output(path: Path, *endings: str, hidden: str = "") -> None:
    """Raises if the file has another ending (`hidden` is accepted, too) or its folder does not exist."""
    if path.suffix not in (*endings, hidden or endings[0]):
        raise UserError(f"{path}: should end in {' or '.join(endings)}")
    if not path.absolute().parent.is_dir():
        raise UserError(f"{path}: there is no directory {path.parent}")
