"""How a value is taken from the runs: differences paired by seed, slopes, single columns."""

from odfl_cli.claims.verdict import Estimate
from odfl_cli.core.errors import UserError
from odfl_cli.core.statistics import mean_ci95
from odfl_cli.results.aggregation import by_seed, curve_slope
from odfl_cli.results.grouping import Group


def difference(first: Group, second: Group, column: str) -> Estimate:
    """The mean over the common seeds of first − second, in a column's final value."""
    gap = (first.final(column) - second.final(column)).dropna()
    if gap.empty:
        raise UserError(f"claims: no common seed has the column {column}")
    mean, ci95 = mean_ci95(gap.to_numpy())
    return Estimate(float(mean), float(ci95), len(gap))


def difference_of_gaps(later: tuple[Group, Group], sooner: tuple[Group, Group]) -> Estimate:
    """By how much the gap in average cost of one pair exceeds that of another, paired by seed."""
    gaps = [first.final("avg_cost") - second.final("avg_cost") for first, second in (later, sooner)]
    rise = (gaps[0] - gaps[1]).dropna()
    mean, ci95 = mean_ci95(rise.to_numpy())
    return Estimate(float(mean), float(ci95), len(rise))


def slope(group: Group, column: str) -> Estimate:
    """The slope of a column against t on logarithmic axes."""
    mean, ci95 = curve_slope(by_seed(group, column))
    return Estimate(mean, ci95, group.seeds)


def largest_share_of_bound(group: Group, column: str, bound: str) -> Estimate:
    """The largest ratio of a column's mean over seeds to its bound's, over all rounds."""
    rows = group.rows.dropna(subset=[column, bound]).groupby("t")[[column, bound]].mean()
    return Estimate(float((rows[column] / rows[bound]).max()), float("nan"), group.seeds)
