"""The verbs, one module each, imported when they are used."""

from odfl_cli.cli.dispatch import main

__all__ = ["main"]
