"""The tables of docs/feedback.md from docs/data/feedback.csv."""

from collections.abc import Callable
from functools import cache, partial

import pandas as pd
from cells import plus_minus, table
from collect import DATA
from feedback import DELAYS, LONG, NAMES, POSTERIOR, PROBLEMS, SETS

from odfl_cli.core.statistics import mean_ci95

WORDS = {"full": "all costs", "semi_bandit": "those of what is played", "bandit": "what is paid"}


@cache
def regrets() -> pd.DataFrame:
    """The data with `regret`: the average cost of a seed minus that of the clairvoyant."""
    data = pd.read_csv(DATA / "feedback.csv")
    floor = data[data["algo"] == "clairvoyant"].set_index(["problem", "seed"])["avg_mean_cost"]
    paid = data[data["algo"] != "clairvoyant"].join(floor.rename("floor"), on=["problem", "seed"])
    return paid.assign(regret=paid["avg_mean_cost"] - paid["floor"])


def ranking(problems: tuple[str, ...]) -> str:
    """All algorithms by kind of feedback, ordered by their average rank; the best is bold."""
    data = regrets()
    data = data[data["problem"].isin(problems) & (data["delay"] == 0)]
    means = data.groupby(["problem", "kind", "algo"])["regret"].mean()
    places = [(problem, kind) for problem in problems for kind in WORDS if (problem, kind) in means]
    ranks = pd.DataFrame({place: means[place].rank(pct=True) for place in places}).mean(axis=1)
    rows = [["algorithm", *(f"{PROBLEMS[problem]}: {WORDS[kind]}" for problem, kind in places)]]
    for algo in ranks.sort_values(kind="stable").index:
        cells = []
        for problem, kind in places:
            shown = cell(data[(data["algo"] == algo) & (data["kind"] == kind)], problem)
            cells.append(f"**{shown}**" if algo == means[problem, kind].idxmin() else shown)
        rows.append([f"`{algo}`", *cells])
    commands = "`, `".join(f"experiment={problem}" for problem in problems)
    return f"{table(rows)}\n\n*average cost a round above the clairvoyant's, {sizes(data)}: `{commands}`*"


def delays() -> str:
    """The cost of delays, for algorithms with full feedback and with bandit feedback."""
    data = regrets()
    data = data[~data["problem"].isin(LONG)]
    late = data[data["delay"] > 0][["algo", "kind"]].drop_duplicates()
    rows = [["algorithm", "sees", "delay", *PROBLEMS.values()]]
    for algo, kind in late.itertuples(index=False):
        for delay in DELAYS:
            one = data[(data["algo"] == algo) & (data["kind"] == kind) & (data["delay"] == delay)]
            cells = [cell(one, problem) for problem in PROBLEMS]
            rows.append([f"`{algo}`", WORDS[kind], str(delay), *cells])
    shown = [row for row in rows if any(row[3:])]
    return f"{table(shown)}\n\n*average cost a round above the clairvoyant's, {sizes(data)}*"


def ratios() -> str:
    """The regret of linear bandits over that of RLS with all costs, as it is and with clipped costs."""
    data = regrets()[lambda rows: rows["problem"].isin(LONG)]
    means = data.groupby(["problem", "kind", "algo"])["regret"].mean()
    times = {name: means[name, "bandit"] / means[name, "full", "rls"] for name in LONG}
    plain, clipped = (times[name].map("{:.1f}".format) for name in LONG)
    posterior = NAMES[POSTERIOR]
    return (
        f"With five items and {data['t'].max():,} rounds, `thompson` with `feedback=bandit` pays {plain['thompson']} times the regret of RLS "
        f"that sees all costs, greedy RLS {plain['rls']} times, and Thompson sampling from the posterior itself (`algo.scale=1`) "
        f"{plain[posterior]} times. Where costs are clipped to [0, 1] these are {clipped['thompson']}, {clipped['rls']} and {clipped[posterior]}."
    )


def cell(rows: pd.DataFrame, problem: str) -> str:
    """The mean regret and its interval; empty if the algorithm was not played."""
    values = rows.loc[rows["problem"] == problem, "regret"]
    return plus_minus(*map(float, mean_ci95(values.to_numpy()))) if len(values) else ""


def sizes(data: pd.DataFrame) -> str:
    """Seeds and rounds."""
    rounds = data.loc[~data["problem"].isin(LONG), "t"]
    most = f"{rounds.max():,}" + (f" or {rounds.min():,}" if rounds.min() < rounds.max() else "")
    return f"{most} rounds, seeds {data['seed'].min()} to {data['seed'].max()}"


SIMPLEX = tuple(problem for problem in PROBLEMS if problem not in SETS)
TABLES: dict[str, Callable[[], str]] = {
    "feedback-simplex": partial(ranking, SIMPLEX),
    "feedback-ratios": ratios,
}
FILED: dict[str, Callable[[], str]] = {
    "feedback-sets": partial(ranking, SETS),
    "feedback-delays": delays,
}
