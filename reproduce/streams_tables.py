"""The tables of docs/streams.md from docs/data/stream_NAME.csv."""

from collections.abc import Callable
from functools import partial
from statistics import NormalDist

import pandas as pd
from cells import plus_minus, table
from collect import DATA
from streams import STREAMS

HEAD = ["algorithm", "average cost", "above the best naive policy", "the same a year", "regret"]


def read(name: str) -> pd.DataFrame:
    """docs/data/stream_NAME.csv."""
    return pd.read_csv(DATA / f"stream_{name}.csv")


def stream(name: str) -> str:
    """One row per algorithm, the cheapest first; naive policies in italics."""
    data, rows = read(name), [HEAD]
    for one in data.itertuples():
        gap = plus_minus(one.gap, one.gap_ci95) if one.gap_ci95 else "0, the best of them"
        yearly = plus_minus(one.yearly_gap, one.yearly_ci95) if one.gap_ci95 else "0"
        label = f"*`{one.algo}`*" if one.naive else f"`{one.algo}`"
        cost, regret = plus_minus(one.avg_cost, one.ci95), plus_minus(one.avg_regret)
        rows.append([label, cost, gap, yearly, regret])
    rounds, blocks = data["rounds"].iloc[0], data.loc[data["gap_ci95"] > 0, "block"]
    return (
        f"{table(rows)}\n\n*Naive policies in italics; a year: {STREAMS[name].unit}; {rounds:,} rounds; "
        f"blocks of {blocks.min()} to {blocks.max()} rounds: `odfl run experiment={name}`*"
    )


def verdicts() -> str:
    """Every stream in a row: the best learner beside the best naive policy."""
    rows = [["stream", "best naive policy", "best learner", "difference a year", "reading"]]
    for name, how in STREAMS.items():
        data = read(name)
        naive, learners = data[data["naive"]].iloc[0], data[~data["naive"]]
        best = learners.iloc[0]
        apart = f"{plus_minus(best.yearly_gap, best.yearly_ci95)} {how.unit}"
        reading = read_off(best.gap, best.gap_ci95, len(learners))
        rows.append([f"`{name}`", f"`{naive.algo}`", f"`{best.algo}`", apart, reading])
    return table(rows)


def read_off(gap: float, ci95: float, learners: int) -> str:
    """The verdict on the best of several learners, its interval widened for the choice (Bonferroni)."""
    wider = NormalDist().inv_cdf(1 - 0.025 / learners) / NormalDist().inv_cdf(0.975)
    if abs(gap) <= ci95 * wider:
        return "not distinguishable"
    return "the learner pays less" if gap < 0 else "the naive policy pays less"


TABLES: dict[str, Callable[[], str]] = {
    "streams": verdicts,
}
FILED: dict[str, Callable[[], str]] = {f"stream-{name}": partial(stream, name) for name in STREAMS}
