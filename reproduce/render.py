"""Writes the tables of measured results into README.md and docs/, and the reference from the code.

A table is between `<!-- results:NAME -->` and `<!-- /results:NAME -->` and is made from a file in docs/data,
so that no number in it is typed by hand; those of docs/reference are made from the code. Tables that are
too long for a page are the files docs/tables/NAME.csv. `python reproduce/render.py` writes all of them.
"""

import json
import math
import re
from collections.abc import Callable, Iterable
from functools import cache, partial
from itertools import product, starmap
from pathlib import Path
from typing import Any

import pandas as pd
from cells import as_csv, as_html, estimate, gap, plus_minus, rows_of, table
from collect import DATA, PLAYED, SEARCHES, SWEEPS
from feedback_tables import FILED as FEEDBACK_FILED
from feedback_tables import TABLES as FEEDBACK
from foreign_tables import FILED as FOREIGN_FILED
from foreign_tables import TABLES as FOREIGN
from keys import keys
from moments import RANKED
from moments_tables import FILED as MOMENTS_FILED
from moments_tables import TABLES as MOMENTS
from note_tables import FILED as NOTE_FILED
from note_tables import TABLES as NOTE
from rankings import places, rankings
from reference import TABLES as REFERENCE
from sets import sets
from streams_tables import FILED as STREAMS_FILED
from streams_tables import TABLES as STREAMS

from odfl_cli.core.statistics import loglog_slope
from odfl_cli.core.text import two_digits

DOCS = Path(__file__).parents[1] / "docs"
PAGES = [DOCS.parent / "README.md", *sorted(DOCS.glob("**/*.md"))]
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
        after = render_blocks(before)
        if after != before:
            page.write_text(after)
            print(page.relative_to(DOCS.parent))
    for path, text in table_files().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)


def table_files() -> dict[Path, str]:
    """Every file of docs/tables with its content."""
    folder, rows = DOCS / "tables", {name: rows_of(make()) for name, make in FILED.items()}
    files = {folder / f"{name}.csv": as_csv(content) for name, content in rows.items()}
    title = "Every claim of the paper, judged"
    return files | {folder / "claims.html": as_html(rows["claims"], title)}


def render_blocks(text: str) -> str:
    """The text with every block regenerated from docs/data."""
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
    return add_caption(sweep, [["algorithm", *columns], *rows])


def settings(sweep: str, columns: dict[str, str]) -> str:
    """One row per job, with the keys in which the jobs differ."""
    keys = differing(read(sweep))
    groups = read(sweep).groupby(keys, sort=False, dropna=False)
    rows = [
        [*(f"`{value}`" for value in values), *(estimate(group[c]) for c in columns.values())]
        for values, group in groups
    ]
    return add_caption(sweep, [[*(f"`{key}`" for key in keys), *columns], *rows])


def gaps(columns: dict[str, tuple[str, str]]) -> str:
    """The baselines minus the paper's algorithms, paired by seed; bold if the interval excludes 0.

    `columns` are headings with a sweep and its column; the caption is that of the first sweep.
    """
    values = {
        name: read(sweep).pivot(index="seed", columns="algo", values=column)
        for name, (sweep, column) in columns.items()
    }
    rows = [["difference", *columns]]
    for second, first in product(OURS, BASELINES):
        both = [gap(value[first], value[second]) for value in values.values()]
        rows.append([f"`{first}` − `{second}`", *starmap(emphasise, both)])
    return add_caption(next(iter(columns.values()))[0], rows)


def emphasise(shown: str, sign: str) -> str:
    """A difference, bold if it can be distinguished from 0."""
    return shown if "0" in sign else f"**{shown}**"


def gap_by(sweep: str, key: str, first: str, second: str) -> str:
    """A paired difference in average cost for every value of a key."""
    values = read(sweep).pivot(index="seed", columns=["algo", key], values="avg_cost")
    rows = [[f"{at:g}", *gap(values[first][at], values[second][at])] for at in values[first]]
    return add_caption(sweep, [[f"`{key}`", f"`{first}` − `{second}`", "reading"], *rows])


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
            cells = list(starmap(emphasise, gaps))
            rows.append([f"{amplitude:g}", f"{radius:g}", f"`{theirs}` − `df_ogd`", *cells])
    return add_caption("readings", rows)


