"""Whole blocks of rounds of the paper's problem, compiled: linear model, simplex, entropy, SGD oracle.

A part that a kernel computes names it, `kernel = "linear"` in its class; an algorithm names the module
here that plays it. A subclass may compute something else, so that it does not inherit the name.
"""

from typing import Any

from odfl_cli.algorithms.base import Algorithm

PAPERS_PROBLEM = {
    "predictor": "linear",
    "polytope": "simplex",
    "regularizer": "entropy",
    "oracle": "sgd",
}
"""The parts of a problem that kernels compute."""


def kernel_of(part: Any) -> str | None:
    """The kernel named by the part's own class, or None."""
    return type(part).__dict__.get("kernel")


def missing_kernel(algorithm: Algorithm) -> str | None:
    """The part of the algorithm or its problem without a kernel; None if all have one."""
    problem = algorithm.problem
    if kernel_of(algorithm) is None:
        return f"algo {type(algorithm).__name__}"
    if getattr(algorithm, "adaptive", False):
        return "algo.step=adaptive"
    if problem.oracle.failure:
        return f"oracle.failure={problem.oracle.failure:g}"
    if problem.beyond_papers:
        return problem.beyond_papers
    for name, kernel in PAPERS_PROBLEM.items():
        part = getattr(problem, name)
        if kernel_of(part) != kernel:
            return f"{name} {type(part).__name__}"
    return None
