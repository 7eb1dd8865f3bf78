"""The paper's lemmas on sampled rounds: measured values as a share of the lemma's bound.

`off` makes a premise wrong by that factor: a check that still passes has no power to find an
error of that size.
"""

import numpy as np

from odfl_cli.core.arrays import dot
from odfl_cli.metrics.theory.bound import longest_vertex, measure_constants, steepness
from odfl_cli.metrics.theory.margin import margin_sample
from odfl_cli.metrics.theory.sample import Sample, slopes
from odfl_cli.metrics.theory.theorems import Margin, smoothing_distance
from odfl_cli.problem.offers import mark_missing
from odfl_cli.problem.polytopes.linear import DecisionSet
from odfl_cli.problem.surrogate import SmoothedCost

NODES = 256
"""Values of δ, evenly over [0, 1], in place of its distribution."""


def check_lipschitz(sample: Sample, alpha: float, off: float = 1.0) -> float:
    """The largest ‖∇f̃(θ)‖ / K with K from the round's own ‖∇g‖ and ‖c‖; the lemma says ≤ 1."""
    gradient = np.sqrt((_loss(sample, alpha / off).gradient(sample.theta) ** 2).sum(-1))
    costs = np.sqrt((sample.costs**2).sum(-1))
    return _largest(gradient, steepness(sample.problem) * slopes(sample) * costs / alpha)


def check_suboptimality(sample: Sample, alpha: float, off: float = 1.0) -> float:
    """The largest (⟨g, w̃⟩ − min_w ⟨g, w⟩) / (nα), n being ln d with the entropy; ≤ 1 is claimed."""
    prediction, shift = _shift(sample, alpha * off)
    gap = (prediction * shift).sum(-1)
    return _largest(gap, np.full(gap.shape, sample.problem.regularizer.suboptimality * alpha))


def check_distance(sample: Sample, alpha: float, off: float = 1.0) -> float:
    """The largest ‖w̃ − w*‖_1 ε / (2 n α max_k ‖v_k‖_1), ε being the round's margin; ≤ 1 is claimed."""
    problem = sample.problem
    distance = np.abs(_shift(sample, alpha * off)[1]).sum(-1)
    margins = margin_sample(problem, sample.X, sample.theta)
    allowed = 2 * problem.regularizer.suboptimality * alpha * longest_vertex(problem.polytope)
    return float((distance * margins).max() / allowed)


def check_expected_distance(sample: Sample, alpha: float, off: float = 1.0) -> float:
    """The mean of ‖w̃ − w*‖_1 over the lemma's bound under Assumption 2; ≤ 1 is claimed."""
    distance = np.abs(_shift(sample, alpha * off)[1]).sum(-1)
    return float(distance.mean() / smoothing_distance(measure_constants(sample), np.array(alpha)))


def check_randomised_point(sample: Sample, alpha: float, delta: float | None = None) -> float:
    """The largest |E_δ⟨∇f̃(u), θ − ϑ⟩ − (f̃(θ) − f̃(ϑ))| over the largest |f̃(θ) − f̃(ϑ)|: 0 is claimed.

    u = ϑ + δ(θ − ϑ) with δ ~ U[0, 1], or δ = `delta` always; ϑ is the θ of the next round.
    """
    loss, theta = _loss(sample, alpha), sample.theta
    way = theta - np.roll(theta, -1, axis=0)
    deltas = (np.arange(NODES) + 0.5) / NODES if delta is None else np.array([delta])
    slope = sum((loss.gradient(theta - (1 - d) * way) * way).sum(-1) for d in deltas) / len(deltas)
    difference = loss.value(theta) - loss.value(theta - way)
    return float(np.abs(slope - difference).max() / np.abs(difference).max())


def convexity_gap(sample: Sample, alpha: float, loss: str = "smoothed") -> float:
    """The largest f(½θ + ½θ') − ½f(θ) − ½f(θ'): positive only if f is not convex.

    f is f̃, or with `loss` = "spo" the SPO+ loss, which is convex; θ' is the θ of the next round.
    """
    problem, theta = sample.problem, sample.theta
    other = np.roll(theta, -1, axis=0)

    def value(at: np.ndarray) -> np.ndarray:
        if loss == "smoothed":
            return _loss(sample, alpha).value(at)
        prediction = problem.predictor.predict(at, sample.X)
        return spo_plus_loss(problem.polytope, prediction, sample.costs)

    return float((value((theta + other) / 2) - (value(theta) + value(other)) / 2).max())


def spo_plus_loss(polytope: DecisionSet, prediction: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """ℓ(ĉ, c) = max_w (c − 2ĉ)ᵀw + 2ĉᵀw*(c) − cᵀw*(c), over the last axis."""
    best = polytope.minimise(mark_missing(costs, prediction))
    worst = polytope.minimise(2.0 * prediction - costs)
    return dot(costs - 2.0 * prediction, worst) + dot(2.0 * prediction - costs, best)


def _loss(sample: Sample, alpha: float) -> SmoothedCost:
    return SmoothedCost(*sample[:3], np.full((len(sample.X), 1), alpha))


def _shift(sample: Sample, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """The prediction g, and w̃ − w*, both [N, d]."""
    problem = sample.problem
    prediction = problem.predictor.predict(sample.theta, sample.X)
    smooth = problem.regularizer.smooth(prediction, np.full((len(prediction), 1), alpha))
    return prediction, smooth - problem.polytope.minimise(prediction)


def _largest(measured: np.ndarray, allowed: np.ndarray) -> float:
    """The largest ratio; infinite if a value is positive where the bound is 0."""
    ratio = np.where(measured > 0, np.inf, 0.0)
    return float(np.divide(measured, allowed, out=ratio, where=allowed > 0).max(initial=0.0))


def check_margin(margins: np.ndarray, margin: Margin, grid: int = 40) -> float:
    """The largest ratio of the empirical distribution to the curve over a grid of ε in (0, 1].

    The grid starts at the hundredth smallest margin, so that chance has little effect.
    """
    ordered = np.sort(margins, axis=None)
    smallest = ordered[min(100, len(ordered) - 1)]
    epsilon = np.geomspace(min(smallest, 1.0), 1.0, grid)
    share = np.searchsorted(ordered, epsilon, side="left") / len(ordered)
    return float((share / margin.curve(epsilon)).max())
