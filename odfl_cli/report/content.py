"""The document that the page shows: worlds, curves, final values, runs, in plain JSON."""

import math
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, NamedTuple

import pandas as pd

from odfl_cli import __version__
from odfl_cli.core.statistics import student_quantile
from odfl_cli.plotting.figure_style import FLOORS, Look, looks
from odfl_cli.plotting.figures import dress
from odfl_cli.report.arrays import Arrays
from odfl_cli.report.curves import CurveRoom, curve_columns, pack_curves
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
from odfl_cli.report.verdict import Contestant, headline, judged, leader_of, ranked
from odfl_cli.results.aggregation import Line, sort_key
from odfl_cli.results.grouping import Group, Settings, frozen, is_own
from odfl_cli.results.tables import CUMULATIVE

RANKED_BY = "avg_cost"


class World(NamedTuple):
    """What algorithms are compared in: groups of an experiment that differ in their own keys only."""

    experiment: str
    settings: Settings
    groups: list[Group]

    @property
    def name(self) -> str:
        """The experiment, with what tells this world from its others."""
        told = settings_label(self.settings)
        return f"{clean(self.experiment)}: {told}" if told else clean(self.experiment)


class Document(NamedTuple):
    """The page's content: what it says in words, and the numbers behind it."""

    title: str
    headline: str  # empty for a single world
    verdicts: list[tuple[str, list[str]]]  # a world's name and sentences
    content: dict[str, Any]
    arrays: Arrays


def document(experiments: list[Experiment], claims: list[Any], title: str = "") -> Document:
    """Everything that the page needs of the experiments."""
    worlds = [world for one in experiments for world in worlds_of(one)]
    groups = [group for world in worlds for group in world.groups]
    arrays, room = Arrays(), CurveRoom.of(groups)
    content = {
        "odfl": __version__,
        "columns": _columns(groups),
        "keys": _keys(groups),
        "algorithms": _algorithms(groups),
        "floors": list(FLOORS),
        "worlds": [_world(world) for world in worlds],
        "groups": [
            _group(place, group, look, world, arrays, room)
            for place, world in enumerate(worlds)
            for group, look in _dressed(world)
        ],
        "runs": [_run(facts, one.name) for one in experiments for facts in one.runs],
        "unread": sum(one.unread for one in experiments),
        "quantiles": _quantiles(groups),
        "claims": claims,
        "rankedBy": RANKED_BY,
    }
    fields = [contestants(world) for world in worlds]
    verdicts = [
        (world.name, judged(field, "average cost"))
        for world, field in zip(worlds, fields, strict=True)
    ]
    summary = headline([leader_of(field) for field in fields]) if len(worlds) > 1 else ""
    return Document(clean(title or _title(experiments)), summary, verdicts, content, arrays)


def worlds_of(experiment: Experiment) -> list[World]:
    """The worlds of an experiment, in the order of their settings."""
    pools: dict[Hashable, World] = {}
    for group in experiment.groups:
        outer = {key: value for key, value in group.told.items() if not is_own(key)}
        identity = frozen(outer), group.rounds
        pools.setdefault(identity, World(experiment.name, outer, [])).groups.append(group)
    order = lambda world: [sort_key(value) for value in world.settings.values()]  # noqa: E731
    return sorted(pools.values(), key=order)


def contestants(world: World) -> list[Contestant]:
    """The learners of a world, each with its best settings there."""
    by_algorithm: dict[str, list[Contestant]] = {}
    for group in world.groups:
        final = group.final(RANKED_BY)
        if group.algorithm not in FLOORS and len(final):
            values = dict(zip(map(int, final.index), map(float, final), strict=True))
            named = Contestant(algorithm_name(group.algorithm), values)
            by_algorithm.setdefault(group.algorithm, []).append(named)
    return [ranked(every)[0]._replace(settings=len(every)) for every in by_algorithm.values()]


def _world(world: World) -> dict[str, Any]:
    marks = sorted({mark for group in world.groups for mark in _marks(group)})
    return {
        "experiment": clean(world.experiment),
        "name": world.name,
        "settings": _plain(world.settings),
        "marks": marks,
        "items": _first(group.settings.get("data.items") for group in world.groups),
        "rounds": max(group.rounds for group in world.groups),
    }


def _group(
    place: int, group: Group, look: Look, world: World, arrays: Arrays, room: CurveRoom
) -> dict[str, Any]:
    own = {key: value for key, value in group.told.items() if is_own(key)}
    seeds = sorted(int(seed) for seed in group.rows["seed"].unique())
    name = ", ".join(filter(None, [algorithm_name(group.algorithm), settings_label(own)]))
    return {
        "world": place,
        "algorithm": group.algorithm,
        "name": name,
        "own": _plain(own),
        "told": _plain(group.told),
        "rounds": group.rounds,
        "seeds": seeds,
        "look": _look(look),
        "final": _finals(group, seeds),
        "curves": pack_curves(group, arrays, room),
        "recovery": recoveries(group, sorted(_marks(group))),
        "theory": theory(group),
    }


def _finals(group: Group, seeds: list[int]) -> dict[str, list[float | None]]:
    """By column, in the order of the seeds."""
    found = {column: group.final(column) for column in curve_columns(group.rows)}
    return {
        column: [_finite(values.get(seed)) for seed in seeds]
        for column, values in found.items()
        if len(values)
    }


def _dressed(world: World) -> Iterable[tuple[Group, Look]]:
    """The groups with the looks that `odfl plot` gives them, in the order of its legend."""
    lines = [
        Line(group.algorithm, {k: v for k, v in group.told.items() if is_own(k)}, pd.DataFrame())
        for group in world.groups
    ]
    of_line = {id(line): group for line, group in zip(lines, world.groups, strict=True)}
    drawn = dress(lines, looks([group.algorithm for group in world.groups]))
    return [(of_line[id(one.line)], one.look) for one in drawn]


def _look(look: Look) -> dict[str, Any]:
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
    names = dict.fromkeys(column for group in groups for column in curve_columns(group.rows))
    return {
        name: {"words": column_words(name), "average": average_words(name)}
        if name in CUMULATIVE
        else {"words": column_words(name)}
        for name in names
    }


def _keys(groups: list[Group]) -> dict[str, str]:
    names = dict.fromkeys(key for group in groups for key in group.told)
    return {name: key_words(name) for name in names}


def _algorithms(groups: list[Group]) -> dict[str, str]:
    names = dict.fromkeys(group.algorithm for group in groups)
    return {name: algorithm_name(name) for name in names}


def _quantiles(groups: list[Group]) -> dict[int, float]:
    """Student's quantile for every count of seeds that can be shared; the key is the count."""
    most = max((group.seeds for group in groups), default=0)
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
