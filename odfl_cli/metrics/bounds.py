"""The theorem's bound beside the measured regret, with the run's own constants."""

import numpy as np

from odfl_cli.algorithms import DFFTPL, DFOGD, Algorithm
from odfl_cli.errors import UserError
from odfl_cli.metrics.hindsight import PlayedRounds
from odfl_cli.problem import Problem
from odfl_cli.theory.bounds import Constants, df_ftpl_bound, df_ogd_bound
from odfl_cli.theory.constants import constants_of
from odfl_cli.theory.sample import Sample, on_the_sphere

SAMPLED = 256  # rounds at most that the constants are measured on


def bound(
    algorithm: Algorithm, played: PlayedRounds, t: np.ndarray, notes: dict[str, np.ndarray]
) -> np.ndarray:
    """What the regret up to the rounds t may be at most, [S, E]; NaN where no theorem speaks.

    A seed's constants are measured on its own rounds, so that it does not see the other seeds.
    """
    nothing = np.full((played.seeds, len(t)), np.nan)
    if not isinstance(algorithm, DFOGD | DFFTPL):
        return nothing
    try:
        measured = [
            measured_constants(algorithm.problem, played, row) for row in range(played.seeds)
        ]
    except UserError:  # a regulariser of the user's own, whose Lipschitz constant nobody knows
        return nothing
    theorem = df_ogd_bound if isinstance(algorithm, DFOGD) else df_ftpl_bound
    names = [name for name in ("alpha", "eta", "path_length") if name in notes]
    average = [
        theorem(of_seed, t, *(notes[name][row] for name in names))
        for row, of_seed in enumerate(measured)
    ]
    return t * np.stack(average)


def measured_constants(problem: Problem, played: PlayedRounds, row: int) -> Constants:
    """On rounds of seed number `row`, evenly spread over the run."""
    X, costs = played.evenly(row, SAMPLED)
    return constants_of(Sample(problem, X, costs, on_the_sphere(problem, len(X))))
