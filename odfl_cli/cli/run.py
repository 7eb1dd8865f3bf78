"""`odfl run`: the Hydra application behind the verb."""

import math
import os
import sys
from pathlib import Path

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig

from odfl_cli.config.compose import allow_any_class, prepare_hydra, with_sweep_flag
from odfl_cli.config.directory import conf_directory
from odfl_cli.config.explain import check_arguments, explain_errors
from odfl_cli.core.errors import FAILED
from odfl_cli.core.text import tell
from odfl_cli.runs.callbacks import exit_on_user_error
from odfl_cli.runs.console import print_result, progress_bar
from odfl_cli.runs.job import run_job
from odfl_cli.runs.prepare import PreparedJob, prepare


def main(arguments: list[str]) -> None:
    """Runs one job or a sweep from Hydra's command line."""
    os.environ["HYDRA_FULL_ERROR"] = "1"  # Hydra raises instead of printing and exiting
    with explain_errors(arguments), allow_any_class():
        arguments = check_arguments(arguments)
        prepare_hydra()
        sys.argv = ["odfl run", *with_sweep_flag(arguments)]
        sys.path.append(os.getcwd())  # a user's own components lie in the current directory
        application = hydra.main(
            version_base="1.3", config_path=str(conf_directory()), config_name="config"
        )
        application(Task())()


class Task:
    """The function that Hydra calls for a job.

    `prepared` is the single job that `CheckBeforeStart` checked; a job of a sweep is prepared by
    the process that runs it.
    """

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
        print_result(outcome.summary, prepared.top.seed_list(), directory)
    value = outcome.objective(prepared.top.objective, prepared.top.seed_list())
    return math.nan if value is None else value
