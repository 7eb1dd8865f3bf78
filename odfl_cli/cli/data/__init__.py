"""`odfl data`: check a file of rounds, or write one."""

import sys
from importlib import import_module

from odfl_cli.core.errors import BAD_INPUT, UserError
from odfl_cli.core.text import did_you_mean

USAGE = """odfl data: files of rounds for data=replay

Usage: odfl data check FILE [data.columns.round=NAME data.columns.item=NAME data.group=NAME …]
       odfl data export -o FILE [GROUP=CHOICE …] [KEY=VALUE …]

  check    what a CSV, Parquet or NPZ file holds, what is wrong with it, and the line that runs it;
           takes the keys that odfl run takes
  export   the rounds of any configuration of odfl run, as CSV or NPZ
"""


MODULES = {"check": "check", "export": "export_rounds"}


def main(arguments: list[str]) -> int:
    """Dispatches to check or export; returns the exit code."""
    match arguments:
        case [] | ["-h" | "--help" | "help", *_]:
            print(USAGE, end="", file=sys.stdout if arguments else sys.stderr)
            return 0 if arguments else BAD_INPUT
        case [verb, *rest] if verb in MODULES:
            return import_module(f"odfl_cli.cli.data.{MODULES[verb]}").main(rest)
        case ["example", *named]:
            name = next(iter(named), "stocks")
            raise UserError(f"data example: this is now odfl data export -o FILE experiment={name}")
    hint = did_you_mean(arguments[0], MODULES)
    raise UserError(f"data {arguments[0]}: there is no such verb; {hint}")
