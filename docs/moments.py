"""Runs every algorithm on the worlds of docs/df-moments.md, and makes that page's tables.

`python docs/moments.py run [WORLD …]` computes what docs/data/df_moments.csv lacks; `python
docs/moments.py ablation` the same for docs/data/df_moments_ablation.csv. docs/render.py writes the tables.
"""

import sys
from collections.abc import Callable

import numpy as np
import pandas as pd
from cells import estimate, table
from collect import DATA

from odfl_cli.config.compose import compose_job
from odfl_cli.runs.build import build
from odfl_cli.runs.simulate import simulate

SEEDS = {"fresh": range(70001, 70031), "used": range(80001, 80021), "chosen": range(1000, 1020)}
"""Fixed before they were run; used once by a prototype; those that constants were chosen on."""

REGRET = ["metrics=regret", "metrics.sample=1000", "metrics.bound=false"]
LONG = ["horizon=paper"]
UNCLIPPED = ["data.clip=false", "data.amplitude=1"]
HARD = [*LONG, "data.items=80"]
WORLDS = {
    "K = 5": [*LONG, *REGRET],
    "K = 80": [*HARD, *REGRET],
    "γ = 0, unclipped": [*LONG, "data.gamma=0", "data.clip=false", *REGRET],
    "γ = 0.5, A = 1, T = 1000": ["horizon=short", "data.gamma=0.5", *UNCLIPPED, *REGRET],
    "K = 80, switching": [*HARD, "data.drift=switching"],
    "random walk": [*LONG, "data.drift=random_walk"],
    "periodic": [*LONG, "data.drift=periodic"],
    "linear drift": [*LONG, "data.drift=linear"],
    "knapsack": ["experiment=knapsack"],
    "shortest paths": ["experiment=shortest_path"],
    "positive features": [*LONG, "data.features_law=positive"],
    "positive features, K = 80": [*HARD, "data.features_law=positive"],
    "t₃ features": [*LONG, "data.features_law=student"],
    "condition 900": [*LONG, "data.condition=900"],
    "condition 900, γ = 0": [*LONG, "data.condition=900", "data.gamma=0", "data.clip=false"],
    "reversing tail": [*LONG, "data.link=reversing", *UNCLIPPED],
    "reversing tail, K = 80": [*HARD, "data.link=reversing", *UNCLIPPED],
}
RECORDED = {"stocks": range(1, 11), "electricity": range(1, 2)}
"""Experiments on recorded rounds, and their seeds: the periods of the record."""
WORLDS |= {world: [f"experiment={world}"] for world in RECORDED}
PAPER = ["df_ogd", "df_ftpl", "pf_ogd", "spo"]
LEAST_SQUARES = ["rls", "rls_forgetting", "rls_adaptive"]
OTHERS = [*LEAST_SQUARES, "restart"]
MIXTURES = ["guard", "vote"]
ALGORITHMS = ["df_moments", *PAPER, *OTHERS, *MIXTURES]
ABLATION = {
    "full": [],
    "without the second moment": ["algo.curvature=false"],
    "one memory that forgets nothing": ["algo.memories=[]"],
    "without refinement": ["algo.refine=false"],
    "0 standard errors": ["algo.standard_errors=0"],
    "1 standard error": ["algo.standard_errors=1"],
    "3 standard errors": ["algo.standard_errors=3"],
}
ABLATED = ["K = 5", "K = 80", "K = 80, switching", "γ = 0.5, A = 1, T = 1000", "knapsack"]
COLUMNS = {"avg_cost": "cost", "dynamic_regret": "regret"}


def collect(name: str, jobs: dict[tuple[str, ...], list[str]]) -> None:
    """Runs the jobs that docs/data/NAME.csv lacks; a row is a job's key, a seed and its last values."""
    path, keys = DATA / f"{name}.csv", ["world", "algo", "set"]
    done = pd.read_csv(path) if path.exists() else pd.DataFrame(columns=keys)
    finished = set(done[keys].itertuples(index=False, name=None))
    for key, overrides in jobs.items():
        if key in finished:
            continue
        print(*key, file=sys.stderr, flush=True)
        seeds = RECORDED[key[0]] if key[2] == "recorded" else SEEDS[key[2]]
        rows = finals(overrides, seeds).assign(**dict(zip(keys, key, strict=True)))
        done = pd.concat([done, rows])[[*keys, "seed", "t", *COLUMNS]]
        done.to_csv(path, index=False, float_format="%.6g", lineterminator="\n")


