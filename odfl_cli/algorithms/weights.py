"""Probabilities over a few candidates: exponential weights, and one candidate picked by them."""

from odfl_cli.core.arrays import Array, array_namespace


def exponential_weights(losses: Array, eta: float, prior: Array | float = 1.0) -> Array:
    """p_k ∝ prior_k exp(−η L_k) over the last axis, shifted by the least loss against underflow."""
    xp = array_namespace(losses)
    weights = prior * xp.exp(eta * (xp.min(losses, axis=-1, keepdims=True) - losses))
    return weights / weights.sum(-1)[..., None]


def pick(weights: Array, uniform: Array) -> Array:
    """The k with p_0 + … + p_{k−1} ≤ u < p_0 + … + p_k for weights [S, N] and u [S], [S]."""
    xp = array_namespace(weights)
    summed = xp.cumulative_sum(weights, axis=-1)
    below = summed[:, :-1] <= (uniform * summed[:, -1])[:, None]
    return below.sum(-1)
