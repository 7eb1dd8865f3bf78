"""A kernel of the minimisers alone, kept on disk as those of the algorithms that call them."""

from odfl_cli.core.compiling import kernel
from odfl_cli.core.signatures import f8, i8, void
from odfl_cli.engine.kernels.polytopes import minimise


@kernel(void(i8, f8[::1], f8[::1], f8[::1]))
def minimiser(polytope, numbers, costs, w):
    """w = a vertex in argmin ⟨costs, w⟩."""
    minimise(polytope, numbers, costs, w)
