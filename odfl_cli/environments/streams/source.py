"""Helpers for sources of rounds: files inside packages, periods, progress."""

import importlib.util
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from odfl_cli.core.text import tell
from odfl_cli.environments.replay.batches import Batch
from odfl_cli.environments.replay.files import DataError

Part = TypeVar("Part")
EARLY = " early"
"""The suffix of groups of the early period, on which constants are chosen."""


class Table(NamedTuple):
    """Rounds with their labels."""

    periods: list[str]  # [T], the groups
    days: list[str]  # [T]
    items: list[str]  # [d]
    values: np.ndarray  # [T, d, p + 1], the cost last

    def batches(self) -> Iterator[Batch]:
        """The rounds of each period."""
        for period in dict.fromkeys(self.periods):
            yield Batch(period, self.values[np.array(self.periods) == period])


class Source(NamedTuple):
    """Files inside packages, and the function that makes rounds of them."""

    files: Callable[[], tuple[Path, ...]]
    features: tuple[str, ...]
    batches: Callable[[tuple[Path, ...]], Iterator[Batch]]


def package_files(package: str, pattern: str, install: str) -> tuple[Path, ...]:
    """The files inside an installed package; `install` is the command in the error message."""
    found = importlib.util.find_spec(package)
    places = found.submodule_search_locations if found else None
    paths = sorted(Path(next(iter(places))).glob(pattern)) if places else []
    if not paths:
        raise DataError(f"the data come with {package}: {install}")
    return tuple(paths)


def table_source(
    package: str, file: str, features: tuple[str, ...], table: Callable[[Path], Table]
) -> Source:
    """A source with one file of the extra `examples`, read into a table."""
    files = lambda: package_files(package, file, "pip install -e '.[examples]' in odfl's clone")  # noqa: E731
    return Source(files, features, lambda paths: table(paths[0]).batches())


def split_periods(groups: dict[str, np.ndarray], early: int) -> Iterator[Batch]:
    """Rounds [T, d, p + 1] of every group from round `early` on, then those before it."""
    for group, values in groups.items():
        yield Batch(group, values[early:].copy())
    for group, values in groups.items():
        yield Batch(group + EARLY, values[:early].copy())


def with_progress(parts: Sequence[Part], what: str) -> Iterator[Part]:
    """Yields the parts with a progress bar on a terminal, or after one line elsewhere."""
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    text, hidden = f"preparing {what}, once", not console.is_terminal
    if hidden:
        tell(f"{text} …")
    yield from track(parts, text, console=console, transient=True, disable=hidden)
