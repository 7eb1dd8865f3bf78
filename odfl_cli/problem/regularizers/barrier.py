"""A polytope in the form that the log barrier's Newton steps use.

`unpacked` is compiled, by odfl_cli.core.compiling, in newton.py.
"""

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
        first=(touches @ touches.T != 0).argmax(1).astype(np.int64)
        if len(E)
        else np.empty(0, np.int64),
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


def packed(barrier: Barrier) -> tuple[np.ndarray, np.ndarray]:
    """All integers, led by the sizes, and all floats: two arrays are faster to pass than ten."""
    bounds, faces = len(barrier.items), len(barrier.right)
    sizes = (bounds, faces, len(barrier.centre), len(barrier.first), len(barrier.e))
    ints = (sizes, barrier.items, barrier.starts, barrier.first, barrier.rows)
    floats = (
        (barrier.tolerance,),
        barrier.slopes,
        barrier.right,
        barrier.centre,
        barrier.e,
        barrier.values,
    )
    return np.concatenate(ints).astype(np.int64), np.concatenate(floats).astype(np.float64)


def unpacked(ints: np.ndarray, floats: np.ndarray) -> Barrier:
    """The barrier that was packed; its arrays are views."""
    bounds, faces, d, size, equal = ints[0], ints[1], ints[2], ints[3], ints[4]
    starts = 5 + bounds
    first = starts + d + 1
    right = 1 + bounds
    centre = right + faces
    e = centre + d
    return Barrier(
        items=ints[5:starts],
        slopes=floats[1:right],
        right=floats[right:centre],
        starts=ints[starts:first],
        rows=ints[first + size :],
        values=floats[e + equal :],
        first=ints[first : first + size],
        e=floats[e : e + equal],
        centre=floats[centre:e],
        tolerance=floats[0],
    )
