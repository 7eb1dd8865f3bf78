"""`odfl data`: check a file of rounds, write one, build an example."""

import sys
from importlib import import_module

from odfl_cli.core.errors import BAD_INPUT, UserError
from odfl_cli.core.text import did_you_mean

USAGE = """odfl data: files of rounds for data=replay

Usage: odfl data check FILE [data.columns.round=NAME data.columns.item=NAME data.group=NAME …]
       odfl data export -o FILE [GROUP=CHOICE …] [KEY=VALUE …]
       odfl data example stocks|electricity -o FILE

  check    what a CSV, Parquet or NPZ file holds, what is wrong with it, and the line that runs it;
           takes the keys that odfl run takes
  export   the rounds of any configuration of odfl run, as CSV or NPZ
  example  a table of real rounds as CSV, from data inside Python packages (the extra examples)
"""


MODULES = {"check": "check", "export": "export_rounds", "example": "example"}


def main(arguments: list[str]) -> int:
    """Dispatches to check, export or example; returns the exit code."""
    match arguments:
        case [] | ["-h" | "--help" | "help", *_]:
            print(USAGE, end="", file=sys.stdout if arguments else sys.stderr)
            return 0 if arguments else BAD_INPUT
        case [verb, *rest] if verb in MODULES:
            return import_module(f"odfl_cli.cli.data.{MODULES[verb]}").main(rest)
    hint = did_you_mean(arguments[0], MODULES)
    raise UserError(f"data {arguments[0]}: there is no such verb; {hint}")
