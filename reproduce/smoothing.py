"""A knapsack given only by a solver, and the commands for "What it costs" in docs/your-solver.md.

Shortest paths of 4×4 nodes, with the log barrier and with 64 draws of `perturbed` (8 draws: `regularizer.samples=8`).
Constants were chosen on seeds 1000 to 1002, from 12 settings for the barrier and 26 for `perturbed`:

    PATHS="data=polynomial data.items=24 polytope=shortest_path polytope.rows=4 polytope.columns=4
           horizon.rounds=500 theta_radius=10 seeds=10"
    odfl run $PATHS regularizer=log_barrier algo.c_alpha=0.1 algo.c_eta=1
    odfl run $PATHS regularizer=perturbed regularizer.samples=64 algo.c_alpha=0.3 algo.c_eta=0.1

A binary knapsack with a wrong model (`data.degree=4`, the default), started in this folder:

    SACK="data=polynomial data.items=24 data.maximise=true polytope=solver polytope.solve=smoothing.solve
          polytope.batch=true horizon.rounds=300 theta_radius=10 seeds=10"
    odfl run $SACK algo=pf_ogd algo.eta=0.01
    odfl run $SACK algo=df_ogd algo.c_alpha=1 algo.c_eta=0.3 regularizer.samples=32
"""

import numpy as np

WEIGHTS, CAPACITY = np.random.default_rng(1).integers(3, 9, size=24), 40


def solve(costs: np.ndarray) -> np.ndarray:
    """A best packing [n, 24] for each row of costs [n, 24], by dynamic programming."""
    n = len(costs)
    best, taken = np.zeros((n, CAPACITY + 1)), np.zeros((24, n, CAPACITY + 1), dtype=bool)
    for i, weight in enumerate(WEIGHTS):
        packed = np.full((n, CAPACITY + 1), np.inf)
        packed[:, weight:] = best[:, :-weight] + costs[:, i, None]
        taken[i] = packed < best
        best = np.where(taken[i], packed, best)
    w, room = np.zeros((n, 24)), np.full(n, CAPACITY)
    for i in reversed(range(24)):
        w[:, i] = taken[i, np.arange(n), room]
        room = room - (w[:, i] * WEIGHTS[i]).astype(int)
    return w
