"""`odfl run`: the Hydra application behind the verb."""

import math
import os
import sys
from pathlib import Path
from typing import Any

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from odfl_cli.config.directory import conf_directory
from odfl_cli.config.extras import prefer_own_presets
from odfl_cli.config.identity import register_resolvers
from odfl_cli.core.text import tell
from odfl_cli.results.command import repeating_words
from odfl_cli.runs.callbacks import refusing
from odfl_cli.runs.console import print_result, progress_bar
from odfl_cli.runs.job import Order, run_job
from odfl_cli.runs.sweep.job import run_sweep_job


def main(arguments: list[str]) -> None:
    """Runs one job or a sweep from Hydra's command line."""
    sys.argv = ["odfl run", *arguments]
    sys.path.append(os.getcwd())  # a user's own components lie in the current directory
    register_resolvers()
    prefer_own_presets()
    hydra.main(version_base="1.3", config_path=str(conf_directory()), config_name="config")(task)()


def task(config: DictConfig) -> float:
    """One job: the function that Hydra calls. Returns the objective."""
    context = HydraConfig.get()
    groups = {str(k): v for k, v in context.runtime.choices.items() if not k.startswith("hydra/")}
    order = Order(
        config=config,
        choices={group: str(choice) for group, choice in groups.items() if choice},
        overrides=(overrides := [str(override) for override in context.overrides.task]),
        command=repeating_words(overrides, _own_config_directories(context)),
        directory=Path(context.runtime.output_dir),
    )
    if context.mode == RunMode.MULTIRUN:
        value = run_sweep_job(order, int(context.job.num), str(context.sweeper._target_))
        return worst_value(context) if value is None else value
    with refusing():
        return _run_alone(order)


def _run_alone(order: Order) -> float:
    with progress_bar(order.choices["algo"], order.config.horizon.rounds) as progress:
        outcome = run_job(order, progress, tell)
    for notice in outcome.notices:
        tell(notice)
    if outcome.event == "skipped" and outcome.summary:
        tell(f"{order.directory.name}: finished already; force=true computes it again")
    if outcome.summary:
        print_result(outcome.summary, order.top.seed_list(), order.directory)
    value = outcome.objective(order.top.objective, order.top.seed_list())
    return math.nan if value is None else value


def _own_config_directories(context: Any) -> list[str]:
    sources = context.runtime.config_sources
    return [os.path.relpath(one.path) for one in sources if one.provider == "command-line"]


def worst_value(context: Any) -> float:
    """What a sweeper is told of a job that failed."""
    direction = str(OmegaConf.select(context, "sweeper.direction", default="minimize"))
    return -math.inf if "maximize" in direction else math.inf
