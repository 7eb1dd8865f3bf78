"""What the page tells of a group of runs beside its curves: decisions, recoveries, theory."""

import math
from typing import Any

import numpy as np
import pandas as pd

from odfl_cli.report.arrays import Arrays, thin
from odfl_cli.results.aggregation import bounded_regret, by_seed, late_slope
from odfl_cli.results.grouping import Group

DECISIONS = ("decision", "best_decision")
MOST_ROUNDS, MOST_SEEDS = 160, 5  # of decisions on the page
WINDOW = 0.1  # of the rounds between two switches: regret per round is averaged over it
TOLERANCE = 1.1  # back at no more than this many times the level before
SLOPES = ("static_regret", "expected_static_regret", "dynamic_regret")


def pack_decisions(group: Group, arrays: Arrays) -> dict[str, Any] | None:
    """The share of logged rounds with the best items, and dots (t, item) of the first seeds."""
    if any(name not in group.rows for name in DECISIONS):
        return None
    rows = group.rows.dropna(subset=list(DECISIONS))
    if rows.empty:
        return None
    seeds = sorted(int(seed) for seed in rows["seed"].unique())[:MOST_SEEDS]
    played, best = (rows[name] for name in DECISIONS)
    return {
        "hits": float((played == best).mean()),
        "seeds": {seed: _dots(rows[rows["seed"] == seed], arrays) for seed in seeds},
    }


def _dots(rows: pd.DataFrame, arrays: Arrays) -> dict[str, list[Any]]:
    """By kind the rounds and the items, of rounds that are evenly spread."""
    shown = rows.iloc[thin(len(rows), MOST_ROUNDS)]
    packed = {}
    for key, name in zip(("played", "best"), DECISIONS, strict=True):
        pairs = [(t, item) for t, number in shown[["t", name]].to_numpy() for item in items(number)]
        t, item = np.array(pairs, dtype=float).reshape(-1, 2).T
        packed[key] = [arrays.add(t), arrays.add(item)]
    return packed


def items(number: float) -> list[int]:
    """The items that a number of the columns stands for: i, or −1 − Σ 2^i."""
    if number >= 0:
        return [int(number)]
    bits = int(-1 - number)
    return [place for place in range(bits.bit_length()) if bits >> place & 1]


def recoveries(group: Group, marks: list[int]) -> list[dict[str, int | None]]:
    """For every switch, the rounds until regret per round is back where it was before.

    Regret per round is the mean over seeds and over a window; None where it did not come back
    before the next switch. Read off cumulative regret, so that rounds that were not logged count.
    """
    if "regret" not in group.rows or not marks:
        return []
    mean = by_seed(group, "regret").mean(axis=1)
    ends = [*marks[1:], group.rounds + 1]
    return [
        {"mark": mark, "rounds": _recovery(mean, mark, min(end, group.rounds + 1))}
        for mark, end in zip(marks, ends, strict=True)
    ]


def _recovery(regret: pd.Series, mark: int, end: int) -> int | None:
    """`mark` is the first round after the switch; `end` the first of the one after it."""
    window = max(1, round(WINDOW * (end - mark)))
    if mark - 1 - window < 1:
        return None
    level = TOLERANCE * _per_round(regret, np.array([mark - 1]), window)[0]
    rounds = np.arange(mark - 1 + window, end)
    back = np.flatnonzero(_per_round(regret, rounds, window) <= level)
    return int(rounds[back[0]]) - (mark - 1) if len(back) else None


def _per_round(regret: pd.Series, rounds: np.ndarray, window: int) -> np.ndarray:
    times, values = regret.index.to_numpy(float), regret.to_numpy()
    now, before = (np.interp(at, times, values) for at in (rounds, rounds - window))
    result: np.ndarray = (now - before) / window
    return result


def theory(group: Group) -> dict[str, Any]:
    """Slopes of average regret, the regret that the bound is about, margins, the oracle's share."""
    columns = [column for column in SLOPES if f"avg_{column}" in group.rows]
    slopes = {column: late_slope(by_seed(group, f"avg_{column}")) for column in columns}
    margin, share = (group.extras.get(name) for name in ("margin", "oracle_share"))
    found = {
        "slopes": {
            column: [slope, ci95 if math.isfinite(ci95) else None]
            for column, (slope, ci95) in slopes.items()
            if not math.isnan(slope)
        },
        "bounded": bounded_regret(group).removeprefix("avg_") if "bound" in group.columns else None,
        "margin": {name: margin[name] for name in ("c0", "beta")} if margin else None,
        "oracleShare": share,
    }
    return {name: value for name, value in found.items() if value not in (None, {})}
