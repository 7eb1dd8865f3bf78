"""The verbs, one file each; a verb imports what it uses when it is used."""

from odfl_cli.cli.dispatch import main

__all__ = ["main"]