def wrong_sizes() -> str:
    """Average dynamic regret with schedules that use a wrong T, m or n."""
    data, keys = read("misspecified_horizon"), {"horizon": "T", "parameters": "m", "faces": "n"}
    right = data[[f"belief.{key}" for key in keys]].fillna(1.0).eq(1.0).all(axis=1)
    cases = {"right sizes": right} | {
        f"{symbol} × {by:g}": data[f"belief.{key}"] == by for key, symbol in keys.items() for by in (0.1, 10)
    }  # fmt: skip
    rows = [["believed", *(f"`{algo}`" for algo in OURS)]]
    for name, chosen in cases.items():
        regrets = [data[chosen & (data["algo"] == algo)]["avg_dynamic_regret"] for algo in OURS]
        rows.append([name, *(estimate(values) if len(values) else "–" for values in regrets)])
    return add_caption("misspecified_horizon", rows)


def searches() -> str:
    """DF-OGD's mean static regret with each effort, and how often its uncertainty covers the largest."""
    data = read("hindsight").pivot(index="seed", columns="effort")
    regret, missed = data["static_regret"], data["uncertainty"]
    most = regret.max(axis=1)
    rows = [
        ["search", "static regret", "may be higher by", "covers the most that any search found"]
    ]
    for name, words in SEARCHES.items():
        covered = (regret[name] + missed[name] >= most).sum()
        means = [f"{values[name].mean():.0f}" for values in (regret, missed)]
        rows.append([f"`{' '.join(words)}`", *means, f"{covered} of {len(most)} seeds"])
    return f"{table(rows)}\n\n*means over {len(most)} seeds: `odfl run {' '.join(PLAYED)}` with each of these metrics*"


def hindsight() -> str:
    """DF-OGD's static regret by seed, with the uncertainty of each search effort."""
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
    return add_caption(sweep, [["algorithm", f"exponent of `{column}` in `{key}`"], *rows])


def ranking(sweeps: Iterable[str]) -> str:
    """Average costs of all algorithms on several sweeps; a sweep's best is bold."""
    means = {sweep: ranking_data(sweep).groupby("algo")["avg_cost"].mean() for sweep in sweeps}
    ranks = pd.DataFrame({sweep: mean.rank(pct=True) for sweep, mean in means.items()}).mean(axis=1)
    rows = [["algorithm", *means]]
    for algo in ranks.sort_values(kind="stable").index:
        rows.append(
            [f"`{algo}`", *(league_cell(algo, sweep, mean) for sweep, mean in means.items())]
        )
    return table(rows)


def ranking_data(sweep: str) -> pd.DataFrame:
    """The final values of a sweep, and of DF-Moments and least squares on its seeds."""
    more = read("df_moments_ranking")
    ours = read(sweep)
    more = more[(more["world"] == sweep) & ~more["algo"].isin(ours["algo"])]
    return pd.concat([ours, more])[["algo", "seed", "avg_cost"]]


def league_cell(algo: str, sweep: str, means: pd.Series) -> str:
    """An algorithm's average cost in a sweep, bold if it is the lowest."""
    rows = ranking_data(sweep)
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
    return add_caption("main", [["round", "measured average dynamic regret", "bound"], *rows])


def claims() -> str:
    """Every judged claim with its controls."""
    judged = json.loads((DATA / "claims.json").read_text())
    rows = [["claim", "where", "measured", "realised", "claimed", "controls", "n", "verdict"]]
    for one in judged:
        side, limit = one["claimed"]["side"], one["claimed"]["limit"]
        claimed = f"{SIGNS[side]} {limit:g}".replace("-", "−") if side in SIGNS else "–"
        realised = format_measured(one["realised"]) if one.get("realised") else ""
        controls = [
            f"{name} {format_measured(control)}" for name, control in one["controls"].items()
        ]
        count, verdict = str(one["count"]), one["verdict"]
        cells = [
            one["claim"],
            one["where"],
            format_measured(one),
            realised,
            claimed,
            "; ".join(controls),
        ]
        rows.append([*cells, count, verdict])
    return table(rows)


