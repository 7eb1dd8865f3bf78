"""Sums over all rounds of what is known at some of them."""

import numpy as np


def sum_up_to(t: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Σ_{s≤t} y_s at rounds t [E], of which the first is 1, for values [..., E] of y there.

    Between two of the rounds y counts as linear (the trapezoid rule for sums), so that the sum is
    exact where all rounds are given.
    """
    gaps = np.diff(t)
    low, high = values[..., :-1], values[..., 1:]
    pieces = 0.5 * (gaps * (low + high) + (high - low))
    return np.cumsum(np.concatenate([values[..., :1], pieces], axis=-1), axis=-1)


def rounds_nearest(t: np.ndarray, size: int) -> np.ndarray:
    """How many of `size` instants, even over all rounds, lie nearest to each of the rounds t, [E]."""
    instants = np.linspace(t[0], t[-1], size)
    nearest = np.searchsorted((t[1:] + t[:-1]) / 2, instants)
    return np.bincount(nearest, minlength=len(t))
