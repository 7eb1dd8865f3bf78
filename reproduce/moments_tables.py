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
    MIXTURES,
    OTHERS,
    PAPER,
    RIVALS,
    WORLDS,
)


def comparison_table(seeds: str, algorithms: list[str]) -> str:
    """Cost and regret of DF-Moments, and by how much others exceed it, paired by seed."""
    rows = [["world", "df_moments: cost", "regret", *algorithms]]
    costs = by_world(seeds, "avg_cost")
    for world, (column, values) in by_world(seeds).items():
        regret = estimate(values["df_moments"]) if column == "dynamic_regret" else ""
        cost = estimate(costs[world][1]["df_moments"])
        rows.append(
            [world, cost, regret, *(gap(values, algo, "df_moments") for algo in algorithms)]
        )
    return table(rows)


def guard_table() -> str:
    """What the guard gains, and what its best rival would have gained, paired by seed."""
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
    """The vote beside its best expert of each seed: the regret that it had, and what it was sure of."""
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


def summary() -> str:
    """What is found about DF-Moments and features, in one paragraph."""
    worlds = {world: values for world, (_, values) in by_world("fresh").items()}
    features = pd.read_csv(DATA / "features.csv").query("`data.drift` == 'paper'")
    known = pd.read_csv(DATA / "features_references.csv").query(
        "algo == 'clairvoyant' and `data.drift` == 'paper'"
    )
    quadratic = features.query("algo == 'rls' and predictor == 'quadratic'")["avg_cost"]
    five, eighty, switching = (worlds[world] for world in CERTIFIED)
    linear, paths, tail = (
        worlds[world] for world in ("γ = 0, unclipped", "shortest paths", "reversing tail, K = 80")
    )
    return (
        f"On the paper's data with five items DF-OGD and DF-FTPL have a regret of {estimate(five['df_ogd'])} and "
        f"{estimate(five['df_ftpl'])} a round, PF-OGD and SPO+ {estimate(five['pf_ogd'])} and {estimate(five['spo'])}; "
        f"DF-Moments, which has nothing to set, has {estimate(five['df_moments'])}. With eighty items it has "
        f"{estimate(eighty['df_moments'])} where DF-OGD has {estimate(eighty['df_ogd'])}, and where θ* switches it pays "
        f"{gap(switching, 'df_ogd', 'df_moments')} less than DF-OGD. It does not help where costs are linear "
        f"(least squares differs by {gap(linear, 'rls', 'df_moments')}), nor on shortest paths (SPO+: "
        f"{gap(paths, 'spo', 'df_moments')}), stocks and electricity; where the tail of the costs reverses their "
        f"bulk it points the wrong way, and SPO+ pays {gap(tail, 'df_moments', 'spo')} less. Features matter "
        f"more than the learner: least squares with quadratic features pays {estimate(quadratic)} "
        f"where the true parameter of the linear rule, known from the first round, pays "
        f"{estimate(known['avg_cost'])}."
    )


def by_world(seeds: str, column: str | None = None) -> dict[str, tuple[str, pd.DataFrame]]:
    """`by_seed` of every world that was run on the seeds."""
    data = pd.read_csv(DATA / "df_moments.csv")
    parts = dict(list(data[data["set"] == seeds].groupby("world")))
    return {world: by_seed(parts[world], column) for world in WORLDS if world in parts}


def by_seed(data: pd.DataFrame, column: str | None = None) -> tuple[str, pd.DataFrame]:
    """Regret where it was measured, else the average cost: its column, and a table seed × algo."""
    measured = data["dynamic_regret"].notna().all()
    column = column or ("dynamic_regret" if measured else "avg_cost")
    return column, data.pivot(index="seed", columns="algo", values=column)


def gap(values: pd.DataFrame, one: str, other: str) -> str:
    """The paired difference, or nothing where one was not run."""
    return cells.gap(values[one], values[other])[0] if one in values else ""


TABLES: dict[str, Callable[[], str]] = {
    "df-moments-fresh": lambda: comparison_table("fresh", PAPER),
    "df-moments-fresh-others": lambda: comparison_table("fresh", [*OTHERS, *MIXTURES]),
    "df-moments-used": lambda: comparison_table("used", PAPER),
    "df-moments-used-others": lambda: comparison_table("used", [*OTHERS, *MIXTURES]),
    "df-moments-recorded": lambda: comparison_table("recorded", ALGORITHMS[1:]),
    "guard": guard_table,
    "certificate": certificate_table,
    "moments-summary": summary,
    "df-moments-ablation": ablation_table,
}
