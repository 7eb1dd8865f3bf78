"""The results of `run`, `sweep` and `load`: runs as tables and as a figure."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import pandas as pd

from odfl_cli.config.directory import is_tuning
from odfl_cli.core.errors import UserError
from odfl_cli.core.seeds import parse_seeds
from odfl_cli.core.text import plus_minus
from odfl_cli.results.finding import OUTPUTS, Where, locate_all, newest
from odfl_cli.results.grouping import differing_keys, group_runs
from odfl_cli.results.tables import Run, final_figures, read_runs
from odfl_cli.results.verdicts import verdicts_in

if TYPE_CHECKING:  # matplotlib comes with the first figure
    from matplotlib.axes import Axes

SHOWN = ("avg_cost", "avg_mse")  # columns whose means a notebook shows
LONGEST = 120  # characters


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """One run or several, in memory or read from files.

    `rows`, `final` and `summary` are tables that begin with the columns `algo` and the keys by
    which the runs differ (`data.gamma`, …). `result[0]` is the first run alone, and a loop over a
    result goes through its runs.
    """

    runs: Sequence[Run]
    states: Sequence[Any] = ()  # in the order of `runs`; empty for runs read from files
    modules: Sequence[Callable[[int], Any]] = ()  # as the states: seed → its learnt torch module
    verdicts: Sequence[str] = ()  # of sweeps with until=decided, in sentences

    @cached_property
    def keys(self) -> list[str]:
        """The keys other than the algorithm in which the runs differ."""
        return [key for key in differing_keys(self.runs) if key != "algo" and not is_tuning(key)]

    @cached_property
    def rows(self) -> pd.DataFrame:
        """One row per run, seed and logged round: algo, keys, seed, t, cost, avg_cost, …"""
        tables = [self._add_names(run, run.rows) for run in self.runs]
        return pd.concat(tables, ignore_index=True)

    @cached_property
    def final(self) -> pd.DataFrame:
        """The last round of every run and seed, indexed by the seed."""
        return pd.concat(
            [self._add_names(run, run.rows[run.rows["t"] == run.rounds]) for run in self.runs]
        ).set_index("seed")

    @cached_property
    def summary(self) -> pd.DataFrame:
        """One row per run: algo, keys, seeds, rounds, and every final column's mean and ci95."""
        return pd.DataFrame(
            self._names(run) | {"seeds": len(run.seeds), "rounds": run.rounds} | final_figures(run)
            for run in self.runs
        )

    @property
    def state(self) -> Any:
        """The algorithm's last state, for a single run in memory; `state.theta` is [S, m]."""
        return self._only("state", self.states)

    def module(self, seed: int) -> Any:
        """A copy of the trained torch module of a seed, for a single run in memory."""
        return self._only("module", self.modules)(seed)

    def _only(self, name: str, values: Sequence[Any]) -> Any:
        if not values:
            raise UserError(f"{name}: it is not in the files; run(...) the job in this session")
        if len(values) > 1:
            raise UserError(
                f"{name}: there are several runs; take one of them, as in result[0].{name}"
            )
        return values[0]

    def plot(self, y: str = "avg_cost", ax: "Axes | None" = None) -> "Axes":
        """Draws the mean of a column against the rounds with its 95% interval, as `odfl plot` does.

        Returns the axes: `ax`, or those of a new figure (`result.plot().figure.savefig(…)`).
        """
        from odfl_cli.plotting.sheets import curve_axes

        if y not in self.rows or y in ("seed", "t", *self._names(self.runs[0])):
            columns = [str(name) for name in self.runs[0].rows if name not in ("seed", "t")]
            raise UserError(f"y={y}: there is no such column; there are {', '.join(columns)}")
        return curve_axes(group_runs(list(self.runs)), y, ax)

    def __len__(self) -> int:
        return len(self.runs)

    def __getitem__(self, place: int) -> "Result":
        states, modules = ([v[place]] if v else [] for v in (self.states, self.modules))
        return Result([self.runs[place]], states, modules)

    def __repr__(self) -> str:
        """A short line about its content."""
        names = list(dict.fromkeys(run.algorithm for run in self.runs))
        if len(self) > 1:
            words = [f"{len(self)} runs", *names, *(f"{key}=…" for key in self.keys)]
        else:
            row = self.summary.iloc[0]
            words = [*names, f"seeds={row['seeds']}", f"rounds={row['rounds']}"]
            words += [f"{column}={_plus_minus(row, column)}" for column in SHOWN]
        return f"Result({shorten(', '.join(words), LONGEST, placeholder=' …')})"

    def _repr_html_(self) -> str:
        """A small table for notebooks, one line per run; pandas escapes what it shows."""
        table = self.summary[["algo", *self.keys, "seeds", "rounds"]].copy()
        for name in SHOWN:
            table[name] = [_plus_minus(row, name) for _, row in self.summary.iterrows()]
        return table.to_html(index=False, border=0, escape=True, na_rep="", max_rows=30)

    def _add_names(self, run: Run, rows: pd.DataFrame) -> pd.DataFrame:
        """The rows, preceded by the columns that distinguish their run."""
        table = rows[["seed", *rows.columns.drop("seed")]].reset_index(drop=True)
        for place, (name, value) in enumerate(self._names(run).items()):
            table.insert(place, name, [value] * len(table))
        return table

    def _names(self, run: Run) -> dict[str, Any]:
        return {"algo": run.algorithm} | {key: run.settings.get(key) for key in self.keys}


def _plus_minus(row: "pd.Series[Any]", column: str) -> str:
    return plus_minus(row[f"{column}_mean"], row[f"{column}_ci95"])


def load_runs(places: Sequence[str | Path], seeds: str | int | Iterable[int] | None) -> Result:
    """The runs at the places, or what finished last under outputs/."""
    found = locate_all(map(str, places)) or [newest(OUTPUTS)]
    where = Where({}, None if seeds is None else parse_seeds(seeds))
    lines: list[str] = []
    try:
        runs = read_runs(found, lines.append, where)
    finally:
        for line in lines:
            warnings.warn(line, stacklevel=3)  # at the line that calls `load`
    return Result(runs, verdicts=verdicts_in(found))