FAMILIES = {
    "Figure 1, five items": ("Figure 1",),
    "Figure with 80 items": ("Figure with 80 items",),
    "Introduction, θ* without drift": ("Introduction",),
    "Figure on γ, four readings": ("Figure on γ",),
    "Theorems 1 and 2": ("Theorem 1", "Theorem 2", "after Theorems 1 and 2"),
    "Inexact decisions": ("Proposition on approximate optima",),
    "PF-OGD's η = 10": ("Appendix on the experiments",),
}
"""Claims counted together, by their place in the paper; the others are lemmas."""


def claims_summary() -> str:
    """The number of claims with each verdict, by their place in the paper."""
    judged = json.loads((DATA / "claims.json").read_text())
    family = {where: name for name, places in FAMILIES.items() for where in places}
    counts = pd.crosstab(
        [family.get(one["where"], "Lemmas and propositions") for one in judged],
        [one["verdict"].removesuffix(" at this sample size") for one in judged],
    )
    verdicts = ["holds", "does not hold", "not distinguishable", "without power"]
    counts = counts.reindex(columns=[*verdicts, *counts.columns.difference(verdicts)], fill_value=0)
    rows = [["where", *counts.columns]]
    for name in [*FAMILIES, "Lemmas and propositions"]:
        rows.append([name, *(str(n or "") for n in counts.loc[name])])
    return table([*rows, ["all", *(str(n) for n in counts.sum())]])


def mean_costs() -> str:
    """Claims that were measured again by mean costs, with their verdicts before and now."""
    rows = [["claim", "n", "mean cost", "realised cost", "before", "now"]]
    for row in read("claims_mean_cost").itertuples():
        values = [plus_minus(row.value, row.ci95), plus_minus(row.realised, row.realised_ci95)]
        rows.append([row.claim, str(row.n), *values, row.before, f"**{row.now}**"])
    return table(rows)


def format_measured(one: dict[str, Any]) -> str:
    """The value and the interval of a judged claim or of one of its controls."""
    value, ci95 = (math.nan if one[key] is None else one[key] for key in ("value", "ci95"))
    return plus_minus(value, ci95)


def verdict() -> str:
    """The verdicts of `until=decided` on the paper's claim with five items."""
    data = json.loads((DATA / "verdict.json").read_text())
    rows = [["difference", f"`{data['column']}`", "interval", "seeds", "verdict"]]
    for pair in data["pairs"]:
        low, high = pair["interval"]
        number = two_digits((high - low) / 2)
        first, last = map(int, pair["seeds"].split("-"))
        within = f" within {data['margin']:g}" if pair["verdict"] == "equal" else ""
        shown = [number(pair["difference"]), f"[{number(low)}, {number(high)}]"]
        names = f"`{pair['first']}` − `{pair['second']}`"
        rows.append([names, *shown, str(last - first + 1), f"**{pair['verdict']}**{within}"])
    spent = f"all hold together with 95% probability; {data['minutes']:g} minutes of one core"
    return f"{table(rows)}\n\n*{spent}: `{data['command']}`*"


def equal() -> str:
    """The number of equal pairs that each rule declares different, with Wilson's 95% interval."""
    rules = {"decided": "`until=decided`", "each": "95% interval, looked at after every seed"}
    rows = [["pairs that are equal", "pairs", *rules.values()]]
    for _, row in read("equal").iterrows():
        n = int(row["replications"])
        cells = [f"{row[rule] / n:.1%} ({span(row[rule], n)})" for rule in rules]
        rows.append([row["pair"], str(n), *cells])
    most = read("equal")["most"].max()
    return f"{table(rows)}\n\n*declared different with at most {most} seeds: `reproduce/decided.py equal`*"