def finals(overrides: list[str], seeds: range) -> pd.DataFrame:
    """The last row of every seed; regret per round."""
    job = build(compose_job([*overrides, f"seeds=[{','.join(map(str, seeds))}]"]))
    columns = simulate(job).table
    missing = np.full_like(columns["avg_cost"], np.nan)
    values = {column: columns.get(column, missing)[:, -1] for column in COLUMNS}
    values["dynamic_regret"] = values["dynamic_regret"] / columns["t"][:, -1]
    return pd.DataFrame({"seed": list(seeds), "t": columns["t"][:, -1].astype(int), **values})


def comparison(worlds: list[str]) -> None:
    """All algorithms on fresh seeds and on those used before."""
    collect(
        "df_moments",
        {
            (world, algo, seeds): [f"algo={algo}", *WORLDS[world]]
            for seeds in ("recorded", "fresh", "used")
            for algo in sorted(ALGORITHMS, key="restart".__eq__)  # the slow one last
            for world in worlds
            if (seeds == "recorded") == (world in RECORDED)
        },
    )


def ablation() -> None:
    """DF-Moments with one rule off, on the seeds that its constants were chosen on."""
    collect(
        "df_moments_ablation",
        {
            (world, variant, "chosen"): ["algo=df_moments", *WORLDS[world], *overrides]
            for world in ABLATED
            for variant, overrides in ABLATION.items()
        },
    )


def comparison_table(seeds: str) -> str:
    """Cost and regret of DF-Moments, and by how much the others exceed it, paired by seed."""
    data = pd.read_csv(DATA / "df_moments.csv")
    data = data[data["set"] == seeds]
    others = [algo for algo in ALGORITHMS[1:] if algo in set(data["algo"])]
    rows = [["world", "df_moments: cost", "regret", *others]]
    for world in [world for world in WORLDS if world in set(data["world"])]:
        part = data[data["world"] == world]
        ours = part[part["algo"] == "df_moments"]
        column, values = by_seed(part)
        regret = estimate(values["df_moments"]) if column == "dynamic_regret" else ""
        gaps = [gap(values, algo, "df_moments") for algo in others]
        rows.append([world, f"{ours['avg_cost'].mean():.4f}", regret, *gaps])
    return table(rows)


def ablation_table() -> str:
    """Regret, or cost, of the full algorithm, and what it costs to leave a rule out, paired by seed."""
    data = pd.read_csv(DATA / "df_moments_ablation.csv")
    worlds = {world: by_seed(data[data["world"] == world]) for world in ABLATED}
    rows = [["variant", *ABLATED]]
    measured = [COLUMNS[column] for column, _ in worlds.values()]
    full = [f"{values['full'].mean():.4f}" for _, values in worlds.values()]
    rows.append(["full", *(f"{what} {x}" for what, x in zip(measured, full, strict=True))])
    for variant in [name for name in ABLATION if name != "full"]:
        rows.append([variant, *(gap(values, variant, "full") for _, values in worlds.values())])
    return table(rows)


def by_seed(data: pd.DataFrame) -> tuple[str, pd.DataFrame]:
    """Regret where it was measured, else the average cost: its column, and a table seed × algo."""
    column = "dynamic_regret" if data["dynamic_regret"].notna().all() else "avg_cost"
    return column, data.pivot(index="seed", columns="algo", values=column)


def gap(values: pd.DataFrame, one: str, other: str) -> str:
    """The paired difference, or nothing where one was not run."""
    return estimate(values[one] - values[other]) if one in values else ""


TABLES: dict[str, Callable[[], str]] = {
    "df-moments-fresh": lambda: comparison_table("fresh"),
    "df-moments-used": lambda: comparison_table("used"),
    "df-moments-ablation": ablation_table,
}


def main(arguments: list[str]) -> None:
    """`run` or `ablation`."""
    match arguments:
        case ["run", *worlds]:
            comparison(worlds or list(WORLDS))
        case ["ablation"]:
            ablation()
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
