"""The tables and the summary that are made from docs/data/df_moments*.csv; see reproduce/moments.py."""

from collections.abc import Callable

import cells
import pandas as pd
from cells import estimate, table
from collect import DATA
from moments import (
    ABLATED,
    ABLATION,
    ALGORITHMS,
    CERTIFIED,
    COLUMNS,
    EXPERTS,
    RIVALS,
    WORLDS,
)


def short_table() -> str:
    """Regret, or cost, of DF-Moments, and the excess of the main rivals, paired by seed."""
    rivals, measured = ["df_ogd", "spo", "rls"], by_world("fresh")
    rows = [["world", "", "df_moments", *rivals]]
    for world in SHOWN:
        column, values = measured[world]
        found = [estimate(values["df_moments"]), *(gap(values, a, "df_moments") for a in rivals)]
        rows.append([world, COLUMNS[column], *found])
    return table(rows)


def comparison_table(seeds: str, algorithms: list[str]) -> str:
    """Cost and regret of DF-Moments, and the excess of others, paired by seed."""
    rows = [["world", "df_moments: cost", "regret", *algorithms]]
    costs, measured = by_world(seeds, "avg_cost"), by_world(seeds)
    for world in measured:
        column, values = measured[world]
        regret = estimate(values["df_moments"]) if column == "dynamic_regret" else ""
        cost = estimate(costs[world][1]["df_moments"])
        rows.append(
            [world, cost, regret, *(gap(values, algo, "df_moments") for algo in algorithms)]
        )
    return table(rows)


def guard_table() -> str:
    """The gain of the guard, and that of its best rival, paired by seed."""
    rows = [["world", "guard − df_moments", "best rival", "best rival − df_moments"]]
    worlds = {
        world: values
        for seeds in ("fresh", "recorded")
        for world, (_, values) in by_world(seeds).items()
    }
    for world, values in worlds.items():
        if "guard" in values:
            best = str(values[RIVALS].mean().idxmin())
            gains = (gap(values, algo, "df_moments") for algo in ("guard", best))
            rows.append([world, next(gains), f"`{best}`", next(gains)])
    return table(rows)


def certificate_table() -> str:
    """The regret of the vote to its best expert of each seed, and its certificate."""
    rows = [
        ["world", "best expert", "vote", "regret to the best expert", "certificate", "its largest"]
    ]
    data = pd.read_csv(DATA / "df_moments.csv").query("set == 'fresh'")
    voted = set(data[data["algo"] == "vote"]["world"])
    for world in [world for world in CERTIFIED if world in voted]:
        part = data[data["world"] == world].pivot(index="seed", columns="algo")
        best, paid = part["avg_cost"][EXPERTS].min(axis=1), part["avg_cost"]["vote"]
        bound = part["certificate"]["vote"]
        cells = (estimate(x) for x in (best, paid, paid - best, bound))
        rows.append([world, *cells, f"{bound.max():.4f}"])
    return table(rows)


def ablation_table() -> str:
    """Regret, or cost, of the full algorithm, and its increase without each rule, paired by seed."""
    data = pd.read_csv(DATA / "df_moments_ablation.csv")
    worlds = {world: by_seed(data[data["world"] == world]) for world in ABLATED}
    rows = [["variant", *ABLATED]]
    measured = [COLUMNS[column] for column, _ in worlds.values()]
    full = [f"{values['full'].mean():.4f}" for _, values in worlds.values()]
    rows.append(["full", *(f"{what} {x}" for what, x in zip(measured, full, strict=True))])
    for variant in [name for name in ABLATION if name != "full"]:
        rows.append([variant, *(gap(values, variant, "full") for _, values in worlds.values())])
    return table(rows)


def by_world(seeds: str, column: str | None = None) -> dict[str, tuple[str, pd.DataFrame]]:
    """`by_seed` of every world that was run on the seeds."""
    data = pd.read_csv(DATA / "df_moments.csv")
    parts = dict(list(data[data["set"] == seeds].groupby("world")))
    return {world: by_seed(parts[world], column) for world in WORLDS if world in parts}


def by_seed(data: pd.DataFrame, column: str | None = None) -> tuple[str, pd.DataFrame]:
    """Regret if it was measured, else the average cost: its column, and a table seed × algo."""
    measured = data["dynamic_regret"].notna().all()
    column = column or ("dynamic_regret" if measured else "avg_cost")
    return column, data.pivot(index="seed", columns="algo", values=column)


def gap(values: pd.DataFrame, one: str, other: str) -> str:
    """The paired difference; empty if one was not run."""
    return cells.gap(values[one], values[other])[0] if one in values else ""


SHOWN = [
    "K = 5",
    "K = 80",
    "K = 80, switching",
    "γ = 0, unclipped",
    "knapsack",
    "reversing tail, K = 80",
]
"""The worlds in the page's own tables; the files have all."""
TABLES: dict[str, Callable[[], str]] = {
    "df-moments": short_table,
    "certificate": certificate_table,
}
FILED: dict[str, Callable[[], str]] = {
    "df-moments": lambda: comparison_table("fresh", ALGORITHMS[1:]),
    "df-moments-recorded": lambda: comparison_table("recorded", ALGORITHMS[1:]),
    "df-moments-ablation": ablation_table,
    "guard": guard_table,
}
