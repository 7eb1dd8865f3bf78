"""`odfl clean`: removes runs that are asked for by state, age or version."""

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from odfl_cli.cli.locations import OUTPUTS, warn
from odfl_cli.cli.parser import Parser
from odfl_cli.core.errors import UserError
from odfl_cli.core.files import UNFINISHED
from odfl_cli.core.locks import LOCK, is_locked, locked
from odfl_cli.core.text import UNITS, age, size, table
from odfl_cli.results.catalogue import HYDRA, LOG, Entry, catalogue
from odfl_cli.results.run_state import FAILURE, SUMMARY, inspect_files

DESCRIPTION = """\
Removes runs, after it has listed them and asked. Several conditions must all hold; --failed and
--unfinished together mean either. A run that is running is never touched, nor is a file that odfl
did not write, nor a run of a newer version unless --version names it."""
EXAMPLES = """\
  odfl clean --failed                          runs whose last attempt failed
  odfl clean --unfinished --older-than 2d      left behind by killed processes
  odfl clean --version 0.1.0 --yes             without asking
"""
HYDRA_FILES = ("config.yaml", "hydra.yaml", "overrides.yaml")
SEED_FILE = re.compile(r"seed-\d+\.csv")
SECONDS = {**dict(UNITS), "w": 7 * 86400}


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
        entry
        for entry in catalogue(arguments.paths or [OUTPUTS])
        if _matches(entry, states, arguments.older_than, arguments.version)
    ]
    if not chosen:
        print("nothing to remove")
    elif arguments.yes or _agreed(chosen):
        _remove_all(chosen)
    else:
        print("nothing removed")
    return 0


def remove(entry: Entry) -> bool:
    """Removes what odfl wrote, and the directory if nothing else is in it; not a run that moved on."""
    if is_locked(entry.directory):
        return False
    with locked(entry.directory):
        if inspect_files(entry.directory).state != entry.state:
            return False
        for path in _files(entry):
            path.unlink(missing_ok=True)
        _remove_if_empty(entry.directory / HYDRA)
        (entry.directory / LOCK).unlink(missing_ok=True)
    _remove_if_empty(entry.directory)
    return True


def _matches(entry: Entry, states: set[str], older: float | None, version: str | None) -> bool:
    if entry.state == "running" or (entry.state == "newer" and version is None):
        return False
    return (
        (not states or entry.state in states)
        and (older is None or entry.age > older)
        and (version is None or version in entry.run.versions)
    )


def _agreed(chosen: list[Entry]) -> bool:
    """Shows what would go, and asks."""
    rows = [(str(e.directory), e.state, size(e.size), age(e.age)) for e in chosen]
    print(table([("run", "state", "size", "age"), *rows], elastic=0))
    total = (
        f"{len(chosen)} run{'s' if len(chosen) > 1 else ''}, {size(sum(e.size for e in chosen))}"
    )
    if not sys.stdin.isatty():
        raise UserError(f"clean: {total}: not removed without being asked; add --yes")
    try:
        return input(f"Remove {total}? [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False


def _remove_all(chosen: list[Entry]) -> None:
    for entry in chosen:
        freed = size(entry.size)
        try:
            removed = remove(entry)
        except OSError as error:
            raise UserError(f"{error.filename}: cannot be removed ({error.strerror})") from error
        if not removed:
            warn(f"{entry.directory}: left, it is in use again")
        elif entry.directory.exists():
            warn(f"{entry.directory}: kept, it holds files that are not odfl's")
        else:
            print(f"removed {entry.directory} ({freed})")


def _files(entry: Entry) -> Iterator[Path]:
    """What odfl and Hydra wrote into the directory."""
    yield from (entry.directory / name for name in (SUMMARY, FAILURE, LOG))
    yield from (entry.directory / HYDRA / name for name in HYDRA_FILES)
    yield from (path for path in entry.directory.iterdir() if SEED_FILE.fullmatch(path.name))
    yield from entry.directory.glob(f".*{UNFINISHED}")


def _remove_if_empty(directory: Path) -> None:
    if directory.is_dir() and not os.listdir(directory):
        directory.rmdir()


def _seconds(text: str) -> float:
    found = re.fullmatch(r"(\d+)([smhdw])", text)
    if not found:
        raise UserError(f"--older-than {text}: should be a number with s, m, h, d or w, as in 30d")
    return int(found[1]) * SECONDS[found[2]]
