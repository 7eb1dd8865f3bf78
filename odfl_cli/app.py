"""`odfl run`: the Hydra application behind the verb."""

import logging
import os
import sys
from pathlib import Path

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig

from odfl_cli.callbacks import one_line, refusing
from odfl_cli.confdir import conf_directory
from odfl_cli.errors import UserError
from odfl_cli.extras import prefer_own_presets
from odfl_cli.naming import register_resolvers
from odfl_cli.runner import run_job

log = logging.getLogger("odfl")


def main(arguments: list[str]) -> None:
    """Runs one job or a sweep from Hydra's command line."""
    sys.argv = ["odfl run", *arguments]
    sys.path.append(os.getcwd())  # a user's own components lie in the current directory
    register_resolvers()
    prefer_own_presets()
    hydra.main(version_base="1.3", config_path=str(conf_directory()), config_name="config")(task)()


def task(config: DictConfig) -> float:
    """One job: the function that Hydra calls. Returns the final average cost."""
    context = HydraConfig.get()
    groups = {str(k): v for k, v in context.runtime.choices.items() if not k.startswith("hydra/")}
    choices = {group: str(choice) for group, choice in groups.items() if choice}
    try:
        summary = run_job(config, choices, Path(context.runtime.output_dir))
    except Exception as error:
        log.info("failed", exc_info=True)  # to run.log; the console shows warnings only
        if context.mode == RunMode.MULTIRUN:  # Hydra itself tells of the first failure alone
            print(f"odfl: job {context.job.num} failed: {one_line(error)}", file=sys.stderr)
        elif isinstance(error, UserError | MemoryError):
            with refusing():
                raise
        raise
    return float(summary["final"]["avg_cost"]["mean"])
