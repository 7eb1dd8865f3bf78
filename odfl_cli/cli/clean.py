"""`odfl clean`: removes runs that are asked for by state, age or version."""

import os
import re
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from odfl_cli.cli.locations import OUTPUTS, warn
from odfl_cli.cli.parser import Parser
from odfl_cli.core.errors import UserError
from odfl_cli.core.files import open_below
from odfl_cli.core.locks import LOCK, is_locked, locked
from odfl_cli.core.text import UNITS, age, size, table
from odfl_cli.results.catalogue import Entry, catalogue
from odfl_cli.results.ownership import is_run, remove_run
from odfl_cli.results.run_state import inspect_files
from odfl_cli.results.sweep_index import INDEX

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


@dataclass(frozen=True)
class Candidate:
    """A run that may be removed, and the directory that it must lie in."""

    entry: Entry
    root: Path

    @property
    def path(self) -> str:
        """Of the run, relative to the root."""
        return os.path.relpath(self.entry.directory, self.root)


def main(argv: list[str]) -> int:
    """Lists, asks, removes; returns the exit code."""
    parser = Parser("clean", DESCRIPTION, EXAMPLES)
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="outputs by default")
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
    chosen = [
        candidate
        for candidate in candidates(arguments.paths or [OUTPUTS])
        if _matches(candidate.entry, states, arguments.older_than, arguments.version)
        and _is_within(candidate)
    ]
    if not chosen:
        print("nothing to remove")
    elif arguments.yes or _agreed(chosen):
        _remove_all(chosen)
    else:
        print("nothing removed")
    return 0


def candidates(paths: list[Path]) -> list[Candidate]:
    """Every run that the paths hold, each once."""
    found: dict[Path, Candidate] = {}
    for path in paths:
        for entry in catalogue([path]):
            found.setdefault(entry.directory.resolve(), Candidate(entry, _root(path)))
    return list(found.values())


def remove(candidate: Candidate) -> bool:
    """Removes what odfl wrote, and the directory if nothing else is in it; not a run that moved on.

    All is done relative to the open directory, so that nothing can take its place meanwhile.
    """
    directory = candidate.entry.directory
    with open_below(candidate.root, candidate.path) as place:
        if is_locked(directory):
            return False
        with locked(directory):
            if inspect_files(directory).state != candidate.entry.state:
                return False
            remove_run(place)
            os.unlink(LOCK, dir_fd=place)
    with suppress(OSError):  # not empty, or a link by now
        os.rmdir(os.path.abspath(directory))
    return True


def _root(path: Path) -> Path:
    """What the runs must lie in: the folder; of a sweep, the outputs folder that it belongs to."""
    whole = Path(os.path.abspath(path))
    if (path / INDEX).exists() and whole.parent.name == "sweeps":
        return whole.parent.parent
    return whole.parent if path.is_symlink() and is_run(path) else whole


def _is_within(candidate: Candidate) -> bool:
    """Whether the run lies in its root and no link leads there; a warning says if not."""
    try:
        with open_below(candidate.root, candidate.path):
            return True
    except UserError as error:
        warn(f"{candidate.entry.directory}: left, {error}")
        return False


def _matches(entry: Entry, states: set[str], older: float | None, version: str | None) -> bool:
    if entry.state == "running" or (entry.state == "newer" and version is None):
        return False
    return (
        (not states or entry.state in states)
        and (older is None or entry.age > older)
        and (version is None or version in entry.run.versions)
    )


def _agreed(chosen: list[Candidate]) -> bool:
    """Shows what would go, and asks."""
    entries = [candidate.entry for candidate in chosen]
    rows = [(str(e.directory), e.state, size(e.size), age(e.age)) for e in entries]
    print(table([("run", "state", "size", "age"), *rows], elastic=0))
    total = (
        f"{len(chosen)} run{'s' if len(chosen) > 1 else ''}, {size(sum(e.size for e in entries))}"
    )
    if not sys.stdin.isatty():
        raise UserError(f"clean: {total}: not removed without being asked; add --yes")
    try:
        return input(f"Remove {total}? [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False


def _remove_all(chosen: list[Candidate]) -> None:
    for candidate in chosen:
        directory, freed = candidate.entry.directory, size(candidate.entry.size)
        try:
            removed = remove(candidate)
        except OSError as error:
            raise UserError(f"{error.filename}: cannot be removed ({error.strerror})") from error
        except UserError as error:
            warn(f"{directory}: left, {error}")
            continue
        if not removed:
            warn(f"{directory}: left, it is in use again")
        elif directory.exists():
            warn(f"{directory}: kept, it holds files that no record of odfl lists")
        else:
            print(f"removed {directory} ({freed})")


def _seconds(text: str) -> float:
    found = re.fullmatch(r"(\d+)([smhdw])", text)
    if not found:
        raise UserError(f"--older-than {text}: should be a number with s, m, h, d or w, as in 30d")
    return int(found[1]) * SECONDS[found[2]]
