"""The vertices of a set with few faces, and linear minimisation over their list."""

from itertools import combinations
from math import comb

import numpy as np

MOST_CHOICES, MOST_NUMBERS = 20_000, 2**20
"""The most choices of faces, and numbers in all their systems of equations: about a second."""
AT_ONCE = 2**20  # the number of costs of vertices in memory at once
EXACT, ROUNDING = 1e-9, 1e-12
"""The distance of a vertex beyond a face that is allowed, absolute and relative to the face's terms."""
SINGULAR = 1e-9  # unit rows with a smaller singular value count as dependent


def vertices_of(A: np.ndarray, b: np.ndarray, C: np.ndarray, e: np.ndarray) -> np.ndarray | None:
    """All vertices of {A w ≤ b, C w = e}, [n, d], in descending lexicographic order; None if too many."""
    d, free = A.shape[1], A.shape[1] - len(e)
    choices = comb(len(b), free)
    if choices > MOST_CHOICES or choices * d**2 > MOST_NUMBERS:
        return None
    rows, right = np.vstack([A, C]), np.concatenate([b, e])
    lengths = np.linalg.norm(rows, axis=1)
    rows, right = rows / lengths[:, None], right / lengths
    equal = tuple(range(len(b), len(right)))
    chosen = np.array([faces + equal for faces in combinations(range(len(b)), free)])
    chosen = chosen[np.linalg.svd(rows[chosen], compute_uv=False)[:, -1] > SINGULAR]
    points = np.linalg.solve(rows[chosen], right[chosen][..., None])[..., 0]
    faces = rows[: len(b)].T
    tolerance = np.maximum(EXACT, ROUNDING * (np.abs(points) @ np.abs(faces)))
    inside = points[(points @ faces - right[: len(b)] <= tolerance).all(axis=1)]
    _, first = np.unique(np.round(inside, 9), axis=0, return_index=True)
    return inside[first[::-1]] + 0.0  # no −0


def cheapest_rows(vertices: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """The vertex of least cost, the first among equals, for every row of costs [N, d]."""
    chosen = np.empty(len(costs), dtype=np.int64)
    length = max(1, AT_ONCE // len(vertices))
    for start in range(0, len(costs), length):
        part = costs[start : start + length]
        totals = np.zeros((len(part), len(vertices)))
        for i in range(vertices.shape[1]):  # a product's digits may depend on other rows
            totals += part[:, i, None] * vertices[:, i]
        chosen[start : start + length] = totals.argmin(axis=1)
    return vertices[chosen]
