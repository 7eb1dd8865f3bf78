"""Linear minimisers, compiled: the arithmetic and the ties of odfl_cli.problem.polytopes, to the last bit."""

import numpy as np

from odfl_cli.core.compiling import exact, exact_allocating
from odfl_cli.engine.parts import BOX, BUDGET, KNAPSACK, SHORTEST_PATH, SIMPLEX, VERTICES
from odfl_cli.problem.polytopes.matching import assign
from odfl_cli.problem.polytopes.shortest_path import ROUNDING


@exact
def minimise(polytope, numbers, costs, w):
    """w = a vertex in argmin ⟨costs, w⟩."""
    if polytope == SIMPLEX:
        w[:] = 0.0
        w[cheapest(costs)] = 1.0
    elif polytope == BOX:
        take_bounds(numbers, costs, w)
    elif polytope == BUDGET:
        take_cheapest(int(numbers[0]), costs, w)
    elif polytope == KNAPSACK:
        pack(numbers[0], numbers[1:], costs, w)
    elif polytope == SHORTEST_PATH:
        shortest_path(int(numbers[0]), int(numbers[1]), costs, w)
    elif polytope == VERTICES:
        take_vertex(numbers, costs, w)
    else:
        assign(int(numbers[0]), costs, w)


@exact
def cheapest(costs):
    """The item of least cost; the first of equals."""
    best = 0
    for i in range(1, costs.shape[0]):
        if costs[i] < costs[best]:
            best = i
    return best


@exact
def least(costs):
    """The least cost; without its place, which takes longer to find."""
    lowest = costs[0]
    for i in range(1, costs.shape[0]):
        lowest = min(lowest, costs[i])
    return lowest


@exact
def take_bounds(bounds, costs, w):
    """Upper where the cost is negative, lower elsewhere; `bounds` are −lower, then upper."""
    d = w.shape[0]
    for i in range(d):
        w[i] = bounds[d + i] if costs[i] < 0.0 else -bounds[i]


@exact_allocating
def take_cheapest(k, costs, w):
    """The k items of least cost; of equals, the first."""
    w[:] = 0.0
    for i in np.argsort(costs, kind="mergesort")[:k]:
        w[i] = 1.0


@exact_allocating
def pack(capacity, weights, costs, w):
    """Items of negative cost, the best cost per weight first; the last one that fits in part."""
    packed = 0.0
    for i in np.argsort(costs / weights, kind="mergesort"):
        share = min(max((capacity - packed) / weights[i], 0.0), 1.0)
        w[i] = share if costs[i] < 0.0 else 0.0
        packed += weights[i]


@exact_allocating
def shortest_path(rows, columns, costs, w):
    """Bellman's recursion from the last node back, then the walk; of equals, to the right."""
    to_go = np.zeros(rows * columns)
    goes_right = np.zeros(rows * columns, np.bool_)
    rounding = 0.0
    for cost in costs:
        rounding += ROUNDING * abs(cost)
    for node in range(rows * columns - 2, -1, -1):
        i, j = node // columns, node % columns
        right = i * (2 * columns - 1) + j
        along = costs[right] + to_go[node + 1] if j < columns - 1 else np.inf
        below = costs[right + columns - 1] + to_go[node + columns] if i < rows - 1 else np.inf
        goes_right[node] = i == rows - 1 or (j < columns - 1 and along <= below + rounding)
        to_go[node] = along if goes_right[node] else below
    w[:] = 0.0
    node = 0
    while node < rows * columns - 1:
        right = node // columns * (2 * columns - 1) + node % columns
        w[right if goes_right[node] else right + columns - 1] = 1.0
        node += 1 if goes_right[node] else columns


@exact
def take_vertex(vertices, costs, w):
    """The first of the vertices of least cost; `vertices` are their coordinates, one after another."""
    d, best, chosen = w.shape[0], np.inf, 0
    for start in range(0, vertices.shape[0], d):
        total = 0.0
        for i in range(d):
            total += costs[i] * vertices[start + i]
        if total < best:
            best, chosen = total, start
    for i in range(d):
        w[i] = vertices[chosen + i]
