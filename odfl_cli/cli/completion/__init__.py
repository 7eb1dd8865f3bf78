"""`odfl completion SHELL`: prints the completion script of a shell, which calls `query`."""

import sys
from pathlib import Path

from odfl_cli.core.errors import UserError

SHELLS = ("bash", "zsh")
HELP = """Usage: odfl completion bash|zsh

Prints a script for your shell. It completes verbs, paths, the names of sweeps and runs under outputs/, and after `odfl run` groups,
choices and keys, those of your own --config-dir too.

examples:
  eval "$(odfl completion bash)"     in ~/.bashrc
  eval "$(odfl completion zsh)"      in ~/.zshrc
"""


def main(arguments: list[str]) -> int:
    """Prints the script; returns the exit code."""
    match arguments:
        case ["-h" | "--help", *_]:
            print(HELP, end="")
        case [shell] if shell in SHELLS:
            sys.stdout.write((Path(__file__).parent / f"odfl.{shell}").read_text())
        case _:
            raise UserError(f"completion: name your shell, {' or '.join(SHELLS)}")
    return 0
