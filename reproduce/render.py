"""Writes the tables of measured results into README.md and docs/*.md.

A table stands between `<!-- results:NAME -->` and `<!-- /results:NAME -->` and is made from a file in
docs/data, so that no number in it is typed by hand. `python reproduce/render.py` writes all of them.
"""

import json
import math
import re
from collections.abc import Callable, Iterable
from functools import cache, partial
from pathlib import Path
from typing import Any

import pandas as pd
from cells import estimate, gap, plus_minus, table
from collect import DATA, PLAYED, SEARCHES, SWEEPS
from keys import keys
from moments import RANKED
from moments_tables import TABLES as MOMENTS
from streams_tables import TABLES as STREAMS
from versions import versions

from odfl_cli.core.statistics import loglog_slope

DOCS = Path(__file__).parents[1] / "docs"
PAGES = [DOCS.parent / "README.md", *sorted(DOCS.glob("*.md"))]
BLOCK = re.compile(r"(<!-- results:([\w-]+) -->\n).*?(<!-- /results:\2 -->)", re.DOTALL)
OURS, BASELINES = ("df_ogd", "df_ftpl"), ("pf_ogd", "spo")
COST, MSE = {"average cost": "avg_cost"}, {"average MSE": "avg_mse"}
FEATURES = ("linear", "quadratic", "difference")
REGRET = {"average dynamic regret": "avg_dynamic_regret"}
SIGNS = {"above": ">", "at most": "≤", "below": "<"}


def main() -> None:
    """Renders every page in place."""
    for page in PAGES:
        before = page.read_text()
        after = rendered(before)
        if after != before:
            page.write_text(after)
            print(page.relative_to(DOCS.parent))


def rendered(text: str) -> str:
    """The text with every block made anew from docs/data."""
    return BLOCK.sub(lambda block: f"{block[1]}\n{TABLES[block[2]]()}\n\n{block[3]}", text)


@cache
def read(name: str) -> pd.DataFrame:
    """docs/data/NAME.csv."""
    return pd.read_csv(DATA / f"{name}.csv")


def algorithms(sweep: str, columns: dict[str, str]) -> str:
    """One row per algorithm, in the order of the first column."""
    groups = dict(tuple(read(sweep).groupby("algo")))
    first = next(iter(columns.values()))
    order = sorted(groups, key=lambda algo: groups[algo][first].mean())
    rows = [[f"`{algo}`", *(estimate(groups[algo][c]) for c in columns.values())] for algo in order]
    return captioned(sweep, [["algorithm", *columns], *rows])


def settings(sweep: str, columns: dict[str, str]) -> str:
    """One row per job, with the keys in which the jobs differ."""
    keys = differing(read(sweep))
    groups = read(sweep).groupby(keys, sort=False, dropna=False)
    rows = [
        [*(f"`{value}`" for value in values), *(estimate(group[c]) for c in columns.values())]
        for values, group in groups
    ]
    return captioned(sweep, [[*(f"`{key}`" for key in keys), *columns], *rows])


def gaps(
    sweep: str, column: str, theirs: Iterable[str] = BASELINES, ours: Iterable[str] = OURS
) -> str:
    """Theirs minus ours, paired by seed: a positive cost gap is in favour of ours."""
    values = read(sweep).pivot(index="seed", columns="algo", values=column)
    rows = [
        [f"`{first}` − `{second}`", *gap(values[first], values[second])]
        for second in ours
        for first in theirs
    ]
    return captioned(sweep, [["difference", f"`{column}`", "reading"], *rows])


def gap_by(sweep: str, key: str, first: str, second: str) -> str:
    """A paired difference in average cost for every value of a key."""
    values = read(sweep).pivot(index="seed", columns=["algo", key], values="avg_cost")
    rows = [[f"{at:g}", *gap(values[first][at], values[second][at])] for at in values[first]]
    return captioned(sweep, [[f"`{key}`", f"`{first}` − `{second}`", "reading"], *rows])


def readings() -> str:
    """The gaps to DF-OGD for every γ (columns) under every reading of the experiment's settings (rows)."""
    keys = ["data.amplitude", "theta_radius"]
    data = read("readings")
    gammas = sorted(data["data.gamma"].unique())
    rows = [["A", "R", "difference", *(f"γ = {gamma:g}" for gamma in gammas)]]
    for (amplitude, radius), group in data.groupby(keys):
        values = group.pivot(index="seed", columns=["algo", "data.gamma"], values="avg_cost")
        for theirs in BASELINES:
            gaps = [gap(values[theirs][gamma], values["df_ogd"][gamma]) for gamma in gammas]
            cells = [shown if "0" in sign else f"**{shown}**" for shown, sign in gaps]
            rows.append([f"{amplitude:g}", f"{radius:g}", f"`{theirs}` − `df_ogd`", *cells])
    return captioned("readings", rows)


