"""The constants of the paper's bounds and its lemmas, measured on the rounds of a run."""

import numpy as np

from odfl_cli.core.errors import UserError
from odfl_cli.metrics.theory.margin import fit_margin, margin_sample
from odfl_cli.metrics.theory.sample import Sample, on_the_sphere, slopes
from odfl_cli.metrics.theory.theorems import Constants
from odfl_cli.problem.polytopes import Polytope
from odfl_cli.problem.problem import Problem
from odfl_cli.problem.surrogate import SmoothedCost

DIRECTIONS = 8


def constants_of(sample: Sample) -> Constants:
    """Measured on the sample: G and D_Z are the largest seen, C_0 and β an envelope.

    Margins are taken at ‖θ‖ = R in a few directions, and the worst direction counts. At θ = 0 all
    margins vanish: Assumption 2 holds for no Θ that contains it, as the ball does.
    """
    problem = sample.problem
    directions = on_the_sphere(problem, DIRECTIONS)[:, None, :]
    return Constants(
        diameter=2 * problem.theta_set.radius,
        slope=float(slopes(sample).max()),
        costs=float(np.sqrt((sample.costs**2).sum(-1)).max()),
        suboptimality=problem.regularizer.suboptimality,
        steepness=steepness(problem),
        vertices=longest_vertex(problem.polytope),
        parameters=problem.parameters,
        margin=fit_margin(margin_sample(problem, sample.X, directions)),
    )


def longest_vertex(polytope: Polytope) -> float:
    """max_k ‖v_k‖_1: exact where no vertex has a negative coordinate, else from above."""
    identity = np.eye(polytope.dimension)
    lower = np.diagonal(polytope.minimise(identity))
    if (lower >= 0).all():
        return float(polytope.minimise(-np.ones(polytope.dimension)).sum())
    upper = np.diagonal(polytope.minimise(-identity))
    return float(np.maximum(np.abs(lower), np.abs(upper)).sum())


def steepness(problem: Problem) -> float:
    """A constant with ‖∂w̃_α/∂g‖ ≤ steepness / α; f̃ is Lipschitz with steepness · G · D_Z / α."""
    known = getattr(problem.regularizer, "steepness", None)
    if known is None:
        name = type(problem.regularizer).__name__
        raise UserError(f"no Lipschitz constant is known for regularizer {name}")
    return known


def check_lipschitz(sample: Sample, alpha: float) -> float:
    """The largest ‖∇f̃(θ)‖ / K with K from the round's own ‖∇g‖ and ‖c‖; the lemma says ≤ 1."""
    loss = SmoothedCost(sample.problem, sample.X, sample.costs, np.full((len(sample.X), 1), alpha))
    gradient = np.sqrt((loss.gradient(sample.theta) ** 2).sum(-1))
    costs = np.sqrt((sample.costs**2).sum(-1))
    return _largest(gradient, steepness(sample.problem) * slopes(sample) * costs / alpha)


def check_suboptimality(sample: Sample, alpha: float) -> float:
    """The largest (⟨g, w̃⟩ − min_w ⟨g, w⟩) / (nα), n being ln d with the entropy; ≤ 1 is claimed."""
    problem = sample.problem
    prediction = problem.predictor.predict(sample.theta, sample.X)
    smooth = problem.regularizer.smooth(prediction, np.full((len(prediction), 1), alpha))
    gap = (prediction * (smooth - problem.polytope.minimise(prediction))).sum(-1)
    return _largest(gap, np.full(gap.shape, problem.regularizer.suboptimality * alpha))


def _largest(measured: np.ndarray, allowed: np.ndarray) -> float:
    """The largest ratio; a round that allows nothing must measure nothing."""
    positive = allowed > 0
    rest = np.inf if (measured[~positive] > 0).any() else 0.0
    return float(max(rest, (measured[positive] / allowed[positive]).max(initial=0.0)))