def span(count: int, n: int) -> str:
    """Wilson's 95% interval for a proportion, in percent."""
    z = 1.96
    centre, spread = count + z * z / 2, z * math.sqrt(count * (n - count) / n + z * z / 4)
    return f"{(centre - spread) / (n + z * z):.1%} to {(centre + spread) / (n + z * z):.1%}"


def headline(columns: dict[str, tuple[str, str]]) -> str:
    """The paper's four algorithms and the references; `columns` are headings with a sweep and its column."""
    rows = [["average per round", *columns]]
    for algo in (*OURS, *BASELINES, "uniform", "clairvoyant"):
        cells = [cell(sweep, algo, column) for sweep, column in columns.values()]
        rows.append([f"`{algo}`", *cells])
    return table(rows)


def features(worlds: dict[str, str]) -> str:
    """Average costs with linear and with quadratic features, and their paired difference, by world."""
    data = pd.concat([read("features"), read("features_references").assign(predictor="linear")])
    rows = [["algorithm", *(f"{name}: {what}" for name in worlds.values() for what in FEATURES)]]
    for algo, group in data.groupby("algo", sort=False):
        cells = [feature_cells(group[group["data.drift"] == drift]) for drift in worlds]
        rows.append([f"`{algo}`", *(shown for part in cells for shown in part)])
    return add_caption("features", rows)


def feature_cells(rows: pd.DataFrame) -> tuple[str, str, str]:
    """Linear, quadratic, and quadratic − linear, paired by seed; empty if not measured."""
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
    """One row per algorithm, network and policy without learning."""
    names = {"relu": "convolutional network", "none": "linear in the pixels"}
    jobs = read("terrain").groupby(["algo", "predictor.activation"])["avg_cost"]
    others = pd.concat([read("terrain_uniform"), read("terrain_constant")]).groupby("algo")
    named = [(f"`{algo}`, {names[activation]}", costs) for (algo, activation), costs in jobs]
    named += [(str(algo), costs) for algo, costs in others["avg_cost"]]
    named.sort(key=lambda row: row[1].mean())
    rows = [[name, estimate(costs)] for name, costs in named]
    return add_caption("terrain", [["", "average cost"], *rows])


def speed() -> str:
    """The main measurements of `make bench`."""
    data = pd.read_csv(DATA / "speed.csv", dtype=str, keep_default_na=False)
    rows = [["", "time", "ratio"]]
    for name, (section, what) in SPEEDS.items():
        found = data[data["section"].str.startswith(section) & (data["what"] == what)].iloc[0]
        rows.append([name, found["time"], f"{found['ratio']} {found['against']}".strip()])
    return f"{table(rows)}\n\n*{data['machine'].iloc[0]}: `make bench`*"


def small_jobs() -> str:
    """The time of a small job in a sweep, and of an empty one in Hydra's own."""
    data = read("speed").query("part == 'sweeps'").set_index("what")
    section = data["section"].iloc[0].partition(":")[0]
    ours, hydra = data.loc["odfl run -m", "time"], data.iloc[0]["time"]
    return (
        f"- **Small jobs are cheap.** In {section}, a job takes {ours}. "
        f"A job that does nothing takes {hydra} in Hydra's own sweep (measured with version 0.3.0)."
    )


SPEEDS = {
    "data and learning, a round, K = 5": ("DF-OGD, K=5 p=10 S=10 T=5000: per", "data and learning"),
    "data and learning, a round, K = 80": (
        "DF-OGD, K=80 p=10 S=10 T=5000: per",
        "data and learning",
    ),
    "learning on torch, K = 5": ("DF-OGD, K=5 p=10 S=10 T=5000, 10", "torch, seeds batched"),
    "the same in a plain autograd loop": (
        "DF-OGD, K=5 p=10 S=10 T=5000, 10",
        "plain autograd loop",
    ),
    "5×5 shortest paths with the log barrier": ("DF-OGD, log barrier, 5×5", "compiled"),
    "the same with cvxpylayers": ("DF-OGD, log barrier, 5×5", "autograd through cvxpylayers"),
    "a run of ten seeds and 5000 rounds, from start to prompt": ("odfl run algo", "odfl run"),
    "one of 1000 small jobs of a sweep": ("a grid", "odfl run -m"),
    "one that is finished already": ("a grid", "the same, all finished"),
}
"""Lines of the table on speed, by section and entry of docs/data/speed.csv."""


