"""From the rows of a long table to rounds of one size, or an error that names the row."""

import re
from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from odfl_cli.environments.replay.files import DataError
from odfl_cli.environments.replay.tables import Chunk, Layout, OnMissing

MOST_ITEMS = 100_000
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
MISSING = (
    "missing; data.on_missing=skip leaves such rounds out, last or mean fill from earlier ones"
)


class Batch(NamedTuple):
    """Consecutive rounds of one group."""

    group: str
    values: np.ndarray  # [B, d, p + 1], the cost last; NaN in all of an item that is not offered
    skipped: int = 0


def usable(group: str, values: np.ndarray, on_missing: OnMissing, skipped: int = 0) -> Batch:
    """The rounds of [B, d, p + 1] to play; with mask, an item that misses a number is NaN throughout."""
    missing = np.isnan(values)
    if on_missing == "mask":
        values = np.where(missing.any(axis=2, keepdims=True), np.nan, values)
        kept = ~np.isnan(values[..., -1]).all(axis=1)
    elif on_missing in ("last", "mean"):  # filled later
        kept = np.ones(len(values), dtype=bool)
    else:
        kept = ~missing.any(axis=(1, 2))
    return Batch(group, values[kept], skipped + int((~kept).sum()))


class Assembler:
    """Cuts rows into rounds. The first round decides how many items there are, and their order.

    With on_missing=mask the items are all those of the file, which is read twice.
    """

    def __init__(self, columns: Layout, on_missing: OnMissing) -> None:
        self.columns, self.on_missing = columns, on_missing
        self.size = 0
        self.items: list[str] | None = None
        self.latest: dict[str, Order] = {}  # group → order of its last round

    def batches(self, chunks: Callable[[], Iterator[Chunk]]) -> Iterator[Batch]:
        """All rounds; one that continues in the next chunk is completed there."""
        if self.on_missing == "mask":
            self._learn_all(chunks())
        waiting: Chunk | None = None
        for chunk in chunks():
            self._check_cells(chunk)
            rows = chunk if waiting is None else waiting.append(chunk)
            starts = _starts(rows)
            yield from self._complete(rows, starts)
            waiting = rows.part(starts[-1], len(rows.lines))
            if len(waiting.lines) > (self.size or MOST_ITEMS):
                self._refuse_size(waiting)
        if waiting is not None:
            yield from self._complete(waiting, [0, len(waiting.lines)])

    def _check_cells(self, chunk: Chunk) -> None:
        """No label is empty, no number is infinite, none is missing unless that may be."""
        labels = (chunk.rounds, chunk.items, chunk.groups)
        for name, values in zip(self.columns[:3], labels, strict=True):
            if values is not None and "" in values:
                raise DataError(f"{chunk.where(values.index(''))}, column {name}: missing")
        broken = np.isinf(chunk.values)
        if self.on_missing == "refuse":
            broken |= np.isnan(chunk.values)
        if broken.any():
            row, column = (int(place[0]) for place in np.nonzero(broken))
            reason = MISSING if np.isnan(chunk.values[row, column]) else "infinite"
            where = f"{chunk.where(row)}, column {self.columns.numbers[column]}"
            raise DataError(f"{where}: {reason}")

    def _complete(self, rows: Chunk, starts: list[int]) -> Iterator[Batch]:
        """The rounds between the starts, group by group."""
        places: dict[str, list[np.ndarray | None]] = {}
        for start, stop in pairwise(starts):
            group = rows.groups[start] if rows.groups else ""
            self._check_order(rows, start, group)
            places.setdefault(group, []).append(self._ordered(rows, start, stop))
        absent = np.full_like(rows.values[:1], np.nan)
        values = np.concatenate([rows.values, absent])  # the last row: an item that is not there
        for group, orders in places.items():
            found = [order for order in orders if order is not None]
            chosen = np.concatenate([np.zeros(0, dtype=np.intp), *found])
            rounds = values[chosen].reshape(-1, self.size, values.shape[1])
            yield usable(group, rounds, self.on_missing, len(orders) - len(found))

    def _check_order(self, rows: Chunk, start: int, group: str) -> None:
        label = rows.rounds[start]
        now, before = _order(label), self.latest.get(group)
        where = f"{rows.where(start)}, column {self.columns.round}"
        if now is None:
            raise DataError(f"{where}: {label!r} is neither a number nor an ISO date")
        if before is not None and now.kind != before.kind:
            raise DataError(
                f"{where}: {label!r} after {before.label!r}; all numbers, all dates, or all dates "
                "with a time zone"
            )
        if before is not None and not now.value > before.value:
            raise DataError(
                f"{where}: {label} comes after {before.label}; "
                "rounds should increase, and the rows of one round stand together; the rounds of "
                "several seeds are told apart by a column, data.group"
            )
        self.latest[group] = now

    def _ordered(self, rows: Chunk, start: int, stop: int) -> np.ndarray | None:
        """The round's rows in the order of the first round; None where an item is missing."""
        items = rows.items[start:stop] if rows.items else None
        if not self.size:
            self._learn(rows, items, start, stop)
        if items == self.items and stop - start == self.size:
            return np.arange(start, stop)
        if items is None or self.items is None:
            self._check_count(rows, start, stop)
            return None
        position = {item: start + place for place, item in enumerate(items)}
        if len(position) < len(items):
            self._refuse_twice(rows, items, start)
        known = set(self.items)
        for item in items:
            if item not in known:
                where = f"{rows.where(position[item])}, column {self.columns.item}"
                raise DataError(f"{where}: {item} was not among the items of the first round")
        if len(items) < self.size and self.on_missing != "mask":
            self._check_count(rows, start, stop)
            return None
        return np.array([position.get(item, -1) for item in self.items])

    def _learn_all(self, chunks: Iterator[Chunk]) -> None:
        """Every item of the file, in the order in which they appear."""
        if self.columns.item is None:
            raise DataError("data.on_missing=mask: data.columns.item has to name the items")
        found = dict.fromkeys(item for chunk in chunks for item in chunk.items or ())
        if len(found) == 1:
            raise DataError(f"{next(iter(found))} is the only item; two are needed")
        self.size, self.items = len(found), list(found)

    def _learn(self, rows: Chunk, items: list[str] | None, start: int, stop: int) -> None:
        if items is not None and len(set(items)) < len(items):
            self._refuse_twice(rows, items, start)
        if stop - start < 2:
            raise DataError(f"{rows.where(start)}: the first round has one item; two are needed")
        self.size, self.items = stop - start, items

    def _refuse_twice(self, rows: Chunk, items: list[str], start: int) -> None:
        place = next(i for i, item in enumerate(items) if item in items[:i])
        where = f"{rows.where(start + place)}, column {self.columns.item}"
        raise DataError(f"{where}: {items[place]} appears twice in round {rows.rounds[start]}")

    def _check_count(self, rows: Chunk, start: int, stop: int) -> None:
        """Refuses another number of items than in the first round, unless fewer may be skipped."""
        if self.on_missing != "refuse" and stop - start < self.size:
            return
        missing = ""
        if rows.items and self.items:
            items = rows.items[start:stop]
            missing = f" ({next(i for i in self.items if i not in items)} is missing)"
        raise DataError(
            f"{rows.where(start)}, column {self.columns.round}: round {rows.rounds[start]} has "
            f"{stop - start} items, the first round {self.size}{missing}"
        )

    def _refuse_size(self, rows: Chunk) -> None:
        most, known = self.size or MOST_ITEMS, ", the number of the first round"
        raise DataError(
            f"{rows.where(most)}, column {self.columns.round}: round {rows.rounds[0]} has more than "
            f"{most} items{known if self.size else ''}"
        )


def _starts(rows: Chunk) -> list[int]:
    """Where a round begins: the label or the group differs from the row before."""
    keys = rows.rounds if rows.groups is None else list(zip(rows.rounds, rows.groups, strict=True))
    return [0, *(i + 1 for i, (one, next_one) in enumerate(pairwise(keys)) if one != next_one)]


class Order(NamedTuple):
    """What rounds are sorted by: a number, a date, or the instant of a date with a time zone."""

    kind: str
    value: Any  # int or float; datetime
    label: str


def _order(label: str) -> Order | None:
    """The order of a round's label; None for text that is neither a number nor a date."""
    if NUMBER.fullmatch(label):
        try:
            return Order("numbers", int(label), label)
        except ValueError:
            return Order("numbers", float(label), label)
    date = _date(label) or _date(f"{label}-01")
    if date is None:
        return None
    return Order("dates" if date.tzinfo is None else "dates with a time zone", date, label)


def _date(label: str) -> datetime | None:
    try:
        return datetime.fromisoformat(label)
    except ValueError:
        return None
