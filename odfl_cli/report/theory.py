"""The quantities of the paper's theorems that a group of runs measured."""

import math
from typing import Any

from odfl_cli.results.aggregation import bounded_regret, by_seed, curve_slope
from odfl_cli.results.grouping import Group

SLOPES = ("static_regret", "expected_static_regret", "dynamic_regret")


def theory(group: Group) -> dict[str, Any]:
    """Slopes of average regret, the regret that the bound is about, margins, the oracle's share."""
    found: dict[str, Any] = {}
    slopes = {
        column: slope
        for column in SLOPES
        if f"avg_{column}" in group.rows and (slope := _slope(group, f"avg_{column}"))
    }
    if slopes:
        found["slopes"] = slopes
    if "bound" in group.columns:
        found["bounded"] = bounded_regret(group).removeprefix("avg_")
    margin = group.extras.get("margin")
    if isinstance(margin, dict):
        numbers = {name: margin.get(name) for name in ("c0", "beta")}
        found["margin"] = {k: v for k, v in numbers.items() if isinstance(v, int | float)}
    share = group.extras.get("oracle_share")
    if isinstance(share, int | float):
        found["oracleShare"] = float(share)
    return found


def _slope(group: Group, column: str) -> list[float | None] | None:
    slope = curve_slope(by_seed(group, column))
    if math.isnan(slope[0]):
        return None
    return [number if math.isfinite(number) else None for number in slope]
