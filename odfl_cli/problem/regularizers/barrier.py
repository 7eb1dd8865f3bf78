"""A polytope as the log barrier's Newton steps take it."""

from typing import NamedTuple

import numpy as np

from odfl_cli.problem.polytopes import Polytope


class Barrier(NamedTuple):
    """Faces that touch one item (bounds), and E = [C; G] of the equalities C w = e and other faces G.

    E comes by columns: its entries of item j are starts[j] … starts[j + 1], top to bottom.
    """

    items: np.ndarray  # of every bound, the item
    slopes: np.ndarray  # and its coefficient
    right: np.ndarray  # b of A w ≤ b: bounds first, then G
    starts: np.ndarray
    rows: np.ndarray
    values: np.ndarray
    first: np.ndarray  # of every row of E Eᵀ, the first column that is not zero
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
    column, row = np.nonzero(E.T)
    touches = (E != 0).astype(np.int64)
    return Barrier(
        items=items.astype(np.int64),
        slopes=bounds[bound, items],
        right=np.concatenate([b[is_bound], b[~is_bound]]),
        starts=np.searchsorted(column, np.arange(E.shape[1] + 1)).astype(np.int64),
        rows=row.astype(np.int64),
        values=E[row, column],
        first=(touches @ touches.T != 0).argmax(1).astype(np.int64) if len(E) else _none(np.int64),
        e=np.array(e, dtype=np.float64),
        centre=np.array(polytope.interior_point(), dtype=np.float64),
        tolerance=tolerance,
    )


def bounded_faces(polytope: Polytope) -> tuple[np.ndarray, np.ndarray]:
    """The polytope's faces, and a lower bound for every item that has none of its own.

    Newton's steps divide by what bounds add to the Hessian. A bound that is added is as far below
    the item's least value as that is below its largest, so it is redundant and weighs little.
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


def packed(barrier: Barrier) -> tuple[np.ndarray, np.ndarray]:
    """All whole numbers, led by the sizes, and all real ones: kernels pass two arrays fast, not ten.

    `unpacked` in odfl_cli.problem.regularizers.newton takes them apart again.
    """
    bounds, faces = len(barrier.items), len(barrier.right)
    sizes = (bounds, faces, len(barrier.centre), len(barrier.first), len(barrier.e))
    whole = (sizes, barrier.items, barrier.starts, barrier.first, barrier.rows)
    real = (
        (barrier.tolerance,),
        barrier.slopes,
        barrier.right,
        barrier.centre,
        barrier.e,
        barrier.values,
    )
    return np.concatenate(whole).astype(np.int64), np.concatenate(real).astype(np.float64)


def _none(kind: type) -> np.ndarray:
    return np.empty(0, dtype=kind)
