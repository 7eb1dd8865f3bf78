"""Hydra's callbacks, which check everything before the first file is written."""

import copy
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydra.core.hydra_config import HydraConfig
from hydra.core.utils import configure_log, env_override
from hydra.experimental.callback import Callback
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf, open_dict, read_write

from odfl_cli.config.compose import require_extras
from odfl_cli.config.explain import explain_errors
from odfl_cli.config.identity import typed_overrides
from odfl_cli.core.errors import BAD_INPUT, FAILED, UserError, report
from odfl_cli.core.files import make_writable
from odfl_cli.core.text import tell
from odfl_cli.results.ownership import check_place
from odfl_cli.runs.build import refuse_sweep_groups
from odfl_cli.runs.prepare import PreparedJob, prepare

if TYPE_CHECKING:
    from odfl_cli.runs.sweep.start import Sweep


class CheckBeforeStart(Callback):
    """Checks the configuration before anything is written; a sweep, before its first job."""

    prepared: PreparedJob | None = None
    search: "Sweep | None" = None

    def on_run_start(self, config: DictConfig, **_: Any) -> None:
        """Checks the one job."""
        with exit_on_user_error():
            if not config.hydra.run.dir:
                raise UserError("hydra.run.dir=: a directory is needed")
            if named := [
                word for word in typed_overrides(config.hydra) if word.startswith("sweep=")
            ]:
                raise UserError(f"{named[-1]}: a single job has no sweep; leave out hydra.mode=RUN")
            refuse_sweep_groups(config, "it is for the jobs of a sweep; add -m")
            self.prepared = prepare(config, config.hydra, Path(config.hydra.run.dir))
            check_late_keys(config)
            make_writable(self.prepared.directory)
            for line in self.prepared.tuned:
                tell(line)

    def on_job_start(self, config: DictConfig, *, task_function: Any, **_: Any) -> None:
        """Passes the checked job to the task, which Hydra calls with the configuration alone."""
        if self.prepared:
            task_function.prepared = self.prepared

    def on_multirun_start(self, config: DictConfig, **_: Any) -> None:
        """Checks the launcher and the sweeper; starts a sweep unless its sweeper does so."""
        from odfl_cli.runs.sweep.grid import check_plugins, is_grid
        from odfl_cli.runs.sweep.start import start_search

        with exit_on_user_error():
            require_extras(config)
            check_plugins(config)
            check_late_keys(config)
            if not is_grid(str(config.hydra.sweeper._target_)):
                refuse_sweep_groups(config, "only for grids, not with another sweeper")
                self.search = start_search(config)

    def on_multirun_end(self, config: DictConfig, **_: Any) -> None:
        """Prints the outcome of the jobs; a sweep with failures ends with exit code 1."""
        if self.search:
            with exit_on_user_error(FAILED):
                if not self.search.close():
                    raise SystemExit(FAILED)

    def __getstate__(self) -> dict[str, Any]:
        """Returns an empty state: a launcher's processes need neither the display nor the jobs."""
        return {}


def check_late_keys(config: DictConfig) -> None:
    """Reads keys that Hydra reads only after it has made directories; sets up the log without its file."""
    trial, known = copy.deepcopy(config), HydraConfig.instance()
    before, hydra = known.cfg, trial.hydra
    with (
        explain_errors(sys.argv[1:]),
        open_dict(trial),
        read_write(trial),
        read_write(hydra),  # has a flag of its own in Hydra 1.4
        read_write(hydra.runtime),
    ):
        hydra.runtime.output_dir = "."
        for handler in hydra.job_logging.handlers.values():
            if handler.get("filename"):
                handler.filename = os.devnull
        # For a single job Hydra reads the following in a copy with only its own keys.
        node = trial if hydra.mode == RunMode.MULTIRUN else OmegaConf.masked_copy(trial, ["hydra"])
        known.cfg = trial  # type: ignore[assignment]  # for ${hydra:…}
        try:
            _ = hydra.output_subdir, node.hydra.job.chdir
            with env_override(node.hydra.job.env_set):
                configure_log(hydra.job_logging, hydra.verbose)
        finally:
            known.cfg = before


class LogFile(logging.FileHandler):
    """run.log, the first file of a job; checks its directory, which a search does not know beforehand."""

    def __init__(self, filename: str, mode: str = "a", **options: Any) -> None:
        if filename != os.devnull:
            with exit_on_user_error():
                check_place(Path(filename).parent)
        super().__init__(filename, mode, **options)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Leaves out a record for which the disk has no space: the run's own files report that."""
        if not isinstance(sys.exception(), OSError):
            super().handleError(record)


@contextmanager
def exit_on_user_error(code: int = BAD_INPUT) -> Iterator[None]:
    """Prints an error and exits: Hydra turns a callback's exceptions into warnings, but no exit.

    `code` is the exit code of a UserError; other errors exit with 1.
    """
    try:
        with explain_errors(sys.argv[1:]) if code == BAD_INPUT else nullcontext():
            yield
    except Exception as error:
        raise SystemExit(report(error, code)) from error
