from odfl_cli.environments.base import (
    Environment,
    KnownLaw,
    Rounds,
    known_law,
    shape_of,
    switches_of,
)
from odfl_cli.environments.polynomial import Polynomial
from odfl_cli.environments.replay.environment import Replay
from odfl_cli.environments.sin4 import Sin4

__all__ = [
    "Environment",
    "KnownLaw",
    "Polynomial",
    "Replay",
    "Rounds",
    "Sin4",
    "known_law",
    "shape_of",
    "switches_of",
]
