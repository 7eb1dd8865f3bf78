"""Assumption 2 beside the data: how the margins of a run's decisions are distributed."""

from typing import Any

import numpy as np

from odfl_cli.environments import Environment
from odfl_cli.metrics.theory.margin import fit_margin, margin_sample
from odfl_cli.metrics.theory.sample import on_the_sphere, sample_rounds
from odfl_cli.problem.problem import Problem

DIRECTIONS, SAMPLED, POINTS = 8, 1024, 40


def margin_report(
    environment: Environment, problem: Problem, seeds: tuple[int, ...]
) -> dict[str, Any]:
    """The share of margins below ε on a grid, in the worst of a few directions, and its envelope."""
    sample = sample_rounds(environment, problem, seeds, SAMPLED)
    directions = on_the_sphere(problem, DIRECTIONS)[:, None, :]
    margins = np.sort(margin_sample(problem, sample.X, directions), axis=-1)
    fitted = fit_margin(margins)
    if not np.isfinite(fitted.c0):
        return {}
    epsilon = np.geomspace(max(margins[:, 9].min(), 1e-12), margins.max(), POINTS)
    below = [np.searchsorted(row, epsilon, side="right") / row.size for row in margins]
    return {
        "margin": {
            "epsilon": epsilon.tolist(),
            "share": np.max(below, axis=0).tolist(),
            "c0": fitted.c0,
            "beta": fitted.beta,
        }
    }
