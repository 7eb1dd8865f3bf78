"""Means over seeds and how far to trust them."""

import numpy as np
from scipy.special import stdtrit


def mean_ci95(samples: np.ndarray, axis: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Mean and half-width of the 95% Student interval along `axis`; NaN for a single sample."""
    count = samples.shape[axis]
    mean = samples.mean(axis=axis)
    if count < 2:
        return mean, np.full_like(mean, np.nan)
    spread = samples.std(axis=axis, ddof=1) / np.sqrt(count)
    return mean, stdtrit(count - 1, 0.975) * spread
