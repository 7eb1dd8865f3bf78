"""The sweeper and launcher of `odfl run -m`, which compose every job only once.

Hydra looks for them in the namespace package hydra_plugins. Its own sweeper composes every job to
validate it, and its launcher composes it again; each takes longer than a small job.
"""

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

from hydra.core.plugins import Plugins
from hydra.core.utils import JobReturn, configure_log
from hydra.plugins.launcher import Launcher
from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig


class LocalLauncher(Launcher):
    """Runs jobs on this machine: small ones in parallel, large ones one after another."""

    def __init__(self, at_once: int | None = None) -> None:
        self.at_once = at_once

    def setup(
        self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig
    ) -> None:
        from odfl_cli.runs.sweep.grid import Compositions
        from odfl_cli.runs.sweep.local import Local

        self.config = config
        self.local = Local(Compositions(config), hydra_context, task_function)

    def launch(
        self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int
    ) -> Sequence[JobReturn]:
        from odfl_cli.runs.sweep.job import worst_value
        from odfl_cli.runs.sweep.local import job_return

        cells = [tuple(overrides) for overrides in job_overrides]
        values = self.local.run(cells, initial_job_idx, self.at_once)
        configure_log(self.config.hydra.hydra_logging, self.config.hydra.verbose)
        lost = worst_value(self.config.hydra)
        return [
            job_return(cell, values.get(number, lost))
            for number, cell in enumerate(cells, initial_job_idx)
        ]


class GridSweeper(Sweeper):
    """Runs every combination of the given values, all checked before the first job starts."""

    def __init__(
        self, max_batch_size: int | None = None, params: dict[str, str] | None = None
    ) -> None:
        self.max_batch_size = max_batch_size

    def setup(
        self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig
    ) -> None:
        self.master = config
        self.launcher: Launcher = Plugins.instance().instantiate_launcher(
            hydra_context=hydra_context, task_function=task_function, config=config
        )

    def sweep(self, arguments: list[str]) -> Any:
        from odfl_cli.core.errors import FAILED, UserError
        from odfl_cli.core.processes import children_ignore_sigint
        from odfl_cli.runs.sweep.start import Sweep, start_grid
        from odfl_cli.runs.sweep.tune import run_tuned
        from odfl_cli.runs.sweep.until import run_until_decided

        launcher = self.launcher
        local = launcher.local if isinstance(launcher, LocalLauncher) else None

        def launch(sweep: Sweep) -> None:
            size = self.max_batch_size or max(1, len(sweep.waiting))
            with nullcontext() if local else children_ignore_sigint():
                for first in range(0, len(sweep.waiting), size):
                    launcher.launch(sweep.waiting[first : first + size], first)

        if "until" in self.master and "tune" in self.master:
            raise UserError(
                "until and tune: one at a time; tune first, then compare what was chosen"
            )
        if "until" in self.master:
            is_whole = run_until_decided(self.master, local, launch)
        elif "tune" in self.master:
            is_whole = run_tuned(self.master, local, launch)
        else:
            sweep = start_grid(self.master, local)
            launch(sweep)
            is_whole = sweep.close()
        if not is_whole:
            raise SystemExit(FAILED)
