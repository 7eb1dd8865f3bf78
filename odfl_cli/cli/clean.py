"""`odfl clean`: removes runs that are asked for by state, age or version."""

import os
import re
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from odfl_cli.cli.parser import Parser, read_selection
from odfl_cli.core.errors import UserError
from odfl_cli.core.files import check_below
from odfl_cli.core.locks import LOCK, is_locked, locked
from odfl_cli.core.text import UNITS, age, printable, size, table, tell
from odfl_cli.results.finding import find_runs
from odfl_cli.results.ownership import hydra_files, is_run, remove_run
from odfl_cli.results.runs import StoredRun, inspect_files, status
from odfl_cli.results.selection import EVERY, OUTPUTS, Where
from odfl_cli.results.sweeps import INDEX

DESCRIPTION = """\
Removes runs, after it has listed them and asked. Several conditions must all hold; --failed and
--unfinished together mean either. A run that is running is never touched, nor is a file that odfl
did not write, nor a run of a newer version unless --version names it."""
EXAMPLES = """\
  odfl clean --failed                          runs whose last attempt failed
  odfl clean --unfinished --older-than 2d      left behind by killed processes
  odfl clean --version 0.1.0 --yes             without asking
"""
SECONDS = {**dict(UNITS), "w": 7 * 86400}
STARTING = 600.0
"""Seconds within which an attempt takes the lock after Hydra wrote its configuration."""


class Removal(NamedTuple):
    """A run that may be removed, and the directory that it must lie in."""

    run: StoredRun
    root: Path


def main(argv: list[str]) -> int:
    """Lists, asks, removes; returns the exit code."""
    parser = Parser("clean", DESCRIPTION, EXAMPLES)
    parser.add_runs("*", "all below outputs by default", seeds=False)
    parser.add_argument("--failed", action="store_true", help="the last attempt failed")
    parser.add_argument(
        "--unfinished", action="store_true", help="started, but not running any more"
    )
    parser.add_argument("--older-than", type=_parse_age, metavar="AGE", help="30d, 12h, 2w, 90m")
    parser.add_argument("--version", metavar="X", help="computed by this version of odfl")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    arguments = parser.parse_args(argv)
    states = {state for state in ("failed", "unfinished") if getattr(arguments, state)}
    if not states and arguments.older_than is None and arguments.version is None:
        parser.error("say which runs: --failed, --unfinished, --older-than 30d or --version X")
    paths, where = read_selection(arguments)
    matching = [
        removal
        for removal in removals(paths or [OUTPUTS], where)
        if _matches(removal.run, states, arguments.older_than, arguments.version)
    ]
    if not matching:
        print("nothing to remove")
    elif arguments.yes or _confirm(matching):
        _remove_all(matching)
    else:
        print("nothing removed")
    return 0


def removals(paths: list[Path], where: Where = EVERY) -> list[Removal]:
    """Every run that the paths hold and that meets the conditions, each once.

    One outside of its root, or that a link leads to, is named and left.
    """
    found: dict[Path, Removal] = {}
    for path in paths:
        for run in find_runs([path], lambda line: None, where):
            try:
                check_below(_root(path), run.directory)
                found.setdefault(run.directory.resolve(), Removal(run, _root(path)))
            except UserError as error:
                tell(f"left {run.directory} alone: {error}")
    return list(found.values())


def remove(removal: Removal) -> bool:
    """Removes what odfl wrote, and the directory if it is empty then; not a run that has changed."""
    directory = removal.run.directory
    check_below(removal.root, directory)
    if is_locked(directory):
        return False
    last_locked = status(directory / LOCK)[1]
    with locked(directory):
        begun = max((status(file)[1] for file in hydra_files(directory)), default=0.0)
        is_starting = begun > last_locked and time.time() - begun < STARTING
        if is_starting or inspect_files(directory).state != removal.run.state:
            return False
        remove_run(directory)
        (directory / LOCK).unlink()
    with suppress(OSError):  # not empty
        directory.rmdir()
    return True


def _root(path: Path) -> Path:
    """The directory that the runs at a path must lie in; for a sweep, its outputs folder."""
    whole = Path(os.path.abspath(path))
    if (path / INDEX).exists() and whole.parent.name == "sweeps":
        return whole.parent.parent
    return whole.parent if path.is_symlink() and is_run(path) else whole


def _matches(run: StoredRun, states: set[str], older: float | None, version: str | None) -> bool:
    if run.state == "running" or (run.state == "newer" and version is None):
        return False
    return (
        (not states or run.state in states)
        and (older is None or run.age > older)
        and (version is None or version in run.versions)
    )


def _confirm(matching: list[Removal]) -> bool:
    """Lists the runs and asks whether to remove them."""
    runs = [removal.run for removal in matching]
    rows = [(str(run.directory), run.state, size(run.size), age(run.age)) for run in runs]
    print(table([("run", "state", "size", "age"), *rows], elastic=0))
    total = f"{len(runs)} run{'s' * (len(runs) > 1)}, {size(sum(run.size for run in runs))}"
    if not sys.stdin.isatty():
        raise UserError(f"clean: {total}: nothing is removed without a terminal to ask; add --yes")
    with suppress(EOFError):
        return input(f"Remove {total}? [y/N] ").strip().lower() in ("y", "yes")
    return False


def _remove_all(matching: list[Removal]) -> None:
    for removal in matching:
        directory, freed = removal.run.directory, size(removal.run.size)
        try:
            removed = remove(removal)
        except OSError as error:
            raise UserError(f"{error.filename}: cannot be removed ({error.strerror})") from error
        except UserError as error:
            tell(f"left {directory} alone: {error}")
            continue
        if not removed:
            tell(f"left {directory} alone: it is in use or just starting")
        elif directory.exists():
            tell(f"kept {directory}: it holds files that odfl did not list")
        else:
            print(printable(f"removed {directory} ({freed})"))


def _parse_age(text: str) -> float:
    found = re.fullmatch(r"(\d+)([smhdw])", text)
    if not found:
        raise UserError(f"--older-than {text}: should be a number with s, m, h, d or w, as in 30d")
    return int(found[1]) * SECONDS[found[2]]
