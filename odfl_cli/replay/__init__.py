"""Rounds from a user's file: reading, checking, standardising, keeping."""

from odfl_cli.replay.columns import Columns
from odfl_cli.replay.recording import Recording, record

__all__ = ["Columns", "Recording", "record"]
