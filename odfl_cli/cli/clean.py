"""`odfl clean`: removes runs that are asked for by state, age or version."""

import os
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from odfl_cli.cli.parser import Parser, read_selection
from odfl_cli.core.errors import UserError
from odfl_cli.core.files import check_below
from odfl_cli.core.locks import LOCK, is_locked, locked
from odfl_cli.core.text import UNITS, age, printable, size, table, tell
from odfl_cli.results.finding import find_runs
from odfl_cli.results.ownership import is_run, remove_run
from odfl_cli.results.runs import StoredRun, attempt_begun, inspect_files, is_starting
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


class Removal(NamedTuple):
    """A run that may be removed, and the directory that it must lie in."""

    run: StoredRun
    root: Path


def main(argv: list[str]) -> int:
    """Lists, asks, removes; returns the exit code."""
    parser = Parser("clean", DESCRIPTION, EXAMPLES)
    parser.add_runs("*", "all below outputs by default")
    parser.add_argument("--failed", action="store_true", help="the last attempt failed")
    parser.add_argument("--unfinished", action="store_true", help="begun, and no longer running")
    parser.add_argument("--older-than", type=_seconds, metavar="AGE", help="30d, 12h, 2w, 90m")
    parser.add_argument("--version", metavar="X", help="computed by this version of odfl")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    arguments = parser.parse_args(argv)
    states = {state for state in ("failed", "unfinished") if getattr(arguments, state)}
    if not states and arguments.older_than is None and arguments.version is None:
        raise UserError(
            "clean: say which runs: --failed, --unfinished, --older-than 30d or --version X"
        )
    paths, where = read_selection(arguments)
    matching = [
        removal
        for removal in removals(paths or [OUTPUTS], where)
        if _matches(removal.run, states, arguments.older_than, arguments.version)
        and _is_within(removal)
    ]
    if not matching:
        print("nothing to remove")
    elif arguments.yes or _agreed(matching):
        _remove_all(matching)
    else:
        print("nothing removed")
    return 0


def removals(paths: list[Path], where: Where = EVERY) -> list[Removal]:
    """Every run that the paths hold and that meets the conditions, each once."""
    found: dict[Path, Removal] = {}
    for path in paths:
        for run in find_runs([path], lambda line: None, where):
            found.setdefault(run.directory.resolve(), Removal(run, _root(path)))
    return list(found.values())


def remove(removal: Removal) -> bool:
    """Removes what odfl wrote, and the directory if it is empty then; not a run that has changed."""
    directory = removal.run.directory
    check_below(removal.root, directory)
    begun = attempt_begun(directory)
    if is_locked(directory) or is_starting(directory):
        return False
    with locked(directory):
        state = inspect_files(directory).state
        if state != removal.run.state or attempt_begun(directory) != begun:
            return False
        remove_run(directory)
        (directory / LOCK).unlink()
    with suppress(OSError):  # not empty
        directory.rmdir()
    return True


def _root(path: Path) -> Path:
    """What the runs must lie in: the folder; of a sweep, the outputs folder that it belongs to."""
    whole = Path(os.path.abspath(path))
    if (path / INDEX).exists() and whole.parent.name == "sweeps":
        return whole.parent.parent
    return whole.parent if path.is_symlink() and is_run(path) else whole


def _is_within(removal: Removal) -> bool:
    """Whether the run lies in its root and no link leads there; a warning says if not."""
    try:
        check_below(removal.root, removal.run.directory)
        return True
    except UserError as error:
        tell(f"{removal.run.directory}: left, {error}")
        return False


def _matches(run: StoredRun, states: set[str], older: float | None, version: str | None) -> bool:
    if run.state == "running" or (run.state == "newer" and version is None):
        return False
    return (
        (not states or run.state in states)
        and (older is None or run.age > older)
        and (version is None or version in run.versions)
    )


def _agreed(matching: list[Removal]) -> bool:
    """Shows what would go, and asks."""
    runs = [removal.run for removal in matching]
    rows = [(str(run.directory), run.state, size(run.size), age(run.age)) for run in runs]
    print(table([("run", "state", "size", "age"), *rows], elastic=0))
    plural = "s" if len(matching) > 1 else ""
    total = f"{len(matching)} run{plural}, {size(sum(run.size for run in runs))}"
    if not sys.stdin.isatty():
        raise UserError(f"clean: {total}: not removed without being asked; add --yes")
    try:
        return input(f"Remove {total}? [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False


def _remove_all(matching: list[Removal]) -> None:
    for removal in matching:
        directory, freed = removal.run.directory, size(removal.run.size)
        try:
            removed = remove(removal)
        except OSError as error:
            raise UserError(f"{error.filename}: cannot be removed ({error.strerror})") from error
        except UserError as error:
            tell(f"{directory}: left, {error}")
            continue
        if not removed:
            tell(f"{directory}: left, it is in use or just starting")
        elif directory.exists():
            tell(f"{directory}: kept, it holds files that no record of odfl lists")
        else:
            print(printable(f"removed {directory} ({freed})"))


def _seconds(text: str) -> float:
    found = re.fullmatch(r"(\d+)([smhdw])", text)
    if not found:
        raise UserError(f"--older-than {text}: should be a number with s, m, h, d or w, as in 30d")
    return int(found[1]) * SECONDS[found[2]]
