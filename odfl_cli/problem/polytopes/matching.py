"""The cheapest assignment of n workers to n tasks, for one matrix of costs; kernels call it."""

import numpy as np

from odfl_cli.core.compiling import exact


@exact
def assign(n, costs, w):
    """w = a permutation matrix in argmin ⟨costs, w⟩, row after row [n²]; NaN where a cost, or a
    difference of two, is no finite number.

    The Hungarian method: worker after worker is added along the cheapest chain of exchanges, in
    costs less what workers (wage) and tasks (price) account for. Of equals, the first task.
    """
    for cost in costs:
        if not np.isfinite(cost):
            w[:] = np.nan
            return
    wage, price, reduced = np.zeros(n), np.zeros(n + 1), np.empty(n)
    worker = np.full(n + 1, -1)  # of every task; a chain begins at task n, the new worker's
    before = np.empty(n, np.int64)  # of every task, the one before it in the cheapest chain
    reached = np.empty(n + 1, np.bool_)
    for new in range(n):
        worker[n], task = new, n
        reduced[:] = np.inf
        reached[:] = False
        while worker[task] >= 0:
            reached[task] = True
            who, least, following = worker[task], np.inf, 0
            for j in range(n):
                if reached[j]:
                    continue
                cost = costs[who * n + j] - wage[who] - price[j]
                if cost < reduced[j]:
                    reduced[j], before[j] = cost, task
                if reduced[j] < least:
                    least, following = reduced[j], j
            if least == np.inf:  # differences of the costs overflow
                w[:] = np.nan
                return
            for j in range(n + 1):
                if reached[j]:
                    wage[worker[j]] += least
                    price[j] -= least
                elif j < n:
                    reduced[j] -= least
            task = following
        while task != n:
            worker[task] = worker[before[task]]
            task = before[task]
    w[:] = 0.0
    for j in range(n):
        w[worker[j] * n + j] = 1.0
