"""Numbers for the page: float32, every array once, compressed."""

import base64
import json
import zlib
from typing import Any

import numpy as np

Place = tuple[int, int]  # offset and length, in numbers


class Arrays:
    """Collects arrays; equal ones share their place."""

    def __init__(self) -> None:
        self._parts: list[np.ndarray] = []
        self._places: dict[bytes, Place] = {}
        self._length = 0

    def add(self, values: np.ndarray) -> Place:
        """Where the values will be found, row after row."""
        part = np.ascontiguousarray(values, dtype="<f4").ravel()
        key = part.tobytes()
        if key not in self._places:
            self._places[key] = self._length, part.size
            self._parts.append(part)
            self._length += part.size
        return self._places[key]

    def pack(self) -> str:
        """All of them: the first bytes of every number, then the second ones, …; deflated.

        Neighbours on a curve share their upper bytes, which deflate finds only side by side.
        """
        every = np.concatenate(self._parts) if self._parts else np.empty(0, dtype="<f4")
        planes = every.view(np.uint8).reshape(-1, 4).T
        return _pack(planes.tobytes())


def thin(count: int, most: int) -> np.ndarray:
    """At most so many of the places 0, …, count − 1, evenly spread, the first and last among them."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int))


def pack_json(content: Any) -> str:
    """A document; what is not finite becomes null."""
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return _pack(text.encode())


def _pack(content: bytes) -> str:
    return base64.b64encode(zlib.compress(content, 9)).decode()
