"""The leaderboard: algorithms in rows, problems in columns, means over the seeds in cells."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from odfl_cli.core.errors import UserError
from odfl_cli.core.statistics import Interval, interval, paired_differences
from odfl_cli.core.text import did_you_mean, tell
from odfl_cli.core.time_series import path_mean
from odfl_cli.results.grouping import (
    Run,
    Settings,
    check_column,
    freeze,
    pool_runs,
    sort_key,
    split_settings,
)
from odfl_cli.results.runs import StoredRun
from odfl_cli.results.words import REFERENCES, display_name, label

AVERAGED = {"avg_cost": "cost", "avg_mse": "mse"}
"""Columns of averages → the columns that they average."""
SWEEP, MEAN_COST = "sweep", "avg_mean_cost"


class Over(NamedTuple):
    """A kind of interval: functions for the values of a run by seed and for their interval."""

    values: Callable[[Any, str], dict[int, Any]]
    interval: Callable[[Iterable[Any]], Interval]
    words: str


def final_values(run: Run | StoredRun, column: str) -> dict[int, Any]:
    """Seed → the value after the last round."""
    finals: Mapping[Any, float] = dict(run.final(column))
    return {int(seed): float(value) for seed, value in finals.items()}


def read_paths(run: Run | StoredRun, column: str) -> dict[int, Any]:
    """Seed → the values [T] whose mean is the column's final value."""
    if column not in AVERAGED:
        raise UserError(f"--over rounds: --value is {' or '.join(AVERAGED)}, not {column}")
    from odfl_cli.results.tables import read_run  # pandas

    table = run if isinstance(run, Run) else read_run(run, tell)
    rounds, seeds = table.rounds, table.rows.groupby("seed")[AVERAGED[column]]
    found = {int(str(seed)): values.to_numpy() for seed, values in seeds}
    if (shortest := min(map(len, found.values()))) < rounds:
        raise UserError(
            f"--over rounds: {run.directory} has {shortest} of {rounds} rounds; "
            f"run with horizon.rows={rounds} to log them all"
        )
    return found


def interval_over_rounds(paths: Iterable[Any]) -> Interval:
    """The mean of the paths [T], averaged over seeds first, and its interval by the moving-block bootstrap."""
    several = list(paths)
    if len({len(path) for path in several}) > 1:
        raise UserError("--over rounds: the runs have different numbers of rounds")
    mean, ci95, _ = path_mean(np.mean(several, axis=0))
    return {"mean": mean, "ci95": None if np.isnan(ci95) else ci95}


SEEDS = Over(final_values, interval, "the seeds")
ROUNDS = Over(read_paths, interval_over_rounds, "the rounds")


def deciding_column(runs: Iterable[Any]) -> str:
    """The column for ranking: the less noisy mean expected cost if all runs have it, else the cost."""
    has_law = [MEAN_COST in run.columns for run in runs]
    return MEAN_COST if has_law and all(has_law) else "avg_cost"


def is_decided(gap: Interval) -> bool:
    """True if the interval excludes 0; a single seed has no interval."""
    return gap["ci95"] is not None and abs(gap["mean"]) > gap["ci95"]


@dataclass(eq=False)
class Entry:
    """Jobs that differ only in their seeds, and their rank in their problem."""

    run: Any  # the first of them, with its rows (Run) or without (StoredRun)
    problem: Settings  # with the sweep, if there are several
    hyperparameters: Settings  # of the algorithm
    values: dict[int, Any]  # by seed
    over: Over = SEEDS
    tried: int = 1  # settings of the algorithm in this cell, of which this is the best
    ahead: float = 0.0  # the share of the problem's entries that are better
    is_best: bool = False  # among the learners of the problem
    is_tied: bool = False  # not distinguishable from the best
    behind: tuple[int, Interval] | None = None  # shared seeds, and the difference to the best
    gap: Interval | None = None  # the difference to the baseline
    figure: Interval = field(init=False)

    def __post_init__(self) -> None:
        self.figure = self.over.interval(self.values.values())

    @property
    def learns(self) -> bool:
        """True unless the algorithm is a reference."""
        return self.run.algorithm not in REFERENCES

    @property
    def settings(self) -> Settings:
        """The settings that distinguish it from other entries."""
        return {"algo": self.run.algorithm, **self.problem, **self.hyperparameters}

    def pick(self, keys: list[str]) -> Settings:
        """The settings of those keys that it has."""
        return {key: self.settings[key] for key in keys if key in self.settings}

    def apart(self, other: "Entry") -> tuple[int, Interval] | None:
        """The number of shared seeds and the mean difference over them; None without any."""
        gaps = paired_differences(self.values, other.values)
        return (len(gaps), self.over.interval(gaps.values())) if gaps else None


class Board(NamedTuple):
    """Entries by row and column, both identified by their settings."""

    rows: list[Settings]
    columns: list[Settings]
    cells: Mapping[Any, Entry]  # by the settings of row and column, frozen

    def row(self, settings: Settings) -> list[Entry | None]:
        """The entries of a row."""
        return [self.cells.get(freeze([settings, column])) for column in self.columns]

    def best_settings(self, settings: Settings) -> Settings:
        """The settings of a row's algorithm that are best in all columns; empty if these differ."""
        there = list(filter(None, self.row(settings)))
        same = len({freeze(entry.hyperparameters) for entry in there}) == 1
        return there[0].hyperparameters if same and any(entry.tried > 1 for entry in there) else {}


