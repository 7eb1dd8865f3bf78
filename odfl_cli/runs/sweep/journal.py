"""The journal of a sweep: events of its jobs, appended by them and read by the waiting process.

Run directories alone cannot show progress: a job that starts, is skipped, or fails before it has a
directory changes nothing there. Launchers run jobs in other processes and on other hosts, and two
sweeps may share a run, so every attempt has a file of its own on the shared file system.
"""

import json
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from odfl_cli.core.files import hold, open_regular, remove_abandoned
from odfl_cli.core.locks import locked

ATTEMPT = "ODFL_ATTEMPT"
"""The environment variable that names the attempt at a sweep to its jobs."""
NAME = re.compile(r"\.journal-[0-9a-f]{12}\.jsonl")

Event = Literal["started", "playing", "done", "skipped", "failed"]
RUNNING = ("started", "playing")


@dataclass(frozen=True)
class Entry:
    """One event of one job."""

    job: int  # its number in the sweep
    run: str  # the name of its directory
    event: Event
    seconds: float = 0.0
    message: str = ""  # its result, why it was skipped, or its error in one line
    played: float = 0.0  # the share of its rounds
    remarks: Sequence[str] = ()  # on its results, in words that other jobs share


def journal(sweep: Path, attempt: str) -> Path:
    """The file of one attempt, so that two attempts at one sweep do not read each other's jobs."""
    return sweep / f".journal-{attempt}.jsonl"


def add(file: Path, entry: Entry) -> None:
    """Appends an event; a full disk must not turn a result into a failure, so errors are ignored."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    with (
        suppress(OSError),
        locked(file.parent),
        os.fdopen(open_regular(file, flags), "a") as lines,
    ):
        lines.write(json.dumps(asdict(entry)) + "\n")


def remove_old_journals(sweep: Path) -> None:
    """Removes the journals of attempts that were killed."""
    remove_abandoned(path for path in sweep.iterdir() if NAME.fullmatch(path.name))


class Reader:
    """Reads a journal while it grows; holds it until `close`."""

    def __init__(self, file: Path) -> None:
        self._path = file
        self._position = 0
        self._held = -1
        with suppress(OSError):  # a full disk
            self._held = open_regular(file, os.O_RDWR | os.O_CREAT)
            hold(self._held)

    def close(self) -> None:
        """Removes the journal."""
        self._path.unlink(missing_ok=True)
        if self._held >= 0:
            os.close(self._held)

    def news(self) -> list[Entry]:
        """The events since the last call; a line without its end is read later, a broken one never."""
        try:
            with open(self._path, "rb") as file:
                file.seek(self._position)
                lines = file.read().split(b"\n")[:-1]
        except OSError:
            return []
        self._position += sum(len(line) + 1 for line in lines)
        return [entry for line in lines if (entry := _entry(line)) is not None]


def _entry(line: bytes) -> Entry | None:
    try:
        entry = json.loads(line)
        return Entry(**entry | {"remarks": tuple(entry["remarks"])})
    except (ValueError, TypeError, KeyError):
        return None
