"""What happens around Hydra's jobs: checks before the first file, an account after the last."""

import logging
import os
import secrets
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hydra.errors import HydraException
from hydra.experimental.callback import Callback
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException
from yaml import MarkedYAMLError

from odfl_cli.config.extras import require_extras
from odfl_cli.config.identity import identity, resolved
from odfl_cli.core.errors import UserError
from odfl_cli.core.files import make_writable, open_regular
from odfl_cli.core.text import tell
from odfl_cli.core.tracebacks import account
from odfl_cli.results.ownership import check_place, check_sweep_place
from odfl_cli.results.runs import inspect
from odfl_cli.results.sweeps import INDEX, IndexJob, read_index, write_index
from odfl_cli.runs.build import build, top_level
from odfl_cli.runs.failures import one_line
from odfl_cli.runs.job import check_directory
from odfl_cli.runs.objective import check_objective
from odfl_cli.runs.sweep.closing import close_sweep
from odfl_cli.runs.sweep.grid import (
    SweepJob,
    grid_jobs,
    is_grid,
    sweep_directory,
    tell_jobs_the_names,
)
from odfl_cli.runs.sweep.journal import forget_old, journal
from odfl_cli.runs.sweep.progress import SweepProgress

FAILED, BAD_INPUT = 1, 2


class CheckBeforeStart(Callback):
    """Refuses a bad configuration before anything is written; a sweep, before its first job."""

    def on_run_start(self, config: DictConfig, **_: Any) -> None:
        """Checks the one job."""
        with refusing():
            _check(config)
            if not config.hydra.run.dir:
                raise UserError("hydra.run.dir=: a directory is needed")
            directory = Path(config.hydra.run.dir)
            check_place(directory, top_level(config).seed_list(), config.hydra.output_subdir)
            check_directory(inspect(directory), resolved(config))
            make_writable(directory)

    def on_multirun_start(self, config: DictConfig, **_: Any) -> None:
        """Checks all jobs of a grid, writes the sweep's index and shows its progress."""
        with refusing():
            require_extras(config)
            top_level(config)
            jobs = _checked(grid_jobs(config))
            sweep = sweep_directory(config)
            check_sweep_place(sweep, Path(config.hydra.sweep.dir))
            make_writable(Path(config.hydra.sweep.dir))
            make_writable(sweep)
            _keep_index(sweep, jobs, is_grid(str(config.hydra.sweeper._target_)))
            attempt = secrets.token_hex(6)
            tell_jobs_the_names(config, attempt)
            forget_old(sweep)
            self.progress = SweepProgress(journal(sweep, attempt), len(jobs) or None)
            self.progress.start()

    def on_multirun_end(self, config: DictConfig, **_: Any) -> None:
        """Says what became of every job; a sweep with failures ends with exit code 1."""
        with refusing():
            if not close_sweep(sweep_directory(config), self.progress.stop()):
                raise SystemExit(FAILED)

    def __getstate__(self) -> dict[str, Any]:
        """Jobs in other processes take the checks along, but not the display."""
        return {}


class LogFile(logging.FileHandler):
    """run.log: the first file of a job in whatever process it runs, so the place is checked here.

    A sweep that chooses its jobs as it goes does not know their directories before.
    """

    def __init__(self, filename: str, mode: str = "a", **options: Any) -> None:
        with refusing():
            check_place(Path(filename).parent)
        super().__init__(filename, mode, **options)

    def _open(self) -> Any:
        """The file itself, never one that a link points to."""
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        descriptor = open_regular(self.baseFilename, flags)
        return os.fdopen(descriptor, self.mode, encoding=self.encoding, errors=self.errors)


@contextmanager
def refusing() -> Iterator[None]:
    """Prints one line and exits: Hydra turns a callback's exceptions into warnings, but no exit."""
    try:
        yield
    except (UserError, MemoryError) as error:
        _exit(one_line(error), BAD_INPUT)
    except (HydraException, OmegaConfBaseException, MarkedYAMLError) as error:
        from odfl_cli.config.explain import explain

        _exit(explain(error, sys.argv[1:]), BAD_INPUT)
    except OSError as error:
        _exit(f"{error.filename or 'writing failed'}: {error.strerror or error}", FAILED)
    except Exception as error:
        print(account(error), file=sys.stderr)
        raise SystemExit(FAILED) from error


def _check(config: DictConfig) -> None:
    """Builds the job, which refuses what is wrong with its values."""
    check_objective(top_level(config).objective, build(config))


def _checked(jobs: list[SweepJob]) -> list[IndexJob]:
    """The jobs of a grid for the index, or a refusal before the first one starts."""
    identities: dict[Path, set[str]] = defaultdict(set)
    checked = []
    for job in jobs:
        _check(job.config)
        seeds = top_level(job.config).seed_list()
        check_place(job.directory, seeds, job.config.hydra.output_subdir)
        values, state = resolved(job.config), inspect(job.directory)
        check_directory(state, values)
        if job.directory.exists() and not os.access(job.directory, os.W_OK):
            raise UserError(f"{job.directory}: cannot write there")
        identities[job.directory].add(identity(values))
        checked.append(IndexJob(job.overrides, job.directory, seeds).judged(state))
    for directory, different in identities.items():
        if len(different) > 1:
            raise UserError(f"{directory}: {len(different)} different jobs would share it")
    return checked


def _keep_index(sweep: Path, jobs: list[IndexJob], is_grid: bool) -> None:
    """A grid's index is written anew; other sweepers add to theirs as they go."""
    try:
        if (sweep / INDEX).exists():
            read_index(sweep)
    except UserError as error:
        if not is_grid:
            raise
        tell(f"{error}; it is written anew")
    if is_grid:
        write_index(sweep, jobs)


def _exit(line: str, code: int) -> None:
    tell(line)
    raise SystemExit(code)
