"""The task as an algorithm sees it: the parts it may use, and the sizes."""

from dataclasses import dataclass

from odfl_cli.core.arrays import Array
from odfl_cli.problem.ball import Ball
from odfl_cli.problem.oracles import Oracle
from odfl_cli.problem.polytopes import Polytope
from odfl_cli.problem.predictors import Predictor
from odfl_cli.problem.regularizers import Regularizer
from odfl_cli.problem.solver import decide


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Everything fixed before the first round. Of the data it holds the sizes alone."""

    items: int  # d
    features: int  # p
    rounds: int  # T
    theta_set: Ball  # Θ
    predictor: Predictor  # g
    polytope: Polytope  # W
    regularizer: Regularizer  # R
    oracle: Oracle  # O_ξ
    feature_names: tuple[str, ...] = ()  # [p], where the data name them
    kappa: float = 0.0  # by how much a decision may miss the best predicted cost

    def __post_init__(self) -> None:
        self.oracle.check(self.parameters)

    @property
    def parameters(self) -> int:
        """m, the length of θ."""
        return self.predictor.parameter_count(self.items, self.features)

    def decide(self, prediction: Array) -> Array:
        """The decision for predicted costs [..., d]: a minimiser over W, or within κ of one."""
        return decide(self.polytope, prediction, self.kappa)