def hindsight() -> str:
    """DF-OGD's static regret by seed, with what the search of each effort may have missed."""
    data = read("hindsight").pivot(index="seed", columns="effort")
    efforts = {name: " ".join(words) for name, words in SEARCHES.items()}
    rows = [["seed", *(f"`{words}`" for words in efforts.values())]]
    regret, missed = data["static_regret"], data["uncertainty"]
    for seed in data.index:
        cells = [f"{regret[e][seed]:.0f} (+ {missed[e][seed]:.0f})" for e in efforts]
        rows.append([str(seed), *cells])
    most = regret.max(axis=1)
    reached = [(regret[e] + missed[e] >= most).sum() for e in efforts]
    rows.append(["most found is within (+)", *(f"{n} of {len(most)} seeds" for n in reached)])
    return f"{table(rows)}\n\n*`odfl run {' '.join(PLAYED)}` with each of these metrics*"


def slopes(sweep: str, key: str, column: str) -> str:
    """The slope of a column against a key on logarithmic axes, for every algorithm."""
    rows = []
    for algo, group in read(sweep).groupby("algo"):
        values = group.pivot(index="seed", columns=key, values=column)
        slope = loglog_slope(values.columns.to_numpy(float), values.to_numpy())
        rows.append([f"`{algo}`", plus_minus(*slope)])
    return captioned(sweep, [["algorithm", f"exponent of `{column}` in `{key}`"], *rows])


def ranking(sweeps: Iterable[str]) -> str:
    """Average costs of all algorithms on several sweeps; a sweep's best is bold."""
    means = {sweep: ranked(sweep).groupby("algo")["avg_cost"].mean() for sweep in sweeps}
    ranks = pd.DataFrame({sweep: mean.rank(pct=True) for sweep, mean in means.items()}).mean(axis=1)
    rows = [["algorithm", *means]]
    for algo in ranks.sort_values(kind="stable").index:
        rows.append(
            [f"`{algo}`", *(league_cell(algo, sweep, mean) for sweep, mean in means.items())]
        )
    return table(rows)


def ranked(sweep: str) -> pd.DataFrame:
    """The final values of a sweep, and of DF-Moments and least squares on its seeds."""
    more = read("df_moments_ranking")
    ours = read(sweep)
    more = more[(more["world"] == sweep) & ~more["algo"].isin(ours["algo"])]
    return pd.concat([ours, more])[["algo", "seed", "avg_cost"]]


def league_cell(algo: str, sweep: str, means: pd.Series) -> str:
    """An algorithm's average cost in a sweep, bold if it is the lowest."""
    rows = ranked(sweep)
    values = rows.loc[rows["algo"] == algo, "avg_cost"]
    shown = estimate(values) if len(values) else ""
    return f"**{shown}**" if algo == means.idxmin() else shown


def cell(sweep: str, algo: str, column: str) -> str:
    """One algorithm's final value in a sweep; empty if it did not run there."""
    rows = read(sweep)
    values = rows.loc[rows["algo"] == algo, column]
    return estimate(values) if len(values) else ""


def bound() -> str:
    """DF-OGD's measured average dynamic regret beside the theorem's bound."""
    rows = [
        [f"{row.t:.0f}", plus_minus(row.avg_dynamic_regret), plus_minus(row.avg_bound)]
        for row in read("bound").itertuples()
    ]
    return captioned("main", [["round", "measured average dynamic regret", "bound"], *rows])


def claims() -> str:
    """Every judged claim with its controls."""
    rows = [["claim", "where", "measured", "claimed", "controls", "n", "verdict"]]
    for one in json.loads((DATA / "claims.json").read_text()):
        claimed = f"{SIGNS[one['claimed']['side']]} {one['claimed']['limit']:g}".replace("-", "−")
        controls = [f"{name} {measured(control)}" for name, control in one["controls"].items()]
        count, verdict = str(one["count"]), one["verdict"]
        told = [one["claim"], one["where"], measured(one), claimed, "; ".join(controls)]
        rows.append([*told, count, verdict])
    return table(rows)


def measured(one: dict[str, Any]) -> str:
    """The value and the interval of a judged claim or of one of its controls."""
    value, ci95 = (math.nan if one[key] is None else one[key] for key in ("value", "ci95"))
    return plus_minus(value, ci95)


def headline() -> str:
    """The README's table: the paper's four algorithms and the references on four problems."""
    columns = {
        "K = 80: cost": ("high_dimension", "avg_cost"),
        "K = 80: MSE": ("high_dimension", "avg_mse"),
        "K = 5: cost": ("main", "avg_cost"),
        "K = 5: dynamic regret": ("main", "avg_dynamic_regret"),
        "knapsack: cost": ("knapsack", "avg_cost"),
        "5×5 paths: cost": ("shortest_path", "avg_cost"),
    }
    rows = [["average per round", *columns]]
    for algo in (*OURS, *BASELINES, "uniform", "clairvoyant"):
        cells = [cell(sweep, algo, column) for sweep, column in columns.values()]
        rows.append([f"`{algo}`", *cells])
    return table(rows)


