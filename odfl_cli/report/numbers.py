"""The numbers of the page: packed arrays, thinned curves, decisions, recoveries, theory."""

import base64
import json
import math
import zlib
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from odfl_cli.core.statistics import mean_ci95
from odfl_cli.results.aggregation import bounded_regret, by_seed, late_slope
from odfl_cli.results.grouping import Group
from odfl_cli.results.summary import CUMULATIVE

Place = tuple[int, int]  # offset and length, in numbers
DECISIONS = ("decision", "best_decision")
MOST_ROUNDS, MOST_SEEDS = 160, 5  # of decisions on the page
WINDOW = 0.1  # share of the rounds between two switches over which regret is averaged
TOLERANCE = 1.1  # recovered at this many times the level before
SLOPES = ("static_regret", "expected_static_regret", "dynamic_regret")
MEAN_NUMBERS, SEED_NUMBERS = 90_000, 48_000  # of the page: some 250 and 150 kB
MOST_POINTS, FEWEST_POINTS = 240, 24  # of a curve
NOT_CURVES = {"t", "seed", *DECISIONS, *(f"avg_{name}" for name in CUMULATIVE)}
"""Averages are not stored: the page computes them from sums."""
FIRST = ("avg_cost", "avg_mse", "regret", "dynamic_regret", "static_regret")
"""Columns whose seeds have priority if there is no room for all."""


class Arrays:
    """Collects arrays; equal ones are stored once."""

    def __init__(self) -> None:
        self._parts: list[np.ndarray] = []
        self._places: dict[bytes, Place] = {}
        self._length = 0

    def add(self, values: np.ndarray) -> Place:
        """Adds the flattened values and returns their place."""
        part = np.ascontiguousarray(values, dtype="<f4").ravel()
        key = part.tobytes()
        if key not in self._places:
            self._places[key] = self._length, part.size
            self._parts.append(part)
            self._length += part.size
        return self._places[key]

    def pack(self) -> str:
        """All arrays, compressed by bytes of equal significance: neighbours on a curve share the upper ones."""
        every = np.concatenate(self._parts) if self._parts else np.empty(0, dtype="<f4")
        planes = every.view(np.uint8).reshape(-1, 4).T
        return _pack(planes.tobytes())


def thin(count: int, most: int) -> np.ndarray:
    """At most `most` of the places 0, …, count − 1, evenly spaced, including the first and the last."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int))


def pack_json(content: Any) -> str:
    """A document as compressed JSON."""
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return _pack(text.encode())


def _pack(content: bytes) -> str:
    return base64.b64encode(zlib.compress(content, 9)).decode()


class CurveRoom(NamedTuple):
    """The numbers of points per curve, the columns with seeds, and the groups with curves."""

    mean_points: int
    seed_points: int
    seed_columns: frozenset[str]
    drawn: frozenset[int]  # by their identity

    @classmethod
    def share(cls, groups: list[Group]) -> "CurveRoom":
        """Shares the page's budget of numbers among the curves; if there are too many, the first groups win."""
        widest = max((len(curve_columns(group)) for group in groups), default=1)
        groups = groups[: max(1, MEAN_NUMBERS // (2 * FEWEST_POINTS * max(1, widest)))]
        names = dict.fromkeys(column for group in groups for column in curve_columns(group))
        shown = sorted(names, key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))
        seeds = {
            name: sum(len(group.seeds) for group in groups if name in group.columns)
            for name in shown
        }
        means = 2 * sum(len(curve_columns(group)) for group in groups)
        mean_points = min(MOST_POINTS, max(FEWEST_POINTS, MEAN_NUMBERS // max(means, 1)))
        while shown and sum(seeds[name] for name in shown) * FEWEST_POINTS > SEED_NUMBERS:
            shown.pop()
        seed_points = SEED_NUMBERS // max(sum(seeds[name] for name in shown), 1)
        drawn = frozenset(map(id, groups))
        return cls(mean_points, min(mean_points, seed_points), frozenset(shown), drawn)


def curve_columns(group: Group) -> list[str]:
    """The columns drawn against the rounds."""
    return [name for name in group.columns if name not in NOT_CURVES]


def pack_curves(group: Group, arrays: Arrays, room: CurveRoom) -> dict[str, Any]:
    """Column → its rounds, mean and half-width, and the values of seeds in fewer rounds."""
    if id(group) not in room.drawn:
        return {}
    return {column: _pack_curve(group, column, arrays, room) for column in curve_columns(group)}


def _pack_curve(group: Group, column: str, arrays: Arrays, room: CurveRoom) -> dict[str, Any]:
    table = by_seed(group, column)
    values, rounds = table.to_numpy(float), table.index.to_numpy()
    places = thin(len(rounds), room.mean_points)
    mean, ci95 = mean_ci95(values[places].T)
    curve: dict[str, Any] = {"t": arrays.add(rounds[places]), "mean": arrays.add(mean)}
    if values.shape[1] > 1:
        curve["ci95"] = arrays.add(ci95)
    if column in room.seed_columns:
        places = thin(len(rounds), room.seed_points)
        curve["seedT"] = arrays.add(rounds[places])
        seeds = table.columns.astype(int)
        curve["seeds"] = {int(s): arrays.add(values[places, i]) for i, s in enumerate(seeds)}
    return curve


def pack_decisions(group: Group, arrays: Arrays) -> dict[str, Any] | None:
    """The share of logged rounds with the best items, and points (t, item) of the first seeds."""
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
    """`played` and `best` → the rounds and the items, for evenly spaced rounds."""
    shown = rows.iloc[thin(len(rows), MOST_ROUNDS)]
    packed = {}
    for key, name in zip(("played", "best"), DECISIONS, strict=True):
        pairs = [(t, item) for t, number in shown[["t", name]].to_numpy() for item in items(number)]
        t, item = np.array(pairs, dtype=float).reshape(-1, 2).T
        packed[key] = [arrays.add(t), arrays.add(item)]
    return packed


def items(number: float) -> list[int]:
    """The items encoded by a number of the columns: i, or −1 − Σ 2^i."""
    if number >= 0:
        return [int(number)]
    bits = int(-1 - number)
    return [place for place in range(bits.bit_length()) if bits >> place & 1]


def recoveries(group: Group, marks: list[int]) -> list[dict[str, int | None]]:
    """The number of rounds after every switch until regret per round is back at its former level.

    Regret per round is the mean over seeds and over a window, from differences of cumulative regret,
    which includes rounds that were not logged. None without recovery before the next switch.
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
    """`mark` is the first round after the switch, `end` the first round after the next one."""
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
    """Slopes of average regret, the regret that the bound limits, margins, the oracle's share."""
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
