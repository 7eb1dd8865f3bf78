"""What a stream is to a recording, and what the sources share."""

import importlib.util
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from odfl_cli.core.text import tell
from odfl_cli.environments.replay.batches import Batch
from odfl_cli.environments.replay.files import DataError

Part = TypeVar("Part")
EARLY = " early"
"""Ends the name of a group of the early period."""


class Source(NamedTuple):
    """Files inside packages, and how they become rounds."""

    files: Callable[[], tuple[Path, ...]]
    features: tuple[str, ...]
    batches: Callable[[tuple[Path, ...]], Iterator[Batch]]


def packaged(package: str, pattern: str, install: str) -> tuple[Path, ...]:
    """The files inside an installed package, which need not be imported; `install` gets it."""
    found = importlib.util.find_spec(package)
    places = found.submodule_search_locations if found else None
    paths = sorted(Path(next(iter(places))).glob(pattern)) if places else []
    if not paths:
        raise DataError(f"the data come with {package}: {install}")
    return tuple(paths)


def periods(group: str, values: np.ndarray, early: int) -> Iterator[Batch]:
    """Rounds [T, d, p + 1] as two groups: from round `early` on, and before it."""
    yield Batch(group, values[early:].copy())
    yield Batch(group + EARLY, values[:early].copy())


def later_first(batches: Iterable[Batch]) -> Iterator[Batch]:
    """Groups of the later period before those of the early one, so that they are seeds 0, 1, …"""
    kept = list(batches)
    yield from (batch for batch in kept if not batch.group.endswith(EARLY))
    yield from (batch for batch in kept if batch.group.endswith(EARLY))


def shown(parts: Sequence[Part], what: str) -> Iterator[Part]:
    """The parts, with a progress bar on a terminal and one line elsewhere."""
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    if not console.is_terminal:
        tell(f"preparing {what}, once …")
    yield from track(
        parts,
        f"preparing {what}, once",
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
