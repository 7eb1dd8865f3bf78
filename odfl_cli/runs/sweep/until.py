"""Adds seeds to the jobs of a sweep until every paired difference between algorithms is decided."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from omegaconf import DictConfig
from pydantic import Field

from odfl_cli.core.errors import UserError
from odfl_cli.core.files import write_json
from odfl_cli.core.reading import read_json
from odfl_cli.core.settings import Integer, NonNegative, PositiveInt, Real, settings
from odfl_cli.core.statistics import Decision, decide, paired_differences
from odfl_cli.core.text import did_you_mean, plus_minus, relative, tell, two_digits
from odfl_cli.results.grouping import belongs_to_algorithm
from odfl_cli.results.summary import SUMMARY, Summary
from odfl_cli.results.verdicts import VERDICT, sentences
from odfl_cli.runs.build import Parts, final_columns, top_level
from odfl_cli.runs.prepare import PreparedJob, prepare
from odfl_cli.runs.sweep.grid import Cell, Compositions, grid_cells, job_directory, varying_words
from odfl_cli.runs.sweep.local import Local
from odfl_cli.runs.sweep.start import Sweep, start_grid

GROWTH = 1.25  # the ratio of the numbers of seeds of two consecutive looks
PREFERRED = ("avg_mean_cost", "avg_cost")
"""The default column is the first of these that all jobs have."""


@settings
class Decided:
    """The settings for deciding comparisons: the keys of conf/until/decided.yaml."""

    by: str | None = None
    margin: NonNegative = 0.0
    baseline: str | list[str] | None = None
    first: Annotated[Integer, Field(ge=20)] = 50
    most: PositiveInt = 2000
    error: Annotated[Real, Field(gt=0, lt=0.5)] = 0.05

    @property
    def baselines(self) -> list[str]:
        """The algorithms that the others are compared with; if empty, all pairs are compared."""
        return [self.baseline] if isinstance(self.baseline, str) else self.baseline or []

    def looks(self) -> list[int]:
        """The numbers of seeds at which the differences are examined, ascending."""
        looks = [min(self.first, self.most)]
        while looks[-1] < self.most:
            looks.append(min(math.ceil(GROWTH * looks[-1]), self.most))
        return looks


@dataclass(frozen=True)
class Contender:
    """One job of a comparison."""

    cell: Cell  # its overrides without the seeds
    name: str  # its algorithm, with the algorithm's swept keys
    problem: str  # its other swept keys
    directory: Path

    @property
    def algorithm(self) -> str:
        """The choice of the group algo."""
        return self.name.partition(" ")[0]

    def finals(self, column: str) -> dict[int, float]:
        """The final values of a column by seed; empty before there are results."""
        try:
            return dict(Summary.parse(read_json(self.directory / SUMMARY)).final.get(column, {}))
        except FileNotFoundError:
            return {}


class Pair(NamedTuple):
    """Two jobs on the same problem, and the decision on their differences."""

    first: Contender
    second: Contender
    found: Decision

    def record(self, start: int) -> dict[str, Any]:
        """The pair as verdict.json has it, for seeds counted from `start`."""
        mean, half = self.found.mean, self.found.half
        return {
            "problem": self.first.problem,
            "first": self.first.name,
            "second": self.second.name,
            "runs": [self.first.directory.name, self.second.directory.name],
            "difference": mean,
            "interval": [mean - half, mean + half],
            "seeds": f"{start}-{start + self.found.seeds - 1}",
            "verdict": self.found.verdict,
            "more": self.found.more,
        }


class Comparison:
    """Jobs on the same problem, compared in pairs on seeds counted from `start`."""

    def __init__(self, until: Decided, jobs: list[Contender], start: int) -> None:
        self.jobs, self._start, self._looks = jobs, start, until.looks()
        base = [job for job in jobs if job.algorithm in until.baselines]
        others = [job for job in jobs if job not in base]
        self.pairs = list(product(others, base) if until.baselines else combinations(jobs, 2))
        self._until, self.size = until, self._looks[0]

    def decide(self, column: str, pairs: int) -> list[Pair]:
        """The decision on every pair, as if looks were taken one by one; `pairs` is their total number.

        Sets `size` to the seeds of the next look, or to the existing seeds if there is none.
        """
        finals = {job.name: job.finals(column) for job in self.jobs}
        seeds = range(self._start, self._start + self._until.most)
        there = min(
            next((k for k, seed in enumerate(seeds) if seed not in values), len(seeds))
            for values in finals.values()
        )
        looks = [look for look in self._looks if look <= there]
        error = self._until.error / pairs  # Bonferroni: all hold together
        decided = []
        for first, second in self.pairs:
            gaps = paired_differences(finals[first.name], finals[second.name])
            differences = [gaps[seed] for seed in seeds[:there]]
            found = decide(differences, looks, self._until.margin, error)
            decided.append(Pair(first, second, found))
        is_open = any(pair.found.verdict == "undecided" for pair in decided)
        last = max((pair.found.seeds for pair in decided), default=0)
        following = [look for look in self._looks if look > last] if is_open else []
        self.size = following[0] if following else max(there, last)
        return decided


def run_until_decided(
    master: DictConfig, local: Local | None, launch: Callable[[Sweep], None]
) -> bool:
    """Runs the jobs of a sweep with more and more seeds and writes the verdicts; returns whether none failed."""
    until: Decided = Parts(master, {}).make("until")
    top = top_level(master)
    if top.force or top.retry:
        raise UserError("until=decided: computes what is missing; leave out force and retry")
    jobs, column = _check(master, until, local.compositions if local else Compositions(master))
    start = min(top.seed_list())
    problems = dict.fromkeys(job.problem for job in jobs)
    comparisons = [
        Comparison(until, [job for job in jobs if job.problem == problem], start)
        for problem in problems
    ]
    count = sum(len(one.pairs) for one in comparisons)
    if not count:
        raise UserError("until=decided: nothing to compare; sweep over algo=… or keys of one")
    for one in comparisons:
        one.decide(column, count)  # on what an earlier attempt has left
    while True:
        before = [one.size for one in comparisons]
        asked = [
            (*job.cell, f"seeds={start}-{start + one.size - 1}")
            for one in comparisons
            for job in one.jobs
        ]
        sweep = start_grid(master, local, asked, brief=True)
        launch(sweep)
        if not sweep.close(brief=True):
            return False
        pairs = [pair for one in comparisons for pair in one.decide(column, count)]
        verdicts = {
            "column": column,
            "margin": until.margin,
            "error": until.error,
            "most": until.most,
            "pairs": [pair.record(start) for pair in pairs],
        }
        write_json(sweep.directory / VERDICT, verdicts)
        if before == [one.size for one in comparisons]:
            break
        print(_line(pairs), flush=True)
    print("\n".join([*sentences(verdicts), relative(sweep.directory)]))
    return True


def _check(
    master: DictConfig, until: Decided, compositions: Compositions
) -> tuple[list[Contender], str]:
    """The jobs and the column to compare; raises a UserError if they cannot be compared."""
    cells = [tuple(w for w in cell if not w.startswith("seeds=")) for cell in grid_cells(master)]
    cells = list(dict.fromkeys(cells))
    jobs, columns, tuned = [], [], dict[str, None]()
    for cell, words in zip(cells, varying_words(cells), strict=True):
        config = compositions.compose(cell)
        prepared = prepare(config, config.hydra, job_directory(config))
        if hasattr(prepared.job.environment, "extent"):
            raise UserError(
                "until=decided: seeds of recorded data are no repetitions; use odfl best --over rounds"
            )
        summary = prepared.state.summary  # of an earlier version, it may lack a column
        columns.append(
            [c for c in final_columns(prepared.job) if not summary or c in summary.final]
        )
        tuned |= dict.fromkeys(prepared.tuned)
        jobs.append(_contender(cell, words, prepared))
    there = list(dict.fromkeys(job.algorithm for job in jobs))
    for name in set(until.baselines).difference(there):
        raise UserError(f"until.baseline={name}: {did_you_mean(name, there)}")
    shared = [column for column in columns[0] if all(column in other for other in columns)]
    column = until.by or next(column for column in PREFERRED if column in shared)
    if column not in shared:
        hint = did_you_mean(column, shared)
        raise UserError(f"until.by={column}: there is no such column; {hint}")
    for line in tuned:
        tell(line)
    if until.by is None:
        tell(f"until=decided: compares {column}; until.by=… names another column")
    return jobs, column


def _contender(cell: Cell, words: Cell, prepared: PreparedJob) -> Contender:
    more = [w for w in words if belongs_to_algorithm(w.partition("=")[0]) and w[:5] != "algo="]
    name = " ".join([prepared.record["choices"]["algo"], *more])
    problem = " ".join(word for word in words if not belongs_to_algorithm(word.partition("=")[0]))
    return Contender(cell, name, problem, prepared.directory)


def _line(pairs: list[Pair]) -> str:
    """A line with the number of decided pairs, and the pair furthest from a decision."""
    left = [pair for pair in pairs if pair.found.verdict == "undecided"]
    first, second, found = max(left, key=lambda pair: pair.found.more)
    where, number = f"{first.problem}: " if first.problem else "", two_digits(found.half)
    return (
        f"{found.seeds} seeds, {len(pairs) - len(left)} of {len(pairs)} pairs decided; "
        f"{where}{first.name} − {second.name} {plus_minus(found.mean, found.half, number)}, "
        f"about {found.more:,} more seeds"
    )
