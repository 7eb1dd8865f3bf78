"""Snapshots: the state of one seed and its settings in one safetensors file, sealed and without code."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from odfl_cli import __version__
from odfl_cli.config.identity import content
from odfl_cli.core.arrays import map_tree
from odfl_cli.core.errors import UserError
from odfl_cli.core.reading import as_read, flatten, is_intact, seal
from odfl_cli.core.text import assignments
from odfl_cli.runs.records import versions

HEADER, STATE = "odfl", "state"
FORMAT = 1


class Snapshot(NamedTuple):
    """The content of a file: the header, and arrays by name."""

    place: str  # for messages
    header: dict[str, Any]
    arrays: dict[str, np.ndarray]

    def check_settings(self, now: Mapping[str, Any], ignored: tuple[str, ...] = ()) -> None:
        """Raises if settings have changed, except for keys that begin with `ignored`."""
        before = self.header["settings"]
        for key in sorted({*before, *now}):
            if before.get(key) != now.get(key) and not key.startswith(ignored):
                was, is_now = (assignments({key: one.get(key)}) for one in (before, now))
                raise UserError(f"{self.place}: it was made with {was}, not with {is_now}")

    def restore(self, template: Any, path: str = STATE) -> Any:
        """The state, in the form of the initial state `template`."""
        return map_tree(self._find, template, path=path)

    def _find(self, path: str, template: Any) -> Any:
        kind = self.arrays if isinstance(template, np.ndarray) else self.header["numbers"]
        found = kind.get(path)
        if found is None or np.shape(found) != np.shape(template):
            shape = "missing" if found is None else f"of shape {np.shape(found)}"
            raise UserError(
                f"{self.place}: {path} is {shape}, and {np.shape(template)} is needed; "
                "it was made by another algorithm or for other sizes"
            )
        return found.copy() if isinstance(found, np.ndarray) else found


def settings_of(values: dict[str, Any]) -> dict[str, Any]:
    """Dotted key → JSON value of a resolved configuration; files by content, classes by name."""
    return as_read(flatten(content(values)))


def pack(
    header: Mapping[str, Any], state: Any, arrays: Mapping[str, np.ndarray], path: str = STATE
) -> bytes:
    """The content of a file with the header, the state (names begin with `path`) and further arrays."""
    leaves: dict[str, Any] = {}
    map_tree(leaves.__setitem__, state, path=path)
    kept = {name: x for name, x in leaves.items() if isinstance(x, np.ndarray)} | dict(arrays)
    kept = {name: x.copy(order="C") for name, x in kept.items()}
    sealed = seal(
        {
            "format": FORMAT,
            **header,
            "versions": versions(),
            "numbers": {name: x for name, x in leaves.items() if name not in kept},
            "sha256": _checksum(kept),
        }
    )
    return save(kept, metadata={HEADER: json.dumps(sealed)})


def unpack(file: bytes, place: str) -> Snapshot:
    """The checked snapshot; raises a UserError if it is none, damaged or of another version."""
    try:
        arrays = load(file)
        length = int.from_bytes(file[:8], "little")
        header = json.loads(json.loads(file[8 : 8 + length])["__metadata__"][HEADER])
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{place}: it is not a snapshot of odfl, or damaged") from error
    if not is_intact(header) or header["sha256"] != _checksum(arrays):
        raise UserError(f"{place}: it is damaged: it is not what was written")
    made = header["versions"]["odfl"]
    if header["format"] != FORMAT or made != __version__:
        raise UserError(f"{place}: made by odfl {made}, and this is {__version__}")
    return Snapshot(place, header, arrays)


def read_snapshot(path: Path) -> Snapshot:
    """The snapshot in a file, which may be a link."""
    if path.is_fifo():
        raise UserError(f"{path}: it is not a regular file")
    try:
        return unpack(path.read_bytes(), str(path))
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from error


def _checksum(arrays: Mapping[str, np.ndarray]) -> str:
    """The SHA-256 of all arrays with their names, types and shapes."""
    found = hashlib.sha256()
    for name in sorted(arrays):
        values = arrays[name]
        found.update(f"{name} {values.dtype.str} {values.shape}\n".encode())
        found.update(np.ascontiguousarray(values).data)
    return found.hexdigest()
