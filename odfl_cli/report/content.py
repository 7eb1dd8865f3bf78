"""The document that the page shows: comparisons, curves, final values, runs, in plain JSON."""

import math
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, NamedTuple

import pandas as pd

from odfl_cli import __version__
from odfl_cli.core.statistics import student_quantile
from odfl_cli.plotting.style import LineStyle, apply_styles, line_styles
from odfl_cli.report.arrays import Arrays
from odfl_cli.report.curves import CurveRoom, curve_columns, pack_curves
from odfl_cli.report.decisions import pack_decisions
from odfl_cli.report.names import (
    algorithm_name,
    average_words,
    clean,
    column_words,
    key_words,
    settings_label,
    value_text,
)
from odfl_cli.report.recovery import recoveries
from odfl_cli.report.sources import Experiment, Facts
from odfl_cli.report.theory import theory
from odfl_cli.report.verdict import Contestant, describe, headline, leader_of, ranked
from odfl_cli.results.aggregation import Line
from odfl_cli.results.grouping import Group, Settings, belongs_to_algorithm, freeze, sort_key
from odfl_cli.results.names import REFERENCES
from odfl_cli.results.summary import CUMULATIVE

RANKED_BY = "avg_cost"


class Comparison(NamedTuple):
    """Groups of an experiment that differ only in their algorithm and its keys."""

    experiment: str
    settings: Settings
    groups: list[Group]

    @property
    def name(self) -> str:
        """The experiment and the settings that distinguish this comparison."""
        settings = settings_label(self.settings)
        return ": ".join(filter(None, [clean(self.experiment), settings]))


class Document(NamedTuple):
    """The page's content: what it says in words, and the numbers behind it."""

    title: str
    headline: str  # empty for a single comparison
    verdicts: list[tuple[str, list[str]]]  # a comparison's name and sentences
    content: dict[str, Any]
    arrays: Arrays


def document(experiments: list[Experiment], claims: list[Any], title: str = "") -> Document:
    """Everything that the page needs of the experiments."""
    comparisons = [comparison for one in experiments for comparison in comparisons_of(one)]
    groups = [group for comparison in comparisons for group in comparison.groups]
    arrays, room = Arrays(), CurveRoom.of(_by_rank(comparisons))
    content = {
        "odfl": __version__,
        "columns": _columns(groups),
        "keys": {key: key_words(key) for group in groups for key in group.varying},
        "algorithms": {group.algorithm: algorithm_name(group.algorithm) for group in groups},
        "floors": list(REFERENCES),
        "comparisons": [_comparison(comparison) for comparison in comparisons],
        "groups": [
            _group(place, group, look, comparison, arrays, room)
            for place, comparison in enumerate(comparisons)
            for group, look in _with_styles(comparison)
        ],
        "runs": [_run(facts, one.name) for one in experiments for facts in one.runs],
        "unread": sum(one.unread for one in experiments),
        "quantiles": _quantiles(groups),
        "claims": claims,
        "rankedBy": RANKED_BY,
    }
    fields = [contestants(comparison) for comparison in comparisons]
    verdicts = [
        (comparison.name, describe(field, "average cost"))
        for comparison, field in zip(comparisons, fields, strict=True)
    ]
    summary = headline([leader_of(field) for field in fields]) if len(comparisons) > 1 else ""
    return Document(clean(title or _title(experiments)), summary, verdicts, content, arrays)


def comparisons_of(experiment: Experiment) -> list[Comparison]:
    """The comparisons of an experiment, in the order of their settings."""
    pools: dict[Hashable, Comparison] = {}
    for group in experiment.groups:
        outer = {
            key: value for key, value in group.varying.items() if not belongs_to_algorithm(key)
        }
        identity = freeze(outer), group.rounds
        pools.setdefault(identity, Comparison(experiment.name, outer, [])).groups.append(group)
    order = lambda comparison: [sort_key(value) for value in comparison.settings.values()]  # noqa: E731
    return sorted(pools.values(), key=order)


def contestants(comparison: Comparison) -> list[Contestant]:
    """The learners of a comparison, each with its best settings there."""
    by_algorithm: dict[str, list[Contestant]] = {}
    for group in comparison.groups:
        final = group.final(RANKED_BY)
        if group.algorithm not in REFERENCES and len(final):
            values = dict(zip(map(int, final.index), map(float, final), strict=True))
            named = Contestant(algorithm_name(group.algorithm), values)
            by_algorithm.setdefault(group.algorithm, []).append(named)
    return [ranked(every)[0]._replace(settings=len(every)) for every in by_algorithm.values()]