def name_settings(settings: Settings) -> str:
    """`main, DF-OGD, γ = 0.5`, with the formulas of a figure's legend."""
    names = [str(settings[SWEEP])] if SWEEP in settings else []
    names += [display_name(settings["algo"])] if "algo" in settings else []
    rest = {key: value for key, value in settings.items() if key not in (SWEEP, "algo")}
    return label(", ".join(names), rest)


def board(
    sweeps: Mapping[str, Sequence[Run | StoredRun]],
    column: str,
    rows: Sequence[str] = (),
    columns: Sequence[str] = (),
    baseline: str = "",
    largest: bool = False,
    over: Over = SEEDS,
) -> Board:
    """The leaderboard of one sweep or several.

    By default algorithms are in rows and problems in columns. With one problem, every setting of
    an algorithm has a row; with several, its best setting in each counts.
    """
    check_column(chain(*sweeps.values()), column, "--value")
    entries = [entry for name in sweeps for entry in _entries(name, sweeps, column, over)]
    row_keys, column_keys = _layout(entries, list(rows), list(columns))
    cells: dict[Any, Entry] = {}
    for entry in sorted(entries, key=lambda entry: entry.figure["mean"], reverse=largest):
        place = freeze([entry.pick(row_keys), entry.pick(column_keys)])
        first = cells.setdefault(place, entry)
        first.tried += first is not entry
    judge(list(cells.values()), baseline)
    names = list(sweeps)
    return Board(_sort(cells, 0, row_keys, names), _sort(cells, 1, column_keys, names), cells)


def _sort(
    cells: Mapping[Any, Entry], side: int, keys: list[str], sweeps: list[str]
) -> list[Settings]:
    """The sorted settings of the rows (side 0) or columns (1).

    Algorithms: learners before references, then by the mean share of rivals that are ahead.
    """
    found: dict[Any, list[Entry]] = {}
    for place, entry in cells.items():
        found.setdefault(place[side], []).append(entry)

    def order(alike: list[Entry]) -> Any:
        if "algo" in keys:
            ahead = sum(entry.ahead for entry in alike) / len(alike)
            return not alike[0].learns, ahead, alike[0].run.algorithm
        return [
            (0, float(sweeps.index(value)), "") if key == SWEEP else sort_key(value)
            for key, value in alike[0].pick(keys).items()
        ]

    return [alike[0].pick(keys) for alike in sorted(found.values(), key=order)]


def _entries(
    name: str, sweeps: Mapping[str, Sequence[Run | StoredRun]], column: str, over: Over
) -> list[Entry]:
    found = []
    for pool, varying in pool_runs(sweeps[name]):
        outer, hyperparameters = split_settings(varying)
        values: dict[int, Any] = {}
        for run in pool:
            values = {**over.values(run, column), **values}
        if values:
            problem = {SWEEP: name, **outer} if len(sweeps) > 1 else outer
            found.append(Entry(pool[0], problem, hyperparameters, values, over))
    return found


def _layout(
    entries: list[Entry], rows: list[str], columns: list[str]
) -> tuple[list[str], list[str]]:
    """The keys of the rows and columns with defaults; raises a UserError if a key has no place."""
    outer = list(dict.fromkeys(key for entry in entries for key in entry.problem))
    hyperparameters = list(dict.fromkeys(key for entry in entries for key in entry.hyperparameters))
    known = {"algo", *outer, *hyperparameters}
    for key in [*rows, *columns]:
        if key not in known:
            hint = did_you_mean(key, sorted(known))
            raise UserError(f"{key}: the runs do not differ in it; {hint}")
    rest = [key for key in ("algo", *outer) if key not in (*rows, *columns)]
    if rows and columns and len({freeze(entry.pick(rest)) for entry in entries}) > 1:
        raise UserError(
            f"{', '.join(rest)}: the runs differ in it too; add it to --rows or --cols, or --where"
        )
    if not rows:
        problems = {freeze(entry.problem) for entry in entries}
        rows = [key for key in rest if key == "algo" or columns]
        rows += hyperparameters if len(problems) == 1 else []
    return rows, columns or [key for key in rest if key not in rows]


def judge(entries: Sequence[Entry], baseline: str = "") -> None:
    """Marks the best learner of every problem, ties with it, and the gaps; entries are sorted, best first."""
    if baseline and baseline not in (names := {entry.run.algorithm for entry in entries}):
        raise UserError(f"--gap {baseline}: no run of it; {did_you_mean(baseline, sorted(names))}")
    problems: dict[Any, list[Entry]] = {}
    for entry in entries:
        problems.setdefault(freeze(entry.problem), []).append(entry)
    for rivals in problems.values():
        first = next((entry for entry in rivals if entry.learns), rivals[0])
        base = next((entry for entry in rivals if entry.run.algorithm == baseline), None)
        for place, entry in enumerate(rivals):
            entry.ahead = place / len(rivals)
            entry.is_best = entry is first and entry.learns
            entry.behind = entry.apart(first)
            tied = entry.behind is None or not is_decided(entry.behind[1])
            entry.is_tied = tied and entry.learns and entry is not first
            apart = entry.apart(base) if base else None
            entry.gap = apart[1] if apart and entry is not base else None
