"""How fast a smoothed decision can turn: ‖∂w̃_α/∂g‖ ≤ steepness / α in operator norm."""

from functools import singledispatch

import numpy as np

from odfl_cli.core.errors import UserError
from odfl_cli.problem.regularizers import Entropy, LogBarrier, Quadratic, Regularizer


@singledispatch
def steepness(regularizer: Regularizer) -> float:
    """The constant of a regulariser; f̃ is Lipschitz with steepness · G · D_Z / α."""
    raise UserError(f"no Lipschitz constant is known for regularizer {type(regularizer).__name__}")


@steepness.register
def _entropy(regularizer: Entropy) -> float:
    """5/4, as in the paper's lemma on the simplex (½ would do)."""
    return 1.25


@steepness.register
def _quadratic(regularizer: Quadratic) -> float:
    """1: a projection moves no farther than its argument."""
    return 1.0


@steepness.register
def _log_barrier(regularizer: LogBarrier) -> float:
    """sup_{w∈W} ‖b − A w‖²_∞ / λ_min(AᵀA), λ_min over the directions that the equalities leave.

    The lemma's statement lost the square, its proof has it.
    """
    polytope = regularizer.polytope
    A, b = polytope.faces()
    slack = (b - (A * polytope.minimise(A)).sum(-1)).max()
    free = A @ _directions(polytope.equalities()[0])
    return float(slack**2 / np.linalg.eigvalsh(free.T @ free).min())


def _directions(C: np.ndarray) -> np.ndarray:
    """An orthonormal basis of {v : C v = 0}, [d, d − rank C]."""
    _, sizes, basis = np.linalg.svd(C, full_matrices=True)
    rank = int((sizes > 1e-10 * sizes.max(initial=0.0)).sum())
    return basis[rank:].T
