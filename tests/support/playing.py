"""Algorithms played round by round, and what they pay in the end."""

from functools import cache

from odfl_cli.runs.simulate import simulate
from support.problems import composed_job

WIDE = 1e6  # a radius that never binds


def play(algorithm, rounds, draws=None):
    """The state after every round."""
    state, states = algorithm.init(rounds.costs.shape[0], None), []
    for t in range(rounds.costs.shape[1]):
        now = {name: values[:, t] for name, values in (draws or {}).items()}
        state = algorithm.update(state, rounds.X[:, t], rounds.costs[:, t], now)
        states.append(state)
    return states


@cache
def final_regret(algo, *overrides):
    """Regret above the round's best per seed, and the mean squared error."""
    table = simulate(composed_job(f"algo={algo}", *overrides)).table
    return table["regret"][:, -1], table["avg_mse"][:, -1]
