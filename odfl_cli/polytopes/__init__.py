"""W: the sets of decisions."""

from odfl_cli.polytopes.base import Polytope
from odfl_cli.polytopes.simplex import Simplex

__all__ = ["Polytope", "Simplex"]
