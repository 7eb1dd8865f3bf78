"""W: the sets of decisions."""

from odfl_cli.polytopes.assignment import Assignment
from odfl_cli.polytopes.base import Polytope
from odfl_cli.polytopes.box import Box
from odfl_cli.polytopes.budget import Budget
from odfl_cli.polytopes.custom import Custom
from odfl_cli.polytopes.knapsack import Knapsack
from odfl_cli.polytopes.shortest_path import ShortestPath
from odfl_cli.polytopes.simplex import Simplex

__all__ = [
    "Assignment",
    "Box",
    "Budget",
    "Custom",
    "Knapsack",
    "Polytope",
    "ShortestPath",
    "Simplex",
]
