"""W: the sets of decisions."""

from odfl_cli.problem.polytopes.assignment import Assignment
from odfl_cli.problem.polytopes.box import Box
from odfl_cli.problem.polytopes.budget import Budget
from odfl_cli.problem.polytopes.custom import Custom
from odfl_cli.problem.polytopes.knapsack import Knapsack
from odfl_cli.problem.polytopes.linear import Polytope, is_simplex
from odfl_cli.problem.polytopes.shortest_path import ShortestPath
from odfl_cli.problem.polytopes.simplex import Simplex