def add_caption(sweep: str, rows: list[list[str]]) -> str:
    """A table with the number of seeds and the command that computes it."""
    data = read(sweep)
    seeds, rounds = data.groupby(differing(data) or "algo")["seed"].nunique().max(), data["t"].max()
    counted = f"{seeds} seeds" if seeds > 1 else "one path"
    command = " ".join(["odfl run", *SWEEPS[sweep]])
    return f"{table(rows)}\n\n*{counted}, up to {rounds} rounds: `{command}`*"


STATIONARY = {"paper": "stationary"}
COSTS = {
    "K = 80: cost": ("high_dimension", "avg_cost"),
    "K = 80: MSE": ("high_dimension", "avg_mse"),
    "K = 5: cost": ("main", "avg_cost"),
}
POLYTOPES = {
    "knapsack: cost": ("knapsack", "avg_cost"),
    "5×5 paths: cost": ("shortest_path", "avg_cost"),
}
TABLES: dict[str, Callable[[], str]] = {
    **FEEDBACK,
    **FOREIGN,
    "places": places,
    "headline": partial(
        headline, COSTS | {"K = 5: dynamic regret": ("main", "avg_dynamic_regret")} | POLYTOPES
    ),
    "paper": partial(headline, COSTS | {"K = 5: MSE": ("main", "avg_mse")}),
    "main-gaps": partial(
        gaps, {"cost": ("main", "avg_cost"), "dynamic regret": ("main", "avg_dynamic_regret")}
    ),
    "searches": searches,
    "polytope-gaps": partial(gaps, POLYTOPES),
    "rates": partial(slopes, "rates", "horizon.rounds", "avg_dynamic_regret"),
    "drift": partial(algorithms, "drift", {"dynamic regret": "dynamic_regret"} | COST),
    "bound": bound,
    "verdict": verdict,
    "claims": claims_summary,
    "keys": keys,
    **MOMENTS,
    **NOTE,
    **REFERENCE,
    **STREAMS,
    "equal": equal,
    "features": partial(features, STATIONARY),
    "small-jobs": small_jobs,
    "speed": speed,
}
FILED: dict[str, Callable[[], str]] = {
    "claims": claims,
    "features": partial(features, STATIONARY | {"switching": "switching"}),
    "high_dimension": partial(algorithms, "high_dimension", COST | MSE | REGRET),
    "high_dimension-gaps": partial(gaps, {"cost": ("high_dimension", "avg_cost")}),
    "hindsight": hindsight,
    "claims-mean-cost": mean_costs,
    "knapsack": partial(algorithms, "knapsack", COST | MSE),
    "main": partial(algorithms, "main", COST | MSE | REGRET),
    "misspecification": partial(gap_by, "misspecification", "data.gamma", "pf_ogd", "df_ogd"),
    "ranking": partial(ranking, RANKED),
    "reading": partial(gap_by, "reading", "data.gamma", "pf_ogd", "df_ogd"),
    "readings": readings,
    "regularizers": partial(settings, "regularizers", COST | MSE),
    "sets": sets,
    "shortest_path": partial(algorithms, "shortest_path", COST | MSE),
    "terrain": terrain,
    "wrong-sizes": wrong_sizes,
    "rankings": rankings,
    **FEEDBACK_FILED,
    **FOREIGN_FILED,
    **MOMENTS_FILED,
    **NOTE_FILED,
    **STREAMS_FILED,
}
"""Tables in files, docs/tables/NAME.csv."""

if __name__ == "__main__":
    main()
