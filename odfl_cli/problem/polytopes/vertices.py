"""The vertices of a set with few faces, in whose list a linear minimiser is a search for the least."""

from itertools import combinations
from math import comb

import numpy as np

MOST_CHOICES = 20_000
"""Choices of faces that are tried, a few microseconds each."""
EXACT = 1e-9
SINGULAR = 1e-9
"""The determinant of rows of length 1 below which they are taken for dependent."""


def vertices_of(A: np.ndarray, b: np.ndarray, C: np.ndarray, e: np.ndarray) -> np.ndarray | None:
    """All vertices of {A w ≤ b, C w = e} [n, d], the last coordinate rising fastest from the largest.

    None where there are too many choices: a vertex lies on the equalities, whose rows are
    independent, and on as many faces as make d of them.
    """
    free = A.shape[1] - len(e)
    if comb(len(b), free) > MOST_CHOICES:
        return None
    rows, right = np.vstack([A, C]), np.concatenate([b, e])
    lengths = np.linalg.norm(rows, axis=1)
    rows, right = rows / lengths[:, None], right / lengths
    equal = tuple(range(len(b), len(right)))
    chosen = np.array([faces + equal for faces in combinations(range(len(b)), free)])
    chosen = chosen[np.abs(np.linalg.det(rows[chosen])) > SINGULAR]
    points = np.linalg.solve(rows[chosen], right[chosen][..., None])[..., 0]
    beyond = points @ rows[: len(b)].T - right[: len(b)]
    inside = points[(beyond <= EXACT * np.maximum(1.0, np.abs(right).max())).all(axis=1)]
    _, first = np.unique(np.round(inside, 9), axis=0, return_index=True)
    return inside[first[::-1]] + 0.0  # no −0


def cheapest_rows(vertices: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """The vertex of least cost for every row of costs [N, d]; the first of equals."""
    totals = np.zeros((len(costs), len(vertices)))
    for i in range(vertices.shape[1]):  # in the kernel's order, so that ties are the same
        totals += costs[:, i, None] * vertices[:, i]
    return vertices[totals.argmin(axis=1)]
