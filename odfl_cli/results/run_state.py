"""What a run directory holds, judged by its files alone."""

import hashlib
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from odfl_cli.core.locks import holder, is_locked

FORMAT = 1
"""Of summary.json; a higher number is a newer version's."""
SUMMARY, FAILURE = "summary.json", "failed.json"

Seeds = tuple[int, ...]
State = Literal["finished", "failed", "running", "unfinished", "damaged", "newer"]


@dataclass(frozen=True)
class RunState:
    """A run directory at one moment.

    finished: the summary is whole and so is every file it names. failed: the last attempt left
    failed.json. running: a living process holds the lock. damaged: there is a summary, but it or
    a file it names is not what it was. newer: written by a version this one cannot read.
    unfinished: none of these.
    """

    directory: Path
    state: State
    summary: dict[str, Any] | None = None
    error: str | None = None  # first line of the failure
    reason: str | None = None  # one line on why the state is what it is, unless it is finished
    listed: Seeds = ()  # seeds of the summary
    seeds: Seeds = ()  # those of them whose files are whole
    versions: tuple[str, ...] = ()  # of the code that computed them

    @property
    def version(self) -> str | None:
        """Of the code that computed the results; several where seeds were added later."""
        return ", ".join(self.versions) or None

    def covers(self, seeds: Seeds) -> bool:
        """Whether all these seeds can be read, whatever else the directory lacks."""
        return self.state != "newer" and set(seeds) <= set(self.seeds)


def inspect(directory: Path) -> RunState:
    """The state of a run directory; one that does not exist is unfinished. Reads every CSV."""
    found = inspect_files(directory)
    if found.state != "newer" and is_locked(directory):
        return replace(found, state="running", reason=f"process {holder(directory)}")
    return found


def inspect_files(directory: Path) -> RunState:
    """The same without a look at the lock, for who holds it."""
    summary, wrong = _read(directory / SUMMARY)
    if summary and isinstance(number := summary.get("format", 0), int) and number > FORMAT:
        reason = f"{SUMMARY} has format {number}, this version of odfl reads up to {FORMAT}"
        return RunState(directory, "newer", summary, reason=reason, versions=versions_of(summary))
    found: dict[str, Any] = {}
    if summary is not None:
        listed, seeds, wrong = _seeds(directory, summary)
        versions = versions_of(summary)
        found = {"summary": summary, "listed": listed, "seeds": seeds, "versions": versions}
    failure, garbled = _read(directory / FAILURE)
    if failure is not None or garbled:
        error = str((failure or {}).get("error", garbled))
        found |= {"error": error, "versions": found.get("versions") or versions_of(failure or {})}
        return RunState(directory, "failed", reason=error, **found)
    if wrong:
        return RunState(directory, "damaged", reason=wrong, **found)
    if summary is None:
        return RunState(directory, "unfinished", reason=f"there is no {SUMMARY}")
    return RunState(directory, "finished", **found)


def seed_file(seed: int) -> str:
    """The name of a seed's CSV."""
    return f"seed-{seed}.csv"


def file_record(content: bytes, version: str) -> dict[str, Any]:
    """How summary.json remembers a file."""
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest(), "odfl": version}


def versions_of(record: dict[str, Any]) -> tuple[str, ...]:
    """Of odfl, from a summary's files or from the versions beside a failure: the mark of a record."""
    files = record.get("files")
    entries = files.values() if isinstance(files, dict) else [record.get("versions")]
    found = {str(entry["odfl"]) for entry in entries if isinstance(entry, dict) and "odfl" in entry}
    return tuple(sorted(found))


def _read(path: Path) -> tuple[dict[str, Any] | None, str | None]:
    """The JSON object, or what is wrong; neither where there is no file."""
    try:
        content = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None, None
    except (OSError, ValueError) as error:
        return None, f"{path.name}: {' '.join(str(error).split())}"
    if not isinstance(content, dict):
        return None, f"{path.name} should hold a JSON object"
    return content, None


def _seeds(directory: Path, summary: dict[str, Any]) -> tuple[Seeds, Seeds, str | None]:
    """The listed seeds, those whose files are as recorded, and the first thing that is wrong."""
    seeds, files = summary.get("seeds"), summary.get("files")
    if not (isinstance(seeds, list) and seeds and all(type(seed) is int for seed in seeds)):
        return (), (), f"{SUMMARY} does not list its seeds"
    if not isinstance(files, dict) or not all(isinstance(file, dict) for file in files.values()):
        return (), (), f"{SUMMARY} does not list its files"
    if not isinstance(summary.get("final"), dict) or not isinstance(summary.get("config"), dict):
        return (), (), f"{SUMMARY} lacks its figures or its configuration"
    names = {seed: seed_file(seed) for seed in seeds}
    wrong = {seed: _wrong(directory / name, files.get(name)) for seed, name in names.items()}
    whole = tuple(seed for seed in names if wrong[seed] is None)
    return tuple(names), whole, next((line for line in wrong.values() if line), None)


def _wrong(path: Path, record: dict[str, Any] | None) -> str | None:
    if record is None:
        return f"{SUMMARY} does not list {path.name}"
    try:
        content = path.read_bytes()
    except OSError as error:
        return f"{path.name}: {error.strerror}"
    if len(content) != record.get("bytes"):
        return f"{path.name} has {len(content)} bytes instead of {record.get('bytes')}"
    if hashlib.sha256(content).hexdigest() != record.get("sha256"):
        return f"{path.name} is not what was written"
    return None
