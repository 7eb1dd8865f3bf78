"""The contract of a decision set, and a base class for sets given by faces and equalities."""

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Protocol

import numpy as np

from odfl_cli.core.arrays import Array, on_rows
from odfl_cli.core.errors import UserError

SMALLEST_SLACK = 1e-9


class DecisionSet(Protocol):
    """The contract of a decision set W.

    W may be given by its faces, by the answers of a solver, or as a ball. A set that treats all items
    alike, so that any may be missing from a round, has `least_offered`, the number of items that a
    round must offer. A set with its own projection has `project(points)` and
    `project_vjp(points, v)`, [..., d] both, and `interior_point`.
    """

    @property
    def dimension(self) -> int:
        """d, the length of a decision."""

    @property
    def constant_sum(self) -> bool | None:
        """Whether Σ w_i is the same for all w ∈ W, so that a shift of all costs changes nothing; None: unknown."""

    def minimise(self, costs: Array) -> Array:
        """A w in argmin_{w∈W} ⟨costs, w⟩ over the last axis, [..., d]; ties go to the lowest index."""


class Polytope(DecisionSet, Protocol):
    """A bounded polytope W = {w : A w ≤ b, C w = e} with known faces."""

    def faces(self) -> tuple[np.ndarray, np.ndarray]:
        """(A [n, d], b [n]) of the inequalities A w ≤ b."""

    def equalities(self) -> tuple[np.ndarray, np.ndarray]:
        """(C [q, d], e [q]) of the equalities C w = e; q may be 0."""

    def interior_point(self) -> np.ndarray:
        """A point strictly inside every face and on every equality, [d]."""

    def contains(self, w: Array, tolerance: float = 1e-9) -> Array:
        """True where w [..., d] lies in W, [...]."""


def check_faces(polytope: DecisionSet, part: str, instead: str) -> None:
    """Raises a UserError, with what to choose `instead`, if W lacks the faces that `part` needs."""
    if not hasattr(polytope, "faces"):
        words = f"the faces of the set, which {type(polytope).__name__} does not state"
        raise UserError(f"{part} needs {words}; {instead}")


def is_simplex(polytope: DecisionSet) -> bool:
    """True if the faces and equalities of W are those of {w ≥ 0, Σ w_i = 1}."""
    if not hasattr(polytope, "faces") or not hasattr(polytope, "equalities"):
        return False
    (A, b), (C, e) = polytope.faces(), polytope.equalities()
    nonnegative = np.array_equal(A, -np.eye(polytope.dimension)) and not b.any()
    return nonnegative and len(C) == 1 and bool((C == 1.0).all()) and e[0] == 1.0


class LinearSet(ABC):
    """W = {w : A w ≤ b, C w = e}; a subclass defines `faces` and `minimise_rows`."""

    @abstractmethod
    def faces(self) -> tuple[np.ndarray, np.ndarray]:
        """(A [n, d], b [n])."""

    def equalities(self) -> tuple[np.ndarray, np.ndarray]:
        """(C [q, d], e [q]) with independent rows; none by default."""
        return np.zeros((0, self.faces()[0].shape[1])), np.zeros(0)

    @cached_property
    def constant_sum(self) -> bool:
        """True if the equalities imply that Σ w_i is the same for all w ∈ W."""
        C, _ = self.equalities()
        ones = np.ones(C.shape[1])
        return bool(np.allclose(C.T @ np.linalg.lstsq(C.T, ones, rcond=None)[0], ones))

    def minimise(self, costs: Array) -> Array:
        """A vertex in argmin ⟨costs, w⟩ over the last axis, [..., d]."""
        return on_rows(self.minimise_rows, costs)

    def minimise_rows(self, costs: np.ndarray) -> np.ndarray:
        """The same for rows of numpy, [N, d]; each row's answer depends on that row alone."""
        raise NotImplementedError

    def contains(self, w: Array, tolerance: float = 1e-9) -> Array:
        """True where no constraint is violated by more than `tolerance`, [...]."""
        return on_rows(self._violation, w)[..., 0] <= tolerance

    def interior_point(self) -> np.ndarray:
        """The point whose distance to its nearest face is largest, [d]."""
        return self._centre.copy()

    def _violation(self, w: np.ndarray) -> np.ndarray:
        (A, b), (C, e) = self.faces(), self.equalities()
        beyond, off = w @ A.T - b, np.abs(w @ C.T - e)
        return np.max(np.concatenate([beyond, off], axis=1), axis=1, keepdims=True)

    @cached_property
    def _centre(self) -> np.ndarray:
        """max s subject to A_i w + s ‖A_i‖ ≤ b_i and C w = e."""
        from scipy.optimize import linprog

        (A, b), (C, e) = self.faces(), self.equalities()
        wider = np.hstack([A, np.linalg.norm(A, axis=1, keepdims=True)])
        goal, equal = np.append(np.zeros(A.shape[1]), -1.0), np.hstack([C, np.zeros((len(e), 1))])
        solved = linprog(goal, wider, b, equal, e, bounds=(None, None))
        reasons = {2: "the equalities contradict each other", 3: "the set is unbounded"}
        if solved.status != 0:  # s is free: only the equalities can fail
            failure = f"no interior point was found ({solved.message})"
            raise self.refusal(reasons.get(solved.status, failure))
        if (slack := solved.x[-1]) < -SMALLEST_SLACK:
            raise self.refusal("the set is empty")
        if slack <= SMALLEST_SLACK:
            raise self.refusal(
                "no point is strictly inside every face; write faces that always bind as equalities"
            )
        return solved.x[:-1]

    def refusal(self, reason: str) -> UserError:
        """The error for a set that cannot be used."""
        return UserError(f"polytope: {reason}")
