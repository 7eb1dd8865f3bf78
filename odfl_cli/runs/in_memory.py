"""Jobs from Python arguments, computed in this process without writing files."""

import inspect
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from hydra import compose
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from pydantic import ValidationError

from odfl_cli.config.arguments import Axes, Setting, grid, keyword_axes, override_axes
from odfl_cli.config.compose import compose_job, hydra_for
from odfl_cli.config.identity import digest
from odfl_cli.config.schema import refusal
from odfl_cli.core.bar import progress_bar
from odfl_cli.core.errors import UserError
from odfl_cli.core.files import atomic
from odfl_cli.core.reading import flatten
from odfl_cli.core.text import tell
from odfl_cli.environments.replay.files import cache_directory
from odfl_cli.problem.regularizers.base import default_regularizer
from odfl_cli.results.grouping import freeze
from odfl_cli.results.tables import EXTRAS, Run, with_averages
from odfl_cli.runs.build import build, refuse_sweep_groups
from odfl_cli.runs.prepare import find_choices, remarks
from odfl_cli.runs.records import summarise
from odfl_cli.runs.simulate import Job, Simulation, simulate
from odfl_cli.runs.states import learnt_module
from odfl_cli.runs.sweep.grid import Compositions, is_grid

MAKERS = {"algo": "problem", "regularizer": "polytope"}
"""Group → the argument that its class is called with."""


class Computed(NamedTuple):
    """A finished job as read from files, and objects that are not stored in files."""

    run: Run
    state: Any  # the algorithm's last state
    module: Callable[[int], Any]  # seed → its trained torch module


def plan_one(overrides: Sequence[str], keywords: Mapping[str, Any]) -> list[Job]:
    """The job of `overrides` and `keywords`; raises a UserError if they make several."""
    return [_plan(*compose_one(overrides, keywords))]


def compose_one(
    overrides: Sequence[str], keywords: Mapping[str, Any]
) -> tuple[DictConfig, Setting]:
    """The configuration of one job, and its setting."""
    axes = override_axes(overrides) | keyword_axes(_with_files(keywords), swept=False)
    for key, alternatives in axes.items():
        if len(alternatives) > 1:
            raise UserError(f"{key}: several values make a sweep; use sweep(...)")
    setting = _with_regularizer(*grid(axes))
    config = compose_job(setting.overrides)
    if config.hydra.mode == RunMode.MULTIRUN:
        experiment = config.hydra.runtime.choices.get("experiment")
        raise UserError(
            f"experiment={experiment}: it is a sweep; call sweep(...) instead of run(...)"
        )
    return config, setting


def plan_sweep(overrides: Sequence[str], keywords: Mapping[str, Any]) -> list[Job]:
    """The checked jobs of the grid of all lists, comma lists and the experiment."""
    given = override_axes(overrides) | keyword_axes(_with_files(keywords), swept=True)
    if len(given.get("experiment", ())) > 1:
        raise UserError("experiment: a sweep is of one experiment; call sweep(...) for each")
    fixed = [text for axis in given.values() if len(axis) == 1 for text in axis[0].overrides]
    with hydra_for(fixed):
        master = compose("config", overrides=fixed, return_hydra_config=True)
        cells = [_with_regularizer(cell) for cell in grid(_experiment_axes(master) | given)]
        compositions = Compositions(master)
        configs = [compositions.compose(cell.overrides).copy() for cell in cells]
    jobs = [_plan(config, cell) for config, cell in zip(configs, cells, strict=True)]
    _number_objects(jobs, cells)
    distinct: dict[Hashable, Job] = {}
    for job in jobs:
        distinct.setdefault(freeze([job.config, job.choices, job.seeds]), job)
    if twice := len(jobs) - len(distinct):
        warnings.warn(f"{twice} of {len(jobs)} jobs asked for twice; run once", stacklevel=3)
    return [*distinct.values()]


def _with_files(keywords: Mapping[str, Any]) -> dict[str, Any]:
    """The keywords, with data=frame or data=(frame, keys) converted to a file for data=replay."""
    data: Any = keywords.get("data")
    keys: Mapping[str, Any] = {}
    if isinstance(data, tuple) and len(data) == 2 and isinstance(data[0], pd.DataFrame):
        data, keys = data
    if not isinstance(data, pd.DataFrame):
        return dict(keywords)
    text = data.to_csv(index=False)
    path = cache_directory("frames") / f"{digest(text)}.csv"
    if not path.exists():
        with atomic(path) as file:
            file.write(text)
    return {**keywords, "data": ("replay", {"file": str(path), **keys})}


def compute(jobs: list[Job], progress: bool | None) -> list[Computed]:
    """Runs the jobs one after another; if there are several, failed ones are left out with a warning."""
    label = jobs[0].choices["algo"] if len(jobs) == 1 else f"{len(jobs)} jobs"
    computed, before = [], 0
    with suppress(Exception):  # data that cannot be read are refused by the job itself
        for line in {} if progress is False else dict.fromkeys(chain(*map(remarks, jobs))):
            tell(line)
    with progress_bar(label, sum(job.horizon.rounds for job in jobs), progress) as advance:

        def add(done: int) -> None:
            advance(before + done)

        for job in jobs:
            try:
                computed.append(_compute_one(job, add))
            except UserError as error:
                if len(jobs) == 1:
                    raise
                warnings.warn(f"left out: {error}", stacklevel=3)
            before += job.horizon.rounds
    if not computed:
        raise UserError("every job of the sweep failed")
    return computed


def _compute_one(job: Job, progress: Callable[[int], None]) -> Computed:
    simulation = simulate(job, progress=progress)
    summary = summarise(job, simulation, simulation.seconds)
    run = Run(
        directory=Path(),
        algorithm=job.choices["algo"],
        settings=flatten(summary["config"]) | job.choices,
        rounds=job.horizon.rounds,
        rows=_rows(job, simulation),
        extras={name: summary[name] for name in EXTRAS if name in summary},
    )
    return Computed(run, simulation.state, partial(learnt_module, job, simulation.state))


