"""`odfl run`: the Hydra application behind the verb."""

import math
import os
import sys
from pathlib import Path
from typing import Any

import hydra
from hydra import initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf, open_dict

from odfl_cli.config.command_line import CommandLine
from odfl_cli.config.compose import allow_any_class, compose_job, is_sweep, prepare_hydra
from odfl_cli.config.directory import conf_directory
from odfl_cli.config.explain import check_arguments, explain_errors
from odfl_cli.core.bar import progress_bar
from odfl_cli.core.errors import FAILED
from odfl_cli.core.text import relative, table, tell
from odfl_cli.results.summary import Summary
from odfl_cli.results.words import column_words, to_unicode
from odfl_cli.runs.callbacks import exit_on_user_error
from odfl_cli.runs.job import Outcome, run_job
from odfl_cli.runs.prepare import PreparedJob, prepare

REGRETS = ("avg_static_regret", "avg_dynamic_regret")  # of metrics=regret


def main(arguments: list[str]) -> int:
    """Runs one job or a sweep from Hydra's command line; returns the exit code."""
    os.environ["HYDRA_FULL_ERROR"] = "1"  # Hydra raises instead of printing and exiting
    with explain_errors(arguments), allow_any_class():
        line = check_arguments(arguments)
        prepare_hydra()
        if line.leaves_mode_open() and is_sweep(line):
            line.flags.append("-m")
        sys.argv = ["odfl run", *line.overrides, *line.flags]  # in the order that Hydra takes
        sys.path.append(os.getcwd())  # a user's own components lie in the current directory
        _print_help(line) if line.typed.help else _start(line)
    return 0


def _print_help(line: CommandLine) -> None:
    """Prints Hydra's help; Hydra's own function copies the configuration for every group, which is slow."""
    config = compose_job([*line.overrides, *line.search_path])
    template = config.hydra.help.template
    with open_dict(config):
        del config["hydra"]
    print(template.replace("$CONFIG", OmegaConf.to_yaml(config, resolve=line.typed.resolve)))


def _start(line: CommandLine) -> None:
    """Starts Hydra. Without other flags the mode is passed on, as `hydra.main` would compose to find it."""
    sweeps = line.flags in (["-m"], ["--multirun"])
    folder = str(conf_directory())
    if not sweeps and not (line.leaves_mode_open() and not line.flags):
        hydra.main(version_base="1.3", config_path=folder, config_name="config")(Task())()
        return
    with initialize_config_dir(folder, job_name="odfl", version_base="1.3"):
        application: Any = GlobalHydra.instance().hydra
        mode = RunMode.MULTIRUN if sweeps else RunMode.RUN
        start = application.multirun if sweeps else application.run
        start("config", Task(), [*line.overrides, f"hydra.mode={mode.name}"])


class Task:
    """The function that Hydra calls for a job; `prepared` is the single job that `CheckBeforeStart` checked."""

    prepared: PreparedJob | None = None

    def __call__(self, config: DictConfig) -> float:
        """Runs the job and returns its objective."""
        context = HydraConfig.get()
        directory = Path(context.runtime.output_dir)
        if context.mode != RunMode.MULTIRUN:
            with exit_on_user_error(FAILED):
                return _run_single(self.prepared or prepare(config, context, directory))
        from odfl_cli.core.processes import serve_parent
        from odfl_cli.runs.sweep.job import run_sweep_job

        if os.environ.get("ODFL_SERVES") == "parent":
            serve_parent()
        return run_sweep_job(
            config, context, directory, lambda: prepare(config, context, directory)
        )


def _run_single(prepared: PreparedJob) -> float:
    algorithm, directory = prepared.record["choices"]["algo"], prepared.directory
    rounds = 0 if prepared.is_settled else prepared.job.horizon.rounds
    with progress_bar(algorithm, rounds) as progress:
        outcome = run_job(prepared, progress, tell)
    for notice in (*outcome.notices, *outcome.remarks):
        tell(notice)
    if outcome.event == "skipped" and outcome.summary:
        tell(f"{directory.name}: finished already; force=true computes it again")
    if outcome.summary:
        _print_result(outcome, outcome.summary, prepared)
    value = outcome.objective(prepared.top.objective)
    return math.nan if value is None else value


def _print_result(outcome: Outcome, summary: Summary, prepared: PreparedJob) -> None:
    """Prints the result of a run as a table of one row; averages are over the requested seeds."""
    asked = dict.fromkeys((*REGRETS, prepared.top.objective))
    others = [c for c in asked if c in summary.final and c not in ("avg_cost", "avg_mse")]
    row = {
        "algorithm": summary.content["choices"]["algo"],
        "average cost": outcome.average("avg_cost"),
        "average MSE": outcome.average("avg_mse"),
        **{to_unicode(column_words(column)): outcome.average(column) for column in others},
        "seeds": str(len(outcome.seeds)),
        "seconds": f"{summary.content['seconds']['wall']:.1f}",
        "files": relative(prepared.directory),
    }
    print(table([list(row), list(row.values())]))
