"""The log barrier as a differentiable convex program of cvxpylayers."""

import warnings
from collections.abc import Callable

import torch

from odfl_cli.problem.polytopes.linear import Polytope


def build_layer(
    polytope: Polytope, **solver_options: float | str
) -> Callable[[torch.Tensor, float], torch.Tensor]:
    """(ĉ, α) → argmin ⟨ĉ/α, w⟩ − Σ ln(b − A w), C w = e; the program is canonicalised once."""
    with warnings.catch_warnings(action="ignore"):
        import cvxpy as cp
        from cvxpylayers.torch import CvxpyLayer

        (A, b), (C, e) = polytope.faces(), polytope.equalities()
        w, q = cp.Variable(polytope.dimension), cp.Parameter(polytope.dimension)
        program = cp.Problem(
            cp.Minimize(q @ w - cp.sum(cp.log(b - A @ w))), [C @ w == e] if len(C) else []
        )
        layer = CvxpyLayer(program, parameters=[q], variables=[w])

    def smooth(prediction: torch.Tensor, alpha: float) -> torch.Tensor:
        with warnings.catch_warnings(action="ignore"):
            return layer(prediction / alpha, solver_args=solver_options)[0]

    return smooth
