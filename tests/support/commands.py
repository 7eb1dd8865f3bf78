"""The real command, called in this process; `odfl_process` where the process is the point."""

import io
import logging
import os
import re
import subprocess
import sys
import traceback
from collections.abc import Iterable, Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from unittest import mock

from support.processes import LIMIT

REPOSITORY = Path(__file__).resolve().parents[2]
Done = subprocess.CompletedProcess[str]


def odfl(*arguments: str, cwd: Path, **environment: str) -> Done:
    """`odfl …` in `cwd` without a new interpreter: its exit code and what it printed.

    Start-up, signals, locks between processes and the cache of kernels need `odfl_process`.
    """
    output, errors = io.StringIO(), io.StringIO()
    with (
        chdir(cwd),
        mock.patch.dict(os.environ, environment),
        interpreter_restored(cwd),
        redirect_stdout(output),
        redirect_stderr(errors),
    ):
        code = _exit_code(list(arguments))
    return Done(["odfl", *arguments], code, output.getvalue(), errors.getvalue())


def odfl_process(*arguments: str, cwd: Path, **environment: str) -> Done:
    """`odfl …` in `cwd`, as a user's shell would start it."""
    command = [sys.executable, "-m", "odfl_cli", *arguments]
    return subprocess.run(
        command,
        cwd=cwd,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )


def complaints(done: Done) -> list[str]:
    """Lines on stderr, but for news that depend on the machine and its load."""
    news = re.compile("odfl: (compiling .*|checked [0-9]+ of [0-9]+ jobs)")
    return [line for line in done.stderr.splitlines() if not news.fullmatch(line)]


def run_directories(root: Path) -> list[Path]:
    """Finished runs below `root`."""
    return sorted(path.parent for path in root.rglob("summary.json"))


def _exit_code(arguments: list[str]) -> int:
    """The exit code of an interpreter; prints the traceback of an exception as it does."""
    from odfl_cli.cli import main

    try:
        return main(arguments)
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
            return 1
        return end.code or 0
    except Exception:
        traceback.print_exc()
        return 1


@contextmanager
def interpreter_restored(cwd: Path) -> Iterator[None]:
    """Leaves nothing of a call to the next one: arguments, paths, a user's modules, Hydra, logs."""
    path, modules = sys.path.copy(), set(sys.modules)
    with mock.patch.object(sys, "argv", ["odfl"]), _logging_restored():
        try:
            yield
        finally:
            sys.path[:] = path
            _forget_modules_of(cwd, sys.modules.keys() - modules)
            _forget_hydra()


def _forget_modules_of(folder: Path, imported: Iterable[str]) -> None:
    inside = (str(folder), f"{folder}{os.sep}")
    for name in imported:
        if str(getattr(sys.modules[name], "__file__", None)).startswith(inside[1]):
            del sys.modules[name]
    for entry in list(sys.path_importer_cache):
        if entry == inside[0] or entry.startswith(inside[1]):
            del sys.path_importer_cache[entry]


def _forget_hydra() -> None:
    with suppress(KeyError):
        from hydra.core.global_hydra import GlobalHydra
        from hydra.core.hydra_config import HydraConfig

        GlobalHydra.instance().clear()
        HydraConfig.instance().cfg = None


@contextmanager
def _logging_restored() -> Iterator[None]:
    """Hydra configures the root logger, and disables what it does not know."""
    root = logging.getLogger()
    handlers, level = root.handlers.copy(), root.level
    try:
        yield
    finally:
        for handler in set(root.handlers) - set(handlers):
            handler.close()
        root.handlers[:] = handlers
        root.setLevel(level)
        for logger in logging.root.manager.loggerDict.values():
            if isinstance(logger, logging.Logger):
                logger.disabled = False
