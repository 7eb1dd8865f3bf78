"""Differences between two algorithms, or two values of any key, paired by seed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from odfl_cli.core.errors import UserError
from odfl_cli.core.statistics import paired_differences
from odfl_cli.core.text import did_you_mean, format_value
from odfl_cli.results.grouping import (
    Group,
    Settings,
    belongs_to_algorithm,
    check_column,
    check_key,
    freeze,
    is_one_of,
    without,
)
from odfl_cli.results.words import display_name

if TYPE_CHECKING:  # parsing a gap should not import pandas
    from odfl_cli.results.aggregation import Line
    from odfl_cli.results.tables import Run

Pair = tuple[Group, Group]


class Gap(NamedTuple):
    """The difference between runs with one value of a key and runs with another."""

    key: str
    first: str
    second: str

    @classmethod
    def parse(cls, text: str) -> Gap:
        """Parses two algorithms, `pf_ogd:df_ogd`, or two values of a key, `data.gamma=1:0`."""
        key, _, pair = text.rpartition("=")
        first, _, second = pair.partition(":")
        if not first or not second or ":" in second or first == second:
            raise UserError(
                f"--gap {text}: should be two algorithms, as in pf_ogd:df_ogd, "
                "or two values of a key, as in data.gamma=1:0"
            )
        return cls(key or "algo", first, second)

    @property
    def words(self) -> str:
        """The gap as it is typed on the command line."""
        pair = f"{self.first}:{self.second}"
        return pair if self.key == "algo" else f"{self.key}={pair}"

    def runs(self, runs: list[Run]) -> list[Run]:
        """The runs with either value; raises a UserError if a value has no run."""
        check_key(runs, self.key, "--gap")
        there = {format_value(run.settings[self.key]) for run in runs if self.key in run.settings}
        for value in (self.first, self.second):
            if not any(self._has(run, value) for run in runs):
                hint = did_you_mean(value, sorted(there))
                raise UserError(f"--gap: no run of {value!r}; {hint}")
        return [run for run in runs if self._has(run, self.first, self.second)]

    def lines(self, groups: list[Group], column: str, key: str | None = None) -> list[Line]:
        """Differences of final values against a key; without a key, one point at 0 per pair."""
        from odfl_cli.results.aggregation import join_points

        found = []
        for ours, theirs in self._pairs(groups, column):
            varying = self._varying(ours, theirs)
            place = {**theirs.settings, **ours.settings, **varying}
            if key is None or key in place:
                x, rest = (0, varying) if key is None else (place[key], without(varying, key))
                apart = self._subtract(ours.final(column), theirs.final(column))
                found.append((self._name(ours), rest, x, apart))
        return join_points(found)

    def curves(self, groups: list[Group], column: str) -> list[Line]:
        """Differences in every round that both runs of a pair logged."""
        from odfl_cli.results.aggregation import by_seed, curve

        found = []
        for ours, theirs in self._pairs(groups, column):
            table = self._subtract(by_seed(ours, column), by_seed(theirs, column))
            found.append(curve(self._name(ours), self._varying(ours, theirs), table))
        return found

    def _has(self, described: Run | Group, *values: str) -> bool:
        return self.key in described.settings and is_one_of(described.settings[self.key], values)

    def _name(self, ours: Group) -> str:
        return self.words if self.key == "algo" else ours.algorithm

    def _pairs(self, groups: list[Group], column: str) -> list[Pair]:
        """Pairs of groups that agree in every other varying key.

        A key of the algorithm must agree only if both were swept over the same values of it.
        """
        check_column(groups, column, "--y")
        ours, theirs = (
            [group for group in groups if self._has(group, value)]
            for value in (self.first, self.second)
        )

        def is_shared(key: str) -> bool:
            mine, other = ({freeze(g.varying.get(key)) for g in side} for side in (ours, theirs))
            return key != self.key and (not belongs_to_algorithm(key) or mine == other)

        keys = {key for group in (*ours, *theirs) for key in group.varying if is_shared(key)}
        pairs = [
            (a, b)
            for a in ours
            for b in theirs
            if (self.key == "algo" or a.algorithm == b.algorithm)
            and all(a.varying.get(key) == b.varying.get(key) for key in keys)
        ]
        if not pairs:
            raise UserError(f"--gap {self.words}: no two runs agree in all other settings")
        return pairs

    def _subtract(self, ours: Any, theirs: Any) -> Any:
        """ours − theirs by seed: a Series, or a table with one row per common round."""
        differences = type(ours)(paired_differences(ours, theirs)).dropna()
        if differences.empty:
            raise UserError(
                f"--gap {self.words} compares seed by seed, and the two have no seed in common"
            )
        return differences

    def _varying(self, ours: Group, theirs: Group) -> Settings:
        """The settings that distinguish a pair; keys in which the two differ get the algorithm as a prefix."""
        mine, owner = without(ours.varying, self.key), display_name(theirs.algorithm)
        other = {
            key if mine.get(key, value) == value else f"{owner} {key}": value
            for key, value in without(theirs.varying, self.key).items()
        }
        return {**other, **mine}
