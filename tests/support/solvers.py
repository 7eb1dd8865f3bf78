"""Solvers as users bring them, and independent optima to compare them with."""

import time
from itertools import permutations
from pathlib import Path

import numpy as np

CITIES = 6
EDGES = [(i, j) for i in range(CITIES) for j in range(i + 1, CITIES)]
WEIGHTS = np.random.default_rng(1).integers(3, 9, size=24)
CAPACITY = 40


def edges_of(order: tuple[int, ...]) -> np.ndarray:
    """The edges of a round trip, 1 for those it takes, [15]."""
    legs = {tuple(sorted(leg)) for leg in zip(order, order[1:] + order[:1], strict=True)}
    return np.array([float(edge in legs) for edge in EDGES])


TOURS = np.unique([edges_of((0, *rest)) for rest in permutations(range(1, CITIES))], axis=0)


def tour(costs: np.ndarray) -> np.ndarray:
    """The cheapest round trip, of all of them."""
    return TOURS[(TOURS @ costs).argmin()]


def held_karp(costs: np.ndarray) -> float:
    """The cost of the cheapest round trip, by the dynamic programme of Held and Karp."""
    length = {leg: c for edge, c in zip(EDGES, costs, strict=True) for leg in (edge, edge[::-1])}
    best = {(frozenset([city]), city): length[0, city] for city in range(1, CITIES)}
    for _ in range(CITIES - 2):
        longer: dict = {}
        for (visited, last), cost in best.items():
            for city in set(range(1, CITIES)) - visited:
                key = visited | {city}, city
                longer[key] = min(longer.get(key, np.inf), cost + length[last, city])
        best = longer
    return min(cost + length[last, 0] for (_, last), cost in best.items())


def pack(costs: np.ndarray) -> np.ndarray:
    """The binary knapsack of least cost, by dynamic programming over the capacity, [24]."""
    best = np.zeros(CAPACITY + 1)
    taken = np.zeros((len(WEIGHTS), CAPACITY + 1), dtype=bool)
    for item, weight in enumerate(WEIGHTS):
        packed = np.full(CAPACITY + 1, np.inf)
        packed[weight:] = best[:-weight] + costs[item]
        taken[item] = packed < best
        best = np.where(taken[item], packed, best)
    w, room = np.zeros(len(WEIGHTS)), CAPACITY
    for item in reversed(range(len(WEIGHTS))):
        if taken[item, room]:
            w[item], room = 1.0, room - WEIGHTS[item]
    return w


def pack_rows(costs: np.ndarray) -> np.ndarray:
    """The same for rows."""
    return np.array([pack(row) for row in costs])


def pack_values(values: np.ndarray) -> np.ndarray:
    """The knapsack of largest value."""
    return pack(-values)


def slow(costs: np.ndarray) -> np.ndarray:
    """A solver of 2 ms of processor time."""
    end = time.process_time() + 2e-3
    while time.process_time() < end:
        pass
    return pack(costs)


def sleepy(costs: np.ndarray) -> np.ndarray:
    """A solver that takes 2 ms on a machine that others use, too."""
    time.sleep(2e-3)
    return pack(costs)


def write_knapsack(path: Path, binary: bool = True) -> Path:
    """The knapsack as a model in the LP format."""
    names = [f"x{i}" for i in range(len(WEIGHTS))]
    terms = " + ".join(f"{weight} {name}" for weight, name in zip(WEIGHTS, names, strict=True))
    bounds = "\n".join(f" {name} <= 1" for name in names)
    integer = "general\n " + " ".join(names) if binary else ""
    path.write_text(
        f"min\n obj: x0\nst\n r: {terms} <= {CAPACITY}\nbounds\n{bounds}\n{integer}\nend\n"
    )
    return path


def as_mps(path: Path) -> Path:
    """The model of an .lp file beside it in the MPS format."""
    import highspy

    highs, target = highspy.Highs(), path.with_suffix(".mps")
    highs.setOptionValue("output_flag", False)
    highs.readModel(str(path))
    highs.writeModel(str(target))
    return target
