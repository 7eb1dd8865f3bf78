"""Hydra's callbacks: everything is checked before the first file is written."""

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydra.experimental.callback import Callback
from omegaconf import DictConfig

from odfl_cli.config.compose import require_extras
from odfl_cli.config.explain import explain_errors
from odfl_cli.core.errors import BAD_INPUT, FAILED, UserError, report
from odfl_cli.core.files import make_writable, open_regular
from odfl_cli.core.text import tell
from odfl_cli.results.ownership import check_place
from odfl_cli.runs.prepare import PreparedJob, prepare

if TYPE_CHECKING:
    from odfl_cli.runs.sweep.start import Sweep


class CheckBeforeStart(Callback):
    """Refuses a bad configuration before anything is written; a sweep, before its first job."""

    prepared: PreparedJob | None = None
    search: "Sweep | None" = None

    def on_run_start(self, config: DictConfig, **_: Any) -> None:
        """Checks the one job."""
        with exit_on_user_error():
            if not config.hydra.run.dir:
                raise UserError("hydra.run.dir=: a directory is needed")
            self.prepared = prepare(config, config.hydra, Path(config.hydra.run.dir))
            make_writable(self.prepared.directory)
            for line in self.prepared.tuned:
                tell(line)

    def on_job_start(self, config: DictConfig, *, task_function: Any, **_: Any) -> None:
        """Passes the checked job to the task, which Hydra calls with the configuration alone."""
        if self.prepared:
            task_function.prepared = self.prepared

    def on_multirun_start(self, config: DictConfig, **_: Any) -> None:
        """Checks the launcher and the sweeper; starts a sweep unless its sweeper does it itself."""
        from odfl_cli.runs.sweep.grid import check_numbers, is_grid
        from odfl_cli.runs.sweep.start import start_search

        with exit_on_user_error():
            require_extras(config)
            check_numbers(config)
            if not is_grid(str(config.hydra.sweeper._target_)):
                self.search = start_search(config)

    def on_multirun_end(self, config: DictConfig, **_: Any) -> None:
        """Prints what became of every job; a sweep with failures ends with exit code 1."""
        if self.search:
            with exit_on_user_error(FAILED):
                if not self.search.close():
                    raise SystemExit(FAILED)

    def __getstate__(self) -> dict[str, Any]:
        """Empty: processes of a launcher need neither the display nor the checked jobs."""
        return {}


class LogFile(logging.FileHandler):
    """run.log: the first file of a job in whatever process it runs, so the place is checked here.

    A sweep that chooses its jobs as it goes does not know their directories before.
    """

    def __init__(self, filename: str, mode: str = "a", **options: Any) -> None:
        with exit_on_user_error():
            check_place(Path(filename).parent)
        super().__init__(filename, mode, **options)

    def _open(self) -> Any:
        """The file itself, never one that a link points to."""
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        descriptor = open_regular(self.baseFilename, flags)
        return os.fdopen(descriptor, self.mode, encoding=self.encoding, errors=self.errors)


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