def features() -> str:
    """Average costs with linear and with quadratic features, and their paired difference, by world."""
    data = pd.concat([read("features"), read("features_references").assign(predictor="linear")])
    worlds = {"paper": "stationary", "switching": "switching"}
    rows = [["algorithm", *(f"{name}: {what}" for name in worlds.values() for what in FEATURES)]]
    for algo, group in data.groupby("algo", sort=False):
        cells = [feature_cells(group[group["data.drift"] == drift]) for drift in worlds]
        rows.append([f"`{algo}`", *(shown for part in cells for shown in part)])
    return captioned("features", rows)


def feature_cells(rows: pd.DataFrame) -> tuple[str, str, str]:
    """Linear, quadratic, and quadratic − linear, paired by seed; empty where not measured."""
    values = rows.pivot(index="seed", columns="predictor", values="avg_cost")
    linear = estimate(values["linear"])
    if "quadratic" not in values or values["quadratic"].isna().all():
        return linear, "", ""
    return linear, estimate(values["quadratic"]), gap(values["quadratic"], values["linear"])[0]


def differing(rows: pd.DataFrame) -> list[str]:
    """The columns before `seed`: the algorithm, if it varies, and the keys in which jobs differ."""
    keys = list(rows.columns[: list(rows.columns).index("seed")])
    return [key for key in keys if key != "algo" or rows["algo"].nunique() > 1]


def terrain() -> str:
    """One row per algorithm and network, among policies that learn nothing."""
    names = {"relu": "convolutional network", "none": "linear in the pixels"}
    jobs = read("terrain").groupby(["algo", "predictor.activation"])["avg_cost"]
    others = pd.concat([read("terrain_uniform"), read("terrain_constant")]).groupby("algo")
    named = [(f"`{algo}`, {names[activation]}", costs) for (algo, activation), costs in jobs]
    named += [(str(algo), costs) for algo, costs in others["avg_cost"]]
    named.sort(key=lambda row: row[1].mean())
    rows = [[name, estimate(costs)] for name, costs in named]
    return captioned("terrain", [["", "average cost"], *rows])


def speed(*parts: str) -> str:
    """Measurements of `make bench`, as they were printed."""
    data = pd.read_csv(DATA / "speed.csv", dtype=str, keep_default_na=False)
    data = data[data["part"].isin(parts)]
    rows = [["", "time", "ratio", "target"]]
    for title, section in data.groupby("section", sort=False):
        rows.append([f"**{title}**", "", "", ""])
        for row in section.itertuples():
            rows.append([row.what, row.time, f"{row.ratio} {row.against}".strip(), row.target])
    return f"{table(rows)}\n\n*{data['machine'].iloc[0]}: `make bench`*"


def captioned(sweep: str, rows: list[list[str]]) -> str:
    """A table with the number of seeds and the command that computes it."""
    data = read(sweep)
    seeds, rounds = data.groupby(differing(data) or "algo")["seed"].nunique().max(), data["t"].max()
    counted = f"{seeds} seeds" if seeds > 1 else "one path"
    command = " ".join(["odfl run", *SWEEPS[sweep]])
    return f"{table(rows)}\n\n*{counted}, up to {rounds} rounds: `{command}`*"


TABLES: dict[str, Callable[[], str]] = {
    "headline": headline,
    "main": partial(algorithms, "main", COST | MSE | REGRET),
    "high_dimension": partial(algorithms, "high_dimension", COST | MSE | REGRET),
    "main-gaps": partial(gaps, "main", "avg_cost"),
    "main-regret-gaps": partial(gaps, "main", "avg_dynamic_regret"),
    "high_dimension-gaps": partial(gaps, "high_dimension", "avg_cost"),
    "misspecification": partial(gap_by, "misspecification", "data.gamma", "pf_ogd", "df_ogd"),
    "readings": readings,
    "reading": partial(gap_by, "reading", "data.gamma", "pf_ogd", "df_ogd"),
    "hindsight": hindsight,
    "knapsack": partial(algorithms, "knapsack", COST | MSE),
    "knapsack-gaps": partial(gaps, "knapsack", "avg_cost"),
    "shortest_path": partial(algorithms, "shortest_path", COST | MSE),
    "shortest_path-gaps": partial(gaps, "shortest_path", "avg_cost"),
    "regularizers": partial(settings, "regularizers", COST | MSE),
    "misspecified_horizon": partial(settings, "misspecified_horizon", COST | REGRET),
    "rates": partial(slopes, "rates", "horizon.rounds", "avg_dynamic_regret"),
    "drift": partial(algorithms, "drift", {"dynamic regret": "dynamic_regret"} | COST),
    "ranking": partial(ranking, RANKED),
    "bound": bound,
    "claims": claims,
    "keys": keys,
    **MOMENTS,
    **STREAMS,
    "features": features,
    "terrain": terrain,
    "speed": partial(speed, "data", "learning", "sets", "regret", "start", "sweeps", "figures"),
    "versions": versions,
}

if __name__ == "__main__":
    main()
