"""The contract of a decision set W = {w : A w ≤ b}."""

from typing import Protocol

import numpy as np

from odfl_cli.arrays import Array


class Polytope(Protocol):
    """A bounded polytope, known to the rest of the package by what is here alone."""

    @property
    def dimension(self) -> int:
        """d, the length of a decision."""

    @property
    def face_count(self) -> int:
        """n, the number of inequalities."""

    def minimise(self, costs: Array) -> Array:
        """argmin_{w∈W} ⟨costs, w⟩ over the last axis, [..., d]; ties go to the lowest index."""

    def faces(self) -> tuple[np.ndarray, np.ndarray]:
        """(A [n, d], b [n]) of the inequalities A w ≤ b."""

    def interior_point(self) -> np.ndarray:
        """A point in the relative interior, [d]."""

    def contains(self, w: Array, tolerance: float = 1e-9) -> Array:
        """Whether w [..., d] lies in W, [...]."""
