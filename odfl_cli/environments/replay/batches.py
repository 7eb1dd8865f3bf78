"""Converts the rows of a long table to rounds of one size; errors name the row."""

import re
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import reduce
from itertools import pairwise
from typing import Any, NamedTuple, NoReturn

import numpy as np

from odfl_cli.environments.replay.files import DataError
from odfl_cli.environments.replay.tables import Layout, OnMissing, Rows

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


def find_wrong(values: np.ndarray, on_missing: OnMissing) -> tuple[list[int], str] | None:
    """The first place of an infinite or forbidden missing number, and the reason."""
    wrong = ~np.isfinite(values) if on_missing == "refuse" else np.isinf(values)
    if not wrong.any():
        return None
    place = np.argwhere(wrong)[0].tolist()
    return place, MISSING if np.isnan(values[*place]) else "infinite"


def select_rounds(group: str, values: np.ndarray, on_missing: OnMissing, skipped: int = 0) -> Batch:
    """The rounds of [B, d, p + 1] to play; with mask, an item with a missing number is all NaN."""
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
    """Splits rows into rounds; the first round, or with on_missing=mask the whole file, determines the items."""

    def __init__(self, columns: Layout, on_missing: OnMissing) -> None:
        self.columns, self.on_missing = columns, on_missing
        self.items: list[Any] = []  # their labels; without a column of items, their positions
        self.latest: dict[str, tuple[str, tuple]] = {}  # group → label and order of its last round

    def batches(self, read: Callable[[], Iterator[Rows]]) -> Iterator[Batch]:
        """All rounds; a round may continue in the next rows."""
        if self.on_missing == "mask":
            if self.columns.item is None:
                raise DataError("data.on_missing=mask: data.columns.item has to name the items")
            self.items = list(dict.fromkeys(item for rows in read() for item in rows.labels[:, 1]))
            if len(self.items) == 1:
                raise DataError(f"{self.items[0]} is the only item; two are needed")
        waiting: Rows | None = None
        for part in read():
            self._check_cells(part)
            rows = part if waiting is None else waiting.append(part)
            keys = rows.labels[:, ::2]  # a round begins where its label or the group differs
            starts = [0, *(1 + np.flatnonzero((keys[1:] != keys[:-1]).any(axis=1))).tolist()]
            yield from self._complete(rows, starts)
            waiting = rows.part(starts[-1])
            most = len(self.items) or MOST_ITEMS
            if len(waiting.where) > most:  # refused before it fills the memory
                known = ", the number of the first round" if self.items else ""
                reason = f"round {waiting.labels[0, 0]} has more than {most} items{known}"
                self._refuse(waiting, most, 0, reason)
        if waiting is not None:
            yield from self._complete(waiting, [0, len(waiting.where)])

    def _check_cells(self, rows: Rows) -> None:
        """Raises for empty labels, infinite numbers and forbidden missing ones."""
        for name, labels in zip(self.columns[:3], rows.labels.T, strict=True):
            if (empty := labels == "").any():
                raise DataError(f"{rows.where[empty.argmax()]}, column {name}: missing")
        if wrong := find_wrong(rows.values, self.on_missing):
            (row, column), reason = wrong
            raise DataError(f"{rows.where[row]}, column {self.columns.numbers[column]}: {reason}")

    def _complete(self, rows: Rows, starts: list[int]) -> Iterator[Batch]:
        """The rounds between the starts, group by group."""
        places: dict[str, list[np.ndarray | None]] = {}
        for start, stop in pairwise(starts):
            group = rows.labels[start, 2] or ""
            self._check_order(rows, start, group)
            places.setdefault(group, []).append(self._arrange(rows, start, stop))
        absent = np.full_like(rows.values[:1], np.nan)
        values = np.concatenate([rows.values, absent])  # the last row is for absent items
        for group, orders in places.items():
            found = [order for order in orders if order is not None]
            chosen = np.concatenate([np.zeros(0, dtype=np.intp), *found])
            rounds = values[chosen].reshape(-1, len(self.items), values.shape[1])
            yield select_rounds(group, rounds, self.on_missing, len(orders) - len(found))

    def _check_order(self, rows: Rows, start: int, group: str) -> None:
        label = rows.labels[start, 0]
        order = _order(label)
        if order is None:
            self._refuse(rows, start, 0, f"{label!r} is neither a number nor an ISO date")
        before, earlier = self.latest.get(group, (label, order))
        if earlier[0] != order[0]:
            kinds = "all numbers, all dates, or all dates with a time zone"
            self._refuse(rows, start, 0, f"{label!r} after {before!r}; {kinds}")
        if group in self.latest and not order[1] > earlier[1]:
            rule = "rounds should increase, and the rows of one round stand together"
            self._refuse(rows, start, 0, f"{label} comes after {before}; {rule}")
        self.latest[group] = label, order

    def _arrange(self, rows: Rows, start: int, stop: int) -> np.ndarray | None:
        """The round's rows in the order of the items, −1 for an absent one; None to skip the round."""
        named, label = self.columns.item is not None, rows.labels[start, 0]
        items = rows.labels[start:stop, 1].tolist() if named else list(range(stop - start))
        if items == self.items:
            return np.arange(start, stop)
        place = {item: start + i for i, item in enumerate(items)}
        if len(place) < len(items):
            twice = next(i for i, item in enumerate(items) if item in items[:i])
            rule = "the rounds of several seeds are told apart by a column, data.group"
            what = f"{items[twice]!r} appears twice in round {label}; {rule}"
            self._refuse(rows, start + twice, 1, what)
        if not self.items and len(items) < 2:
            raise DataError(f"{rows.where[start]}: the first round has one item; two are needed")
        self.items = self.items or items
        known, size = set(self.items), len(self.items)
        if named and (new := next((item for item in items if item not in known), None)) is not None:
            self._refuse(rows, place[new], 1, f"{new!r} was not among the items of the first round")
        if len(items) > size or (len(items) < size and self.on_missing == "refuse"):
            lost = f" ({next(i for i in self.items if i not in place)} is missing)" if named else ""
            count = f"round {label} has {len(items)} items, the first round {size}{lost}"
            self._refuse(rows, start, 0, count)
        if len(items) < size and self.on_missing != "mask":
            return None
        return np.array([place.get(item, -1) for item in self.items])

    def _refuse(self, rows: Rows, row: int, column: int, reason: str) -> NoReturn:
        """Raises a DataError about a label."""
        raise DataError(f"{rows.where[row]}, column {self.columns[column]}: {reason}")


def sort_rows(parts: Iterator[Rows]) -> Iterator[Rows]:
    """All rows at once, each group sorted by rounds; unsorted if labels cannot be compared."""
    found = list(parts)
    if not found:
        return
    rows = reduce(Rows.append, found)
    orders = [_order(label) for label in rows.labels[:, 0]]
    groups = {group: place for place, group in enumerate(dict.fromkeys(rows.labels[:, 2]))}
    if len({order and order[0] for order in orders}) == 1 and orders[0]:
        keys = list(zip(map(groups.get, rows.labels[:, 2]), orders, strict=True))
        rows = rows.take(sorted(range(len(keys)), key=keys.__getitem__))
    yield rows


def _order(label: str) -> tuple[str, Any] | None:
    """The sort key of a round, (kind, number or date); None for other text."""
    if NUMBER.fullmatch(label):
        try:
            return "number", int(label)
        except ValueError:
            return "number", float(label)
    for text in (label, f"{label}-01"):
        try:
            date = datetime.fromisoformat(text)
        except ValueError:
            continue
        return "date" if date.tzinfo is None else "date with a time zone", date
    return None
