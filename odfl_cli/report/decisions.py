"""The items that were played, where runs logged them."""

from typing import Any

import numpy as np
import pandas as pd

from odfl_cli.report.arrays import Arrays
from odfl_cli.results.grouping import Group

DECISIONS = ("decision", "best_decision")
MOST_ROUNDS, MOST_SEEDS = 160, 5  # on the page


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
    places = np.linspace(0, len(rows) - 1, min(MOST_ROUNDS, len(rows))).round().astype(int)
    thin = rows.iloc[np.unique(places)]
    packed = {}
    for key, name in zip(("played", "best"), DECISIONS, strict=True):
        pairs = [
            (t, item)
            for t, number in zip(thin["t"], thin[name], strict=True)
            for item in items(number)
        ]
        t, item = np.array(pairs, dtype=float).reshape(-1, 2).T
        packed[key] = [arrays.add(t), arrays.add(item)]
    return packed


def items(number: float) -> list[int]:
    """The items that a number of the columns stands for: i, or −1 − Σ 2^i."""
    if number >= 0:
        return [int(number)]
    bits = int(-1 - number)
    return [place for place in range(bits.bit_length()) if bits >> place & 1]
