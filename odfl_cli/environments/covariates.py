"""Covariates that are not standard normal: made from normal ones, for worlds that are hard to learn."""

import numpy as np

from odfl_cli.core.streams import Draw, draw
from odfl_cli.environments.drift import unit_rows

DEGREES = 3
"""Of freedom of Student's law: the smallest number for which a variance exists."""


def student_scale(
    seeds: tuple[int, ...], name: str, start: int, stop: int, items: int
) -> np.ndarray:
    """√(χ²₃/3), [S, B, K, 1]: normal rows divided by it have a multivariate t law."""
    normals = draw(seeds, f"{name}_scale", Draw("normal", (items, DEGREES)), start, stop)
    return np.sqrt((normals**2).mean(-1))[..., None]


def conditioned(seeds: tuple[int, ...], condition: float, X: np.ndarray) -> np.ndarray:
    """X [S, B, K, p] with a covariance of that condition number between the features.

    The variances are geometric with mean 1, along the axes that a random reflection of each seed
    turns the features to: no scaling of single features undoes it.
    """
    p = X.shape[-1]
    variances = condition ** (-np.arange(p) / max(1, p - 1))
    stretched = X * np.sqrt(variances / variances.mean())
    mirror = unit_rows(draw(seeds, "data/reflection", Draw("normal", (p,))))[:, :, None, :]
    along = (stretched * mirror).sum(-1, keepdims=True)
    return stretched - 2.0 * along * mirror
