"""The content of the page in plain JSON: comparisons, curves, final values, runs."""

import math
from collections import Counter
from collections.abc import Hashable
from typing import Any, NamedTuple

from odfl_cli import __version__
from odfl_cli.core.statistics import student_quantile
from odfl_cli.core.text import format_value
from odfl_cli.plotting.style import Drawn, LineStyle, apply_styles, line_styles
from odfl_cli.report.numbers import (
    Arrays,
    CurveRoom,
    curve_columns,
    pack_curves,
    pack_decisions,
    recoveries,
    theory,
)
from odfl_cli.report.sources import Experiment, Facts
from odfl_cli.report.verdict import LONGEST, clean, describe, headline, leader_of
from odfl_cli.results.grouping import Group, Settings, freeze, sort_key, split_settings
from odfl_cli.results.leaderboard import Entry, board, deciding_column
from odfl_cli.results.summary import CUMULATIVE
from odfl_cli.results.words import (
    COLUMNS,
    REFERENCES,
    column_words,
    display_name,
    key_label,
    label,
    to_unicode,
)


class Comparison(NamedTuple):
    """Groups of an experiment that differ only in their algorithm and its keys."""

    experiment: str
    settings: Settings
    groups: list[Group]

    @property
    def name(self) -> str:
        """The experiment and the settings that distinguish this comparison."""
        return ": ".join(filter(None, [clean(self.experiment), _label("", self.settings)]))

    @property
    def column(self) -> str:
        """The column for ranking: the expected cost if all groups have it."""
        return deciding_column(self.groups)

    @property
    def learners(self) -> list[Entry]:
        """Every learner with its best settings, the best learner first."""
        column = self.column
        if not any(column in group.columns for group in self.groups):
            return []
        found = board({self.name: self.groups}, column, rows=["algo"])
        return [entry for entry in found.cells.values() if entry.learns]


class Document(NamedTuple):
    """The page's content: sentences, and the numbers behind them."""

    title: str
    headline: str  # empty for a single comparison
    verdicts: list[tuple[str, list[str]]]  # a comparison's name and sentences
    content: dict[str, Any]
    arrays: Arrays
    decided: list[str]  # the verdicts of until=decided, in sentences
    chosen: list[str]  # the choices of tune=, in sentences


def document(experiments: list[Experiment], claims: list[Any], title: str = "") -> Document:
    """The document of the experiments."""
    comparisons = [comparison for one in experiments for comparison in split_experiment(one)]
    groups = [group for comparison in comparisons for group in comparison.groups]
    arrays, room = Arrays(), CurveRoom.share(_best_first(comparisons))
    most_seeds = max((len(group.seeds) for group in groups), default=0)
    content = {
        "odfl": __version__,
        "columns": {column: _column(column) for group in groups for column in curve_columns(group)},
        "keys": {key: clean(to_unicode(key_label(key))) for g in groups for key in g.varying},
        "algorithms": {group.algorithm: _label(group.algorithm) for group in groups},
        "floors": list(REFERENCES),
        "comparisons": [_comparison(comparison) for comparison in comparisons],
        "groups": [
            _group(place, drawn, arrays, room)
            for place, comparison in enumerate(comparisons)
            for drawn in apply_styles(
                comparison.groups, line_styles([group.algorithm for group in comparison.groups])
            )
        ],
        "runs": [_run(facts, one.name) for one in experiments for facts in one.runs],
        "quantiles": {count: student_quantile(count - 1) for count in range(2, most_seeds + 1)},
        "claims": claims,
        "rankedBy": deciding_column(groups),
    }
    learners = [comparison.learners for comparison in comparisons]
    verdicts = [
        (comparison.name, describe(entries, column_words(comparison.column)))
        for comparison, entries in zip(comparisons, learners, strict=True)
    ]
    summary = headline(list(map(leader_of, learners))) if len(comparisons) > 1 else ""
    names = [one.name for one in experiments]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    title = title or ", ".join(names[:3]) + more
    decided = [clean(sentence) for one in experiments for sentence in one.decided]
    chosen = [clean(sentence) for one in experiments for sentence in one.chosen]
    return Document(clean(title), summary, verdicts, content, arrays, decided, chosen)


