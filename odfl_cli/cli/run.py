"""`odfl run`: the Hydra application behind the verb."""

import math
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import hydra
from hydra._internal.hydra import Hydra
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig

from odfl_cli.config.compose import prepare_hydra
from odfl_cli.config.directory import conf_directory
from odfl_cli.config.explain import check_arguments, explained, leaves_mode
from odfl_cli.core.errors import FAILED
from odfl_cli.core.locks import starting
from odfl_cli.core.text import tell
from odfl_cli.runs.callbacks import exit_on_user_error
from odfl_cli.runs.console import print_result, progress_bar
from odfl_cli.runs.job import run_job
from odfl_cli.runs.prepare import JobRequest, prepared_job


def main(arguments: list[str]) -> None:
    """Runs one job or a sweep from Hydra's command line."""
    os.environ["HYDRA_FULL_ERROR"] = "1"  # Hydra raises instead of printing and exiting
    with explained(arguments):
        arguments = check_arguments(arguments)
        sys.argv = ["odfl run", *arguments]
        sys.path.append(os.getcwd())  # a user's own components lie in the current directory
        prepare_hydra()
        application = hydra.main(
            version_base="1.3", config_path=str(conf_directory()), config_name="config"
        )
        with _known_mode(arguments):
            application(task)()


@contextmanager
def _known_mode(arguments: list[str]) -> Iterator[None]:
    """Spares Hydra to compose the whole configuration only to see that it does not set the mode."""
    before = Hydra.get_mode
    if leaves_mode(arguments):
        Hydra.get_mode = lambda *_, **__: None  # type: ignore[method-assign]
    try:
        yield
    finally:
        Hydra.get_mode = before  # type: ignore[method-assign]


def task(config: DictConfig) -> float:
    """One job: the function that Hydra calls. Returns the objective."""
    starting.release()
    context = HydraConfig.get()
    request = JobRequest.of(config, context, Path(context.runtime.output_dir))
    if context.mode == RunMode.MULTIRUN:
        from odfl_cli.core.processes import serve_parent
        from odfl_cli.runs.sweep.job import run_sweep_job

        if os.environ.get("ODFL_SERVES") == "parent":
            serve_parent()
        return run_sweep_job(request, context)
    with exit_on_user_error(FAILED):
        return _run_single(request)


def _run_single(request: JobRequest) -> float:
    prepared = prepared_job(request)
    algorithm = request.choices["algo"]
    rounds = 0 if prepared.is_settled else prepared.job.horizon.rounds
    with progress_bar(algorithm, rounds) as progress:
        outcome = run_job(prepared, progress, tell)
    for notice in (*outcome.notices, *outcome.remarks):
        tell(notice)
    if outcome.event == "skipped" and outcome.summary:
        tell(f"{request.directory.name}: finished already; force=true computes it again")
    if outcome.summary:
        print_result(outcome.summary, prepared.top.seed_list(), request.directory)
    value = outcome.objective(prepared.top.objective, prepared.top.seed_list())
    return math.nan if value is None else value
