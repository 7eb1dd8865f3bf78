"""The least a run of `odfl` can take: import hydra and numpy, draw normals, write the CSVs."""

import csv
import sys
from pathlib import Path

import hydra  # noqa: F401  the cost of the command line
import numpy as np

COLUMNS = ("t", "cost", "avg_cost", "mse", "avg_mse", "best_cost", "regret")


def main(rounds: int, rows: int, seeds: int, normals: int, directory: Path) -> None:
    """Draws `normals` a round and writes `rows` rounds, for each of `seeds` seeds."""
    for seed in range(seeds):
        drawn = np.random.default_rng(seed).standard_normal((rounds, normals))
        costs = drawn[:: max(1, rounds // rows), 0][:rows].tolist()
        with open(directory / f"seed-{seed}.csv", "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            writer.writerows([t, *[cost] * (len(COLUMNS) - 1)] for t, cost in enumerate(costs, 1))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:5]), Path(sys.argv[5]))