def _rows(job: Job, simulation: Simulation) -> pd.DataFrame:
    """One row per seed and logged round, as `read_run` returns them."""
    tables = [
        pd.DataFrame(
            {name: values[row] for name, values in simulation.table.items()} | {"seed": seed}
        )
        for row, seed in enumerate(job.seeds)
    ]
    return with_averages(pd.concat(tables, ignore_index=True).astype({"t": int}))


def _experiment_axes(master: DictConfig) -> Axes:
    """The axes of the experiment's grid."""
    if master.hydra.mode != RunMode.MULTIRUN:
        return {}
    if not is_grid(str(master.hydra.sweeper._target_)):
        raise UserError(
            f"experiment={master.hydra.runtime.choices.experiment}: it chooses its jobs as it goes; "
            "start it with odfl run"
        )
    params = master.hydra.sweeper.params or {}
    return override_axes(f"{key}={value}" for key, value in params.items())


def _plan(config: DictConfig, setting: Setting) -> Job:
    _check_not_both(setting)
    refuse_sweep_groups(config, "it is for odfl run -m")
    given = given_parts(setting)
    config = _with_extent_of(given.get("data"), config, setting)
    job = build(config, **given)
    problem, choices = job.algorithm.problem, find_choices(config.hydra)
    made: dict[str, Any] = {
        "algo": job.algorithm, "regularizer": problem.regularizer, "polytope": problem.polytope,
    }  # fmt: skip
    for group, given_part in given.items():
        part = made.get(group, given_part)
        job.config[group] = describe_part(part)
        choices[group] = str(part.name) if group == "algo" else type(part).__name__
    return replace(job, choices=choices)


def given_parts(setting: Setting) -> dict[str, Any]:
    """Group → the object for `build` in place of the group."""
    return {group: _part(group, part) for group, part in setting.objects.items()}


def _with_extent_of(data: Any, config: DictConfig, setting: Setting) -> DictConfig:
    """Sets seeds and rounds that were not given to null for recorded data, as `data=replay` does."""
    asked = {text.lstrip("+").partition("=")[0] for text in setting.overrides}
    free = [key for key in getattr(data, "extent", ()) if not asked & {key, key.partition(".")[0]}]
    if not free or "experiment" in asked:
        return config
    config = config.copy()
    for key in free:
        OmegaConf.update(config, key, None)
    return config


def _with_regularizer(setting: Setting) -> Setting:
    """The setting with the default regularizer for a set that is given as an object."""
    asked = {text.lstrip("+").partition("=")[0] for text in setting.overrides} | {*setting.objects}
    if "polytope" not in setting.objects or asked & {"regularizer", "experiment"}:
        return setting
    choice = default_regularizer(_part("polytope", setting.objects["polytope"]))
    return Setting((f"regularizer={choice}",)) + setting


def _number_objects(jobs: list[Job], cells: list[Setting]) -> None:
    """Distinguishes different objects of a group with equal attributes: the second has `number` 2."""
    alike: dict[Hashable, list[int]] = {}
    for job, cell in zip(jobs, cells, strict=True):
        for group, part in cell.objects.items():
            known = alike.setdefault((group, freeze(job.config[group])), [])
            if id(part) not in known:
                known.append(id(part))
            if number := known.index(id(part)):
                job.config[group]["number"] = number + 1


def _check_not_both(setting: Setting) -> None:
    """Raises for an override of a group that is given as an object."""
    for group in setting.objects:
        for text in setting.overrides:
            if text.lstrip("+~").startswith((f"{group}.", f"{group}=")):
                raise UserError(
                    f"{text}: {group} is given as an object, which has its own settings"
                )


def _part(group: str, part: Any) -> Any:
    """The object for `build`: an instance, or a function of another part that makes one."""
    needed = [MAKERS[group]] if group in MAKERS else []
    if not (inspect.isclass(part) or inspect.isroutine(part) or isinstance(part, partial)):
        if group == "algo":
            raise UserError("algo: give a class or a functools.partial of one; problem=… is added")
        return (lambda **_: part) if needed else part
    try:
        inspect.signature(part).bind(**dict.fromkeys(needed))
    except TypeError as error:
        if group == "polytope" and _takes_one(part):
            return part  # a solver: costs → decision
        raise UserError(f"{group}: {getattr(part, '__name__', part)}: {error}") from error
    return part if needed else _call(group, part)


def _takes_one(function: Any) -> bool:
    """True for a function, not a class, that can be called with one argument."""
    if inspect.isclass(getattr(function, "func", function)):
        return False
    with suppress(TypeError):
        return bool(inspect.signature(function).bind(None))
    return False


def _call(group: str, maker: Callable[[], Any]) -> Any:
    """The result of `maker`; for a torch module, a predictor that makes one for every seed."""
    constructor = getattr(maker, "func", maker)
    try:
        part = constructor if hasattr(constructor, "named_parameters") else maker()
    except ValidationError as error:
        raise refusal(error, group, constructor) from error
    if not hasattr(part, "named_parameters"):
        return part
    from odfl_cli.problem.predictors.torch_module import TorchModule

    return TorchModule(module=maker)


def describe_part(part: Any) -> dict[str, Any]:
    """The class of a part and its attributes of plain types, as a configuration."""
    values = {
        name: value
        for name, value in getattr(part, "__dict__", {}).items()
        if not name.startswith("_") and isinstance(value, bool | int | float | str | None)
    }
    return {"_target_": f"{type(part).__module__}.{type(part).__qualname__}", **values}
