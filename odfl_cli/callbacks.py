"""What happens between Hydra's composing a configuration and its first file."""

import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hydra.errors import HydraException
from hydra.experimental.callback import Callback
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from odfl_cli.build import build
from odfl_cli.errors import UserError
from odfl_cli.extras import require_extras
from odfl_cli.records import make_writable
from odfl_cli.sweeps import grid_jobs, write_index


class CheckBeforeStart(Callback):
    """Refuses a bad configuration before anything is written; a sweep, before its first job."""

    def on_run_start(self, config: DictConfig, **_: Any) -> None:
        """Checks the one job."""
        with refusing():
            build(config)
            if not config.hydra.run.dir:
                raise UserError("hydra.run.dir=: a directory is needed")
            make_writable(Path(config.hydra.run.dir))

    def on_multirun_start(self, config: DictConfig, **_: Any) -> None:
        """Checks all jobs of a grid and writes the sweep's index."""
        with refusing():
            require_extras(config)
            jobs = grid_jobs(config)
            for job in jobs:
                build(job.config)
            make_writable(Path(config.hydra.sweep.dir))
            write_index(config, jobs)


@contextmanager
def refusing() -> Iterator[None]:
    """Prints one line and exits: Hydra turns a callback's exceptions into warnings, but no exit."""
    try:
        yield
    except (UserError, MemoryError) as error:
        _exit(one_line(error))
    except (HydraException, OmegaConfBaseException) as error:
        from odfl_cli.explain import explain

        _exit(explain(error, sys.argv[1:]))
    except Exception as error:
        traceback.print_exc()
        raise SystemExit(1) from error


def one_line(error: Exception) -> str:
    """What went wrong, without a line break."""
    if isinstance(error, MemoryError):
        return f"out of memory ({error}); fewer seeds or oracle.history=window take less"
    return " ".join(str(error).split()) or type(error).__name__


def _exit(line: str) -> None:
    print(f"odfl: {line}", file=sys.stderr)
    raise SystemExit(2)