def _by_rank(comparisons: list[Comparison]) -> list[Group]:
    """All groups, the best settings of every algorithm in every comparison first."""
    placed: list[tuple[int, Group]] = []
    for comparison in comparisons:
        by_algorithm: dict[str, list[Group]] = {}
        for group in comparison.groups:
            by_algorithm.setdefault(group.algorithm, []).append(group)
        for alike in by_algorithm.values():
            placed += enumerate(sorted(alike, key=lambda group: group.final(RANKED_BY).mean()))
    return [group for _, group in sorted(placed, key=lambda pair: pair[0])]


def _comparison(comparison: Comparison) -> dict[str, Any]:
    marks = sorted({mark for group in comparison.groups for mark in _marks(group)})
    return {
        "experiment": clean(comparison.experiment),
        "name": comparison.name,
        "settings": _plain(comparison.settings),
        "marks": marks,
        "items": _first(group.settings.get("data.items") for group in comparison.groups),
        "rounds": max(group.rounds for group in comparison.groups),
    }


def _group(
    place: int,
    group: Group,
    look: LineStyle,
    comparison: Comparison,
    arrays: Arrays,
    room: CurveRoom,
) -> dict[str, Any]:
    own = {key: value for key, value in group.varying.items() if belongs_to_algorithm(key)}
    seeds = group.seeds
    name = ", ".join(filter(None, [algorithm_name(group.algorithm), settings_label(own)]))
    return {
        "comparison": place,
        "algorithm": group.algorithm,
        "name": name,
        "own": _plain(own),
        "varying": _plain(group.varying),
        "rounds": group.rounds,
        "seeds": seeds,
        "look": _look(look),
        "final": _finals(group, seeds),
        "curves": pack_curves(group, arrays, room),
        "decisions": pack_decisions(group, arrays),
        "recovery": recoveries(group, sorted(_marks(group))),
        "theory": theory(group),
    }


def _finals(group: Group, seeds: list[int]) -> dict[str, list[float | None]]:
    """By column, in the order of the seeds."""
    last = group.last.reindex(seeds)
    return {
        column: [_finite(float(value)) for value in last[column]]
        for column in curve_columns(group)
        if last[column].notna().any()
    }


def _with_styles(comparison: Comparison) -> Iterable[tuple[Group, LineStyle]]:
    """The groups with the styles of `odfl plot`, in the order of its legend."""
    lines = [
        Line(
            group.algorithm,
            {k: v for k, v in group.varying.items() if belongs_to_algorithm(k)},
            pd.DataFrame(),
        )
        for group in comparison.groups
    ]
    of_line = {id(line): group for line, group in zip(lines, comparison.groups, strict=True)}
    drawn = apply_styles(lines, line_styles([group.algorithm for group in comparison.groups]))
    return [(of_line[id(one.line)], one.style) for one in drawn]


def _look(look: LineStyle) -> dict[str, Any]:
    """Colour and dashes for SVG; dashes are multiples of the width in matplotlib."""
    colour = "#" + "".join(f"{round(255 * part):02x}" for part in look.colour)
    dashes = () if isinstance(look.dashes, str) else look.dashes[1]
    dash = " ".join(f"{1.3 * look.width * length:.3g}" for length in dashes)
    return {"colour": colour, "dash": dash, "width": round(1.3 * look.width, 2)}


def _run(facts: Facts, experiment: str) -> dict[str, Any]:
    cleaned = {key: _cleaned(value) for key, value in facts.items()}
    return cleaned | {"experiment": clean(experiment), "command": facts.get("command")}


def _cleaned(value: Any) -> Any:
    if isinstance(value, dict):
        return {clean(key): _cleaned(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_cleaned(inner) for inner in value]
    return clean(value) if isinstance(value, str) else _finite(value)


def _columns(groups: list[Group]) -> dict[str, dict[str, Any]]:
    names = dict.fromkeys(column for group in groups for column in curve_columns(group))
    return {
        name: {"words": column_words(name), "average": average_words(name)}
        if name in CUMULATIVE
        else {"words": column_words(name)}
        for name in names
    }


def _quantiles(groups: list[Group]) -> dict[int, float]:
    """Student's quantile for every count of seeds that can be shared; the key is the count."""
    most = max((len(group.seeds) for group in groups), default=0)
    return {count: student_quantile(count - 1) for count in range(2, most + 1)}


def _plain(settings: Mapping[str, Any]) -> dict[str, float | str]:
    """Numbers as they are, anything else as text."""
    return {
        key: float(value) if sort_key(value)[0] == 0 and math.isfinite(value) else value_text(value)
        for key, value in settings.items()
    }


def _marks(group: Group) -> list[int]:
    marks = group.extras.get("marks") or []
    return [mark for mark in marks if type(mark) is int]


def _title(experiments: list[Experiment]) -> str:
    names = [one.name for one in experiments]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more


def _first(values: Iterable[Any]) -> Any:
    return next((value for value in values if isinstance(value, int)), None)


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
