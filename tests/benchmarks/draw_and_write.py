"""The least a run of `odfl` can take: import hydra and numpy, draw the data, write the CSVs."""

import sys
from pathlib import Path

import hydra  # noqa: F401  the cost of the command line
import numpy as np

from odfl_cli.environments import Sin4
from odfl_cli.runs.records import write_seed

COLUMNS = ("t", "cost", "avg_cost", "mse", "avg_mse", "best_cost", "regret")


def main(rounds: int, rows: int, seeds: int, block: int, directory: Path) -> None:
    """Draws all rounds in blocks and writes `rows` of them, of `seeds` seeds."""
    environment, numbers = Sin4(), tuple(range(seeds))
    drawn = []
    for start in range(0, rounds, block):
        drawn.append(environment.rounds(numbers, start, min(start + block, rounds)).costs[..., 0])
    costs = np.concatenate(drawn, axis=1)[:, :: max(1, rounds // rows)][:, :rows]
    table = dict.fromkeys(COLUMNS, costs) | {"t": np.broadcast_to(np.arange(rows), (seeds, rows))}
    for row, seed in enumerate(numbers):
        write_seed(directory, seed, table, row)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:5]), Path(sys.argv[5]))
