"""References for `experiment=terrain` that do not learn, and a map with paths of an early and a late network.

`python reproduce/terrain.py` writes docs/data/terrain_constant.csv and outputs/figures/terrain/map.png.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from collect import write
from height_maps import EdgeNet, Terrain

from odfl_cli import run
from odfl_cli.problem.polytopes.shortest_path import ShortestPath

SEEDS, ROUNDS, EARLY = 10, 1000, 20
CONSTANT, BEST = "best constant path in hindsight", "best path of every round"
FIGURE = Path(__file__).parents[1] / "outputs" / "figures" / "terrain" / "map.png"
JOB = ("polytope=shortest_path", "regularizer=log_barrier")
SHOWN = {f"after {EARLY} rounds": "#D55E00", f"after {ROUNDS} rounds": "#0072B2", "best": "#000000"}


def main() -> None:
    """Writes both files."""
    write(references(), "terrain_constant")
    draw_map()


def references() -> pd.DataFrame:
    """The average costs of two policies that know the costs, for every seed."""
    world, paths = Terrain(), ShortestPath(rows=5, columns=5)
    rows = []
    for seed in range(SEEDS):
        costs = world.rounds((seed,), 0, ROUNDS).costs[0]
        fixed, free = paths.minimise(costs.mean(0)), paths.minimise(costs)
        for algo, decision in ((CONSTANT, fixed), (BEST, free)):
            paid = float((costs * decision).sum(-1).mean())
            rows.append({"algo": algo, "seed": seed, "t": ROUNDS, "avg_cost": paid})
    return pd.DataFrame(rows)


def draw_map() -> None:
    """Draws a map that was not played, with SPO+'s early and late path and the best one."""
    world, paths = Terrain(noise_width=0.0), ShortestPath(rows=5, columns=5)
    X, costs = (values[0, 0] for values in world.rounds((0,), ROUNDS, ROUNDS + 1))
    chosen = [paths.minimise(predict(rounds, X)) for rounds in (EARLY, ROUNDS)]
    chosen.append(paths.minimise(costs))
    figure, axes = plt.subplots(figsize=(4.2, 3.6), layout="constrained")
    shown = axes.imshow(X, cmap="gist_earth", vmin=-2.5, vmax=2.5)
    figure.colorbar(shown, ax=axes, label="height")
    for place, ((label, colour), path) in enumerate(zip(SHOWN.items(), chosen, strict=True)):
        line = np.array(nodes(paths, path)) * world.pixels + 0.25 * (place - 1)
        paid = f"{label}: costs {costs @ path:.1f}"
        axes.plot(
            line[:, 1], line[:, 0], color=colour, lw=2, ls=("-", "--", ":")[place], label=paid
        )
    axes.set(xticks=[], yticks=[])
    axes.set_title("A new map, and the paths of SPO+ with a network", fontsize=9)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.02), fontsize=8)
    FIGURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(FIGURE, dpi=200)
    edges = pd.DataFrame(dict(zip(SHOWN, chosen, strict=True))).assign(cost=costs)
    edges.to_csv(FIGURE.with_suffix(".csv"), index_label="edge", float_format="%.6g")


def predict(rounds: int, X: np.ndarray) -> np.ndarray:
    """The prediction of the network of seed 0 for the map after `rounds` rounds."""
    sizes = {"horizon": {"rounds": rounds}, "seeds": 1, "theta_radius": 10}
    module = run(
        *JOB, data=Terrain(), predictor=EdgeNet, algo="spo", progress=False, **sizes
    ).module(0)
    return module(torch.from_numpy(X)).detach().numpy()


def nodes(paths: ShortestPath, path: np.ndarray) -> list[tuple[int, int]]:
    """The nodes that a path visits, as rows and columns of the grid."""
    right, _ = paths._edges
    node, visited = 0, [(0, 0)]
    while node < paths.rows * paths.columns - 1:
        along = right[node] >= 0 and path[right[node]] > 0.5
        node += 1 if along else paths.columns
        visited.append(divmod(node, paths.columns))
    return visited


if __name__ == "__main__":
    main()
