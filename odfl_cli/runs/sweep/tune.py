"""Chooses constants on some seeds, and runs the jobs of a sweep with them on others."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, read_write

from odfl_cli.config.arguments import quote
from odfl_cli.core.errors import UserError
from odfl_cli.core.files import write_json
from odfl_cli.core.reading import flatten, read_json
from odfl_cli.core.seeds import format_seeds, parse_seeds
from odfl_cli.core.settings import PositiveInt, settings
from odfl_cli.core.statistics import interval
from odfl_cli.core.text import assignments, plus_minus, relative, table, two_digits
from odfl_cli.results.summary import FAILURE, SUMMARY, Summary
from odfl_cli.results.verdicts import TUNED
from odfl_cli.runs.build import Parts, build, top_level
from odfl_cli.runs.prepare import unused_keys
from odfl_cli.runs.sweep.grid import Cell, Compositions, grid_cells, job_directory, varying_words
from odfl_cli.runs.sweep.local import Local
from odfl_cli.runs.sweep.start import Sweep, start_grid


@settings
class Tune:
    """The settings for choosing constants: the keys of conf/tune/*.yaml."""

    seeds: str | int | list[int | str]
    rounds: PositiveInt | None = None
    trials: PositiveInt | None = None
    grids: dict[str, dict[str, Any] | None]

    def seed_list(self) -> tuple[int, ...]:
        """The seeds on which constants are chosen."""
        named = self.seeds
        text = f"[{','.join(map(str, named))}]" if isinstance(named, list) else named
        return parse_seeds(text, "tune.seeds")

    def grid_of(self, algorithm: str, cell: Cell) -> dict[str, list[Any]]:
        """Key → values to try, except for keys without values and keys that the job sets itself."""
        typed = {word.lstrip("+").partition("=")[0] for word in cell}
        grid = flatten(self.grids.get(algorithm) or {})
        for key, values in grid.items():
            if values is not None and not (isinstance(values, list) and values):
                place = f"tune.grids.{algorithm}.{key}={values}"
                raise UserError(f"{place}: should be a list of values, or null")
        return {key: values for key, values in grid.items() if values and key not in typed}


@dataclass
class Contest:
    """One job of the sweep and its candidates."""

    cell: Cell  # its overrides
    name: str
    grid: dict[str, list[Any]]
    found: dict[Cell, list[float]] = field(default_factory=dict)  # constants → objective by seed
    study: Any = None  # Optuna's, which proposes one candidate after another

    @property
    def unseeded(self) -> Cell:
        """Its overrides without the seeds."""
        return tuple(word for word in self.cell if not word.startswith("seeds="))

    def propose(self) -> Iterator[Cell]:
        """The constants to try next, as overrides: the whole grid, or Optuna's next ones."""
        if self.study:
            self.trial = self.study.ask()
            values = [_suggest(self.trial, key, values) for key, values in self.grid.items()]
            yield self._words(values)
        elif self.grid:
            yield from map(self._words, product(*self.grid.values()))

    def judge(self, words: Cell, values: list[float]) -> None:
        """Records the objective of a candidate by seed; a failed one has none and loses."""
        self.found[words] = values
        if self.study:
            self.study.tell(self.trial, _mean(values))

    def winner(self) -> Cell:
        """The constants with the least mean, the first among equals."""
        if not self.found:
            return ()
        best = min(self.found, key=lambda words: _mean(self.found[words]))
        if not self.found[best]:
            raise UserError(f"tune: {self.name}: every candidate failed; widen its grid")
        return best

    def describe(self) -> dict[str, Any]:
        """The winner's constants, which of them lie at the edge of their grid, and its objective."""
        words = dict(word.split("=", 1) for word in self.winner())
        return {
            "job": self.name,
            "chosen": words,
            "edge": [key for key in words if _is_at_the_edge(words[key], self.grid[key])],
            "tried": len(self.found),
            "failed": sum(not values for values in self.found.values()),
            **interval(self.found[self.winner()]),
        }

    def _words(self, values: Any) -> Cell:
        pairs = zip(self.grid, values, strict=True)
        return tuple(f"{key}={quote(key, value)}" for key, value in pairs)


def run_tuned(master: DictConfig, local: Local | None, launch: Callable[[Sweep], None]) -> bool:
    """Tries the candidates of every job and runs the winners; returns whether all have results."""
    tune: Tune = Parts(master, {}).make("tune")
    top, name = top_level(master), str(master.sweep)
    seeds, compositions = tune.seed_list(), local.compositions if local else Compositions(master)
    if top.seeds is None:
        raise UserError(
            "tune: name the groups to report, as in seeds=[0-9], and an early tune.seeds"
        )
    if shared := set(seeds) & set(top.seed_list()):
        raise UserError(f"tune.seeds: seed {min(shared)} is reported, too; choose on others")
    contests = _contests(tune, grid_cells(master), compositions)
    rounds = (f"horizon.rounds={tune.rounds}",) if tune.rounds else ()
    fixed = (f"seeds={quote('seeds', list(seeds))}", *rounds)
    for _ in range(tune.trials or 1):
        asked = {
            (*one.unseeded, *words, *fixed): (one, words)
            for one in contests
            for words in one.propose()
        }
        _rename(master, f"{name}-tune")
        sweep = start_grid(master, local, list(asked), brief=True)
        launch(sweep)
        sweep.close(brief=True)
        for cell, (contest, words) in asked.items():
            values = _finals(job_directory(compositions.compose(cell)), top.objective, seeds)
            if values is None:  # killed: the same command computes what is missing
                return False
            contest.judge(words, values)
    chosen = [contest.describe() for contest in contests if contest.grid]
    print(f"{_table(chosen, top.objective)}\n{relative(sweep.directory)}", flush=True)
    record = {"objective": top.objective, "seeds": format_seeds(seeds), "rounds": tune.rounds,
              "sweep": str(master.sweep), "jobs": chosen}  # fmt: skip
    _rename(master, name)
    sweep = start_grid(master, local, [(*one.cell, *one.winner()) for one in contests])
    write_json(sweep.directory / TUNED, record)
    launch(sweep)
    return sweep.close()


def _contests(tune: Tune, cells: list[Cell], compositions: Compositions) -> list[Contest]:
    """A contest for every job; raises a UserError if there is nothing to tune."""
    contests = []
    for cell, words in zip(cells, varying_words(cells), strict=True):
        config = compositions.compose(cell)
        algorithm = str(config.hydra.runtime.choices.algo)
        grid = tune.grid_of(algorithm, cell)
        if grid and "algo.step" not in grid:
            unused = unused_keys(build(config).algorithm)
            grid = {key: values for key, values in grid.items() if key not in unused}
        contests.append(Contest(cell, " ".join(words) or f"algo={algorithm}", grid))
        if tune.trials and grid:
            contests[-1].study = _study()
    if not any(contest.grid for contest in contests):
        raise UserError(
            "tune: no job has constants to choose; tune.grids.<algo> lists them, and steps that adapt "
            "need no step size"
        )
    return contests


def _study() -> Any:
    if find_spec("optuna") is None:
        raise UserError(
            "tune=optuna: not installed; pip install -e '.[search]' in odfl's clone brings it"
        )
    optuna: Any = import_module("optuna")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0))


def _suggest(trial: Any, key: str, values: list[Any]) -> Any:
    """A number between the ends of the grid, on a logarithmic scale, or one of the values."""
    if all(isinstance(value, int | float) and value > 0 for value in values):
        return float(f"{trial.suggest_float(key, min(values), max(values), log=True):.3g}")
    return trial.suggest_categorical(key, values)


def _is_at_the_edge(value: str, values: list[Any]) -> bool:
    """True if a constant lies within a tenth of an end of the numbers that were tried."""
    if len(values) < 3 or not all(isinstance(one, int | float) for one in values):
        return False
    return not 1.1 * min(values) < float(value) < max(values) / 1.1


def _rename(master: DictConfig, name: str) -> None:
    with read_write(master):
        master.sweep = name


def _finals(run: Path, column: str, seeds: tuple[int, ...]) -> list[float] | None:
    """The objective by seed; empty for a failed candidate, None for one that has not ended."""
    try:
        values = Summary.parse(read_json(run / SUMMARY)).finals(column, seeds)
    except FileNotFoundError:
        values = []
    if len(values) == len(seeds):
        return values
    return [] if (run / FAILURE).exists() else None


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else math.inf


def _table(chosen: list[dict[str, Any]], objective: str) -> str:
    rows = [["job", "chosen", "at the edge", objective, "tried"]]
    for one in chosen:
        figure = plus_minus(one["mean"], one["ci95"], two_digits(one["ci95"]))
        failed = f", {one['failed']} failed" if one["failed"] else ""
        edge = ", ".join(one["edge"]) or "-"
        rows.append(
            [one["job"], assignments(one["chosen"]), edge, figure, f"{one['tried']}{failed}"]
        )
    return table(rows)
