"""The contract of a decision set."""

from typing import Protocol

import numpy as np

from odfl_cli.core.arrays import Array


class Polytope(Protocol):
    """A bounded polytope W = {w : A w ≤ b, C w = e}.

    A set may also name a `kernel` and its `packed` numbers: see odfl_cli.engine.parts.
    """

    @property
    def dimension(self) -> int:
        """d, the length of a decision."""

    @property
    def face_count(self) -> int:
        """n, the number of inequalities."""

    @property
    def constant_sum(self) -> bool:
        """Whether Σ w_i is the same for all w ∈ W, so that equal predictions change no decision."""

    def minimise(self, costs: Array) -> Array:
        """A vertex in argmin_{w∈W} ⟨costs, w⟩ over the last axis, [..., d]; ties: lowest index."""

    def faces(self) -> tuple[np.ndarray, np.ndarray]:
        """(A [n, d], b [n]) of the inequalities A w ≤ b."""

    def equalities(self) -> tuple[np.ndarray, np.ndarray]:
        """(C [q, d], e [q]) of the equalities C w = e; q may be 0."""

    def interior_point(self) -> np.ndarray:
        """A point strictly inside every face and on every equality, [d]."""

    def contains(self, w: Array, tolerance: float = 1e-9) -> Array:
        """Whether w [..., d] lies in W, [...]."""


def is_simplex(polytope: Polytope) -> bool:
    """Whether W is stated as {w ≥ 0, Σ w_i = 1}."""
    (A, b), (C, e) = polytope.faces(), polytope.equalities()
    nonnegative = np.array_equal(A, -np.eye(polytope.dimension)) and not b.any()
    return nonnegative and len(C) == 1 and bool((C == 1.0).all()) and e[0] == 1.0
