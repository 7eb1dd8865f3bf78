"""A polytope in the form that the log barrier's Newton steps use."""

from typing import NamedTuple

import numpy as np

from odfl_cli.problem.polytopes import Polytope


class Barrier(NamedTuple):
    """Faces that touch one item (bounds), and E = [C; G] of the equalities C w = e and other faces G.

    Row i of E has its entries at starts[i] … starts[i + 1]. E D⁻¹ Eᵀ is not zero, on the diagonal and
    below, at the places (row[k], column[k]); there it is the sum of term_values[a] / D of term_items[a],
    a from terms[k] to terms[k + 1].
    """

    items: np.ndarray  # of every bound, the item
    slopes: np.ndarray  # and its coefficient
    right: np.ndarray  # b of A w ≤ b: bounds first, then G
    starts: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    first: np.ndarray  # of every row of E D⁻¹ Eᵀ, the first column that is not zero
    row: np.ndarray
    column: np.ndarray
    terms: np.ndarray
    term_items: np.ndarray
    term_values: np.ndarray
    e: np.ndarray
    centre: np.ndarray  # where Newton starts, strictly inside
    tolerance: float


def barrier_of(polytope: Polytope, tolerance: float) -> Barrier:
    """The polytope's faces and equalities, sorted and compressed."""
    (A, b), (C, e) = bounded_faces(polytope), polytope.equalities()
    is_bound = (A != 0).sum(1) == 1
    bounds, G = A[is_bound], A[~is_bound]
    bound, items = np.nonzero(bounds)
    E = np.vstack([C, G])
    rows, columns = np.nonzero(E)
    meetings = [np.argwhere(E[: i + 1] * E[i]) for i in range(len(E))]
    row = np.repeat(np.arange(len(E)), [len(with_earlier) for with_earlier in meetings])
    column, term_items = np.concatenate([np.empty((0, 2), np.int64), *meetings]).T
    new = np.flatnonzero(np.diff(row * len(E) + column, prepend=-1))
    return Barrier(
        items=np.ascontiguousarray(items),
        slopes=bounds[bound, items],
        right=np.concatenate([b[is_bound], b[~is_bound]]),
        starts=np.searchsorted(rows, np.arange(len(E) + 1)),
        columns=np.ascontiguousarray(columns),
        values=E[rows, columns],
        first=np.array([with_earlier[:1, 0].sum() for with_earlier in meetings], np.int64),
        row=row[new],
        column=column[new],
        terms=np.append(new, len(row)),
        term_items=np.ascontiguousarray(term_items),
        term_values=E[row, term_items] * E[column, term_items],
        e=np.array(e, dtype=np.float64),
        centre=np.array(polytope.interior_point(), dtype=np.float64),
        tolerance=tolerance,
    )


def bounded_faces(polytope: Polytope) -> tuple[np.ndarray, np.ndarray]:
    """The polytope's faces, and a lower bound for every item that has none of its own.

    Newton's steps divide by what bounds add to the Hessian. An added bound is as far below the
    item's least value as that is below its largest, so it is redundant and changes w̃ little.
    """
    A, b = polytope.faces()
    bare = np.flatnonzero(~(A[(A != 0).sum(1) == 1] != 0).any(0))
    if not len(bare):
        return A, b
    units = np.eye(polytope.dimension)[bare]
    lowest, largest = (
        np.take_along_axis(polytope.minimise(sign * units), bare[:, None], axis=1)[:, 0]
        for sign in (1.0, -1.0)
    )
    extent = np.where(largest > lowest, largest - lowest, 1.0)
    return np.vstack([A, -units]), np.concatenate([b, extent - lowest])
