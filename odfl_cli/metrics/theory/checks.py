"""The paper's lemmas on sampled rounds: the largest measured share of what they allow."""

import numpy as np

from odfl_cli.metrics.theory.sample import Sample, slopes
from odfl_cli.metrics.theory.steepness import steepness
from odfl_cli.problem.surrogate import SmoothedCost


def check_lipschitz(sample: Sample, alpha: float) -> float:
    """The largest ‖∇f̃(θ)‖ / K with K from the round's own ‖∇g‖ and ‖c‖; the lemma says ≤ 1."""
    loss = SmoothedCost(sample.problem, sample.X, sample.costs, np.full((len(sample.X), 1), alpha))
    gradient = np.sqrt((loss.gradient(sample.theta) ** 2).sum(-1))
    costs = np.sqrt((sample.costs**2).sum(-1))
    return _largest(
        gradient, steepness(sample.problem.regularizer) * slopes(sample) * costs / alpha
    )


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
