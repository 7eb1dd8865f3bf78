"""What the jobs of a sweep, in whatever process they run, tell the one that waits for them."""

import json
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from odfl_cli.locks import locked

JOURNAL = ".journal.jsonl"

Event = Literal["started", "done", "skipped", "failed"]


@dataclass(frozen=True)
class Entry:
    """One event of one job."""

    job: int  # its number in the sweep
    run: str  # the name of its directory
    event: Event
    seconds: float = 0.0
    told: str = ""  # its result, why it was skipped, or the first line of its error


def add(sweep: Path, entry: Entry) -> None:
    """Appends an event. A full disk must not turn a result into a failure, so errors pass."""
    with suppress(OSError), locked(sweep), open(sweep / JOURNAL, "a") as file:
        file.write(json.dumps(asdict(entry)) + "\n")


def clear(sweep: Path) -> None:
    """Forgets the events of an earlier attempt."""
    (sweep / JOURNAL).unlink(missing_ok=True)


class Reader:
    """Reads on from where it stopped."""

    def __init__(self, sweep: Path) -> None:
        self._path = sweep / JOURNAL
        self._position = 0

    def news(self) -> list[Entry]:
        """The events since the last call; half a line waits for its other half."""
        try:
            with open(self._path, "rb") as file:
                file.seek(self._position)
                lines = file.read().split(b"\n")[:-1]
        except OSError:
            return []
        self._position += sum(len(line) + 1 for line in lines)
        return [Entry(**json.loads(line)) for line in lines]
