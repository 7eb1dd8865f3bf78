"""A small instance of every polytope."""

from odfl_cli.problem.polytopes.assignment import Assignment
from odfl_cli.problem.polytopes.box import Box
from odfl_cli.problem.polytopes.budget import Budget
from odfl_cli.problem.polytopes.knapsack import Knapsack
from odfl_cli.problem.polytopes.linear import Polytope
from odfl_cli.problem.polytopes.shortest_path import ShortestPath
from odfl_cli.problem.polytopes.simplex import Simplex

SETS: dict[str, Polytope] = {
    "simplex": Simplex(dimension=5),
    "box": Box(dimension=4, lower=-1.0, upper=2.0),
    "budget": Budget(dimension=6, k=2),
    "knapsack": Knapsack(dimension=5, capacity=3.0, weights=(1.0, 2.0, 1.5, 1.0, 2.5)),
    "shortest_path": ShortestPath(rows=3, columns=4),
    "assignment": Assignment(size=3),
}
