"""Environments: the features X_t and costs c_t of every round."""

from odfl_cli.environments.base import Environment, KnownLaw, Rounds
from odfl_cli.environments.polynomial import Polynomial
from odfl_cli.environments.replay.environment import Replay
from odfl_cli.environments.sin4 import Sin4
from odfl_cli.environments.terrain import Terrain
