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
from odfl_cli.environments.terrain import Terrain

__all__ = [
    "Environment",
    "KnownLaw",
    "Polynomial",
    "Replay",
    "Rounds",
    "Sin4",
    "Terrain",
    "known_law",
    "shape_of",
    "switches_of",
]