def split_experiment(experiment: Experiment) -> list[Comparison]:
    """The comparisons of an experiment, in the order of their settings."""
    pools: dict[Hashable, Comparison] = {}
    for group in experiment.groups:
        outer, _ = split_settings(group.varying)
        identity = freeze(outer), group.rounds
        pools.setdefault(identity, Comparison(experiment.name, outer, [])).groups.append(group)
    return sorted(pools.values(), key=lambda one: [sort_key(v) for v in one.settings.values()])


def _label(algorithm: str, settings: Settings | None = None) -> str:
    """DF-OGD, γ = 0.5."""
    name = display_name(algorithm) if algorithm else ""
    return clean(to_unicode(label(name, settings or {}, LONGEST)))


def _best_first(comparisons: list[Comparison]) -> list[Group]:
    """All groups, the best settings of every algorithm in every comparison first."""
    placed = []
    for one in comparisons:
        column, count = one.column, Counter[str]()
        ranked = [(float(group.final(column).mean()), group) for group in one.groups]
        for _, group in sorted(ranked, key=lambda pair: pair[0]):
            placed.append((count[group.algorithm], group))
            count[group.algorithm] += 1
    return [group for _, group in sorted(placed, key=lambda pair: pair[0])]


def _comparison(comparison: Comparison) -> dict[str, Any]:
    groups = comparison.groups
    items = [group.settings.get("data.items") for group in groups]
    return {
        "experiment": clean(comparison.experiment),
        "name": comparison.name,
        "settings": _to_json(comparison.settings),
        "marks": sorted({mark for group in groups for mark in group.extras.get("marks", ())}),
        "items": next((count for count in items if isinstance(count, int)), None),
        "rounds": max(group.rounds for group in groups),
    }


def _group(comparison: int, drawn: Drawn, arrays: Arrays, room: CurveRoom) -> dict[str, Any]:
    group = drawn.line
    _, hyperparameters = split_settings(group.varying)
    last = group.last.reindex(group.seeds)
    return {
        "comparison": comparison,
        "algorithm": group.algorithm,
        "name": _label(group.algorithm, hyperparameters),
        "hyperparameters": _to_json(hyperparameters),
        "varying": _to_json(group.varying),
        "rounds": group.rounds,
        "seeds": group.seeds,
        "look": _svg_style(drawn.style),
        "final": {
            column: [_clean_value(float(value)) for value in last[column]]
            for column in curve_columns(group)
            if last[column].notna().any()
        },
        "curves": pack_curves(group, arrays, room),
        "decisions": pack_decisions(group, arrays),
        "recovery": recoveries(group, sorted(group.extras.get("marks", ()))),
        "theory": theory(group),
    }


def _svg_style(style: LineStyle) -> dict[str, Any]:
    """Colour, dashes and width for SVG; matplotlib's dashes are multiples of the width."""
    colour = "#" + "".join(f"{round(255 * part):02x}" for part in style.colour)
    dashes = () if isinstance(style.dashes, str) else style.dashes[1]
    dash = " ".join(f"{1.3 * style.width * length:.3g}" for length in dashes)
    return {"colour": colour, "dash": dash, "width": round(1.3 * style.width, 2)}


def _run(facts: Facts, experiment: str) -> dict[str, Any]:
    cleaned = {key: _clean_value(value) for key, value in facts.items()}
    return cleaned | {"experiment": clean(experiment), "command": facts.get("command")}


def _clean_value(value: Any) -> Any:
    """A value for the page: clean texts, and None for a number that is not finite."""
    match value:
        case dict():
            return {clean(key): _clean_value(inner) for key, inner in value.items()}
        case list():
            return [_clean_value(inner) for inner in value]
        case float():
            return value if math.isfinite(value) else None
    return clean(value) if isinstance(value, str) else value


def _column(column: str) -> dict[str, str]:
    """A column in words, and for a cumulative one also its average, in different words."""
    words = clean(to_unicode(column_words(column)))
    if column not in CUMULATIVE:
        return {"words": words}
    average = COLUMNS.get(f"avg_{column}", (words,))[0]
    return {"words": words, "average": f"average {words}" if average == words else average}


def _to_json(settings: Settings) -> dict[str, float | str]:
    """The settings with numbers unchanged and anything else as text."""
    numbers = {k: float(v) for k, v in settings.items() if sort_key(v)[0] == 0 and math.isfinite(v)}
    return {k: numbers[k] if k in numbers else clean(format_value(v)) for k, v in settings.items()}
