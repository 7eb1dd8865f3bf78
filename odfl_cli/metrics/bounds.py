"""The theorem's bound beside the measured regret, with the run's own constants."""

import numpy as np

from odfl_cli.algorithms import DFFTPL, DFOGD, Algorithm
from odfl_cli.environments import Environment
from odfl_cli.errors import UserError
from odfl_cli.theory.bounds import df_ftpl_bound, df_ogd_bound
from odfl_cli.theory.constants import constants

SAMPLED = 256  # rounds that the constants are measured on


def bound(
    environment: Environment,
    algorithm: Algorithm,
    seeds: tuple[int, ...],
    t: np.ndarray,
    notes: dict[str, np.ndarray],
) -> np.ndarray:
    """What the regret up to the rounds t may be at most, [S, E]; NaN where no theorem speaks.

    A seed's constants are measured on its own rounds, so that it does not see the other seeds.
    """
    nothing = np.full((len(seeds), len(t)), np.nan)
    if not isinstance(algorithm, DFOGD | DFFTPL):
        return nothing
    try:
        measured = [constants(environment, algorithm.problem, (seed,), SAMPLED) for seed in seeds]
    except UserError:  # a regulariser of the user's own, whose Lipschitz constant nobody knows
        return nothing
    theorem = df_ogd_bound if isinstance(algorithm, DFOGD) else df_ftpl_bound
    names = [name for name in ("alpha", "eta", "path_length") if name in notes]
    average = [
        theorem(of_seed, t, *(notes[name][row] for name in names))
        for row, of_seed in enumerate(measured)
    ]
    return t * np.stack(average)
