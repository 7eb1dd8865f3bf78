"""What an algorithm is told of the task: the parts it may use, and the sizes."""

from dataclasses import dataclass, field

from odfl_cli.problem.ball import Ball
from odfl_cli.problem.belief import Belief
from odfl_cli.problem.oracles import Oracle
from odfl_cli.problem.polytopes import Polytope
from odfl_cli.problem.predictors import Predictor
from odfl_cli.problem.regularizers import Regularizer
from odfl_cli.problem.solver import Solver


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Everything fixed before the first round. Of the data it holds the shape alone."""

    items: int  # d
    features: int  # p
    rounds: int  # T
    theta_set: Ball  # Θ
    predictor: Predictor  # g
    polytope: Polytope  # W
    regularizer: Regularizer  # R
    oracle: Oracle  # O_ξ
    solver: Solver = field(default_factory=Solver)  # κ
    belief: Belief = field(default_factory=Belief)

    def __post_init__(self) -> None:
        self.oracle.check(self.parameters)

    @property
    def parameters(self) -> int:
        """m, the length of θ."""
        return self.predictor.parameter_count(self.items, self.features)
