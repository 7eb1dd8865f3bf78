"""Reads and writes rounds as arrays, mappings of names to numbers, and DataFrames."""

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from odfl_cli.core.errors import UserError
from odfl_cli.core.text import did_you_mean


class Form(NamedTuple):
    """The sizes of rounds, and the names of the rows and columns of X if there are any."""

    shape: tuple[int, ...]  # of X
    items: int
    item_names: tuple[Any, ...] = ()
    feature_names: tuple[Any, ...] = ()

    @classmethod
    def from_round(cls, X: Any, items: Any, features: Any) -> "Form":
        """The form of the first round's X, with the given counts or lists of names."""
        table, sizes = by_name(X), np.shape(X)
        keys = list(zip(("items", "features"), (items, features), strict=True))
        is_named = table is not None or any(not isinstance(one, int | None) for _, one in keys)
        if table is not None and all(isinstance(row, Mapping) and row for row in table.values()):
            found = [tuple(table), *[tuple(row) for row in table.values()][:1]]
        else:
            found = [tuple(range(size)) for size in sizes]
        if not is_named and len(sizes) > 2 and items:
            return cls(sizes, items)
        if len(found) != 2 or (table is not None and not table):
            given = "" if is_named else f"it has shape {sizes}; "
            raise UserError(
                f"X: {given}[items, features] or {{item: {{feature: value}}}} is needed"
            )
        for (key, given), seen in zip(keys, found, strict=True):
            if isinstance(given, int) and given != len(seen):
                more = f"; give all names, {key}=[…]" if table else ""
                verb = "names" if table else "has"
                raise UserError(f"X: it {verb} {len(seen)} {key}, and {key}={given}{more}")
        names = [
            seen if isinstance(given, int | None) else tuple(given)
            for (_, given), seen in zip(keys, found, strict=True)
        ]
        return cls((len(names[0]), len(names[1])), len(names[0]), *(names if is_named else ()))

    def read_features(self, X: Any, offers_all: bool) -> tuple[np.ndarray, bool]:
        """X of one round as numbers, NaN for items not offered; and whether all are offered."""
        table = by_name(X)
        values = _numbers("X", X if table is None else self._rows(table))
        if values.shape != self.shape:
            raise UserError(f"X: it has shape {values.shape}, and {self.shape} is needed")
        if is_finite(values):
            return values, True
        absent = np.isnan(values).all(-1) if values.ndim == 2 else np.zeros(self.shape[:-1], bool)
        if not np.isfinite(values[~absent]).all():
            raise UserError("X: a number is not finite")
        if absent.any() and table is None and offers_all:
            raise UserError(
                "X: a row is NaN; offers_all=False says that such items are not offered"
            )
        if absent.all():
            raise UserError("X: no item is offered")
        return values, not absent.any()

    def _rows(self, table: Mapping[Any, Any]) -> list[Any]:
        """The features of all items in their order."""
        if not self.item_names:
            raise UserError("X: it has names, but that of the first round had none")
        _refuse_unknown("X", "item", table, self.item_names)
        missing, rows = [np.nan] * len(self.feature_names), []
        for item in self.item_names:
            row, where = table.get(item), f"X[{item!r}]"
            if item in table and not isinstance(row, Mapping):
                raise UserError(f"{where}: a mapping of features to numbers is needed")
            if row is not None:
                _refuse_unknown(where, "feature", row, self.feature_names)
                for name in self.feature_names:
                    if row.get(name) is None or row[name] != row[name]:
                        lack = "has no value" if name in row else "is missing"
                        raise UserError(f"{where}: the feature {name!r} {lack}")
            rows.append(missing if row is None else [row[name] for name in self.feature_names])
        return rows

    def read_costs(self, costs: Any, X: np.ndarray, offers_all: bool) -> np.ndarray:
        """The costs [d]; 0 for items not offered."""
        values = self.read_played(costs)
        if offers_all and is_finite(values):
            return values
        offered = ~np.isnan(X[:, 0]) if X.ndim == 2 else np.ones(self.items, dtype=bool)
        lost = np.flatnonzero(offered & np.isnan(values))
        if lost.size and by_name(costs) is not None:
            raise UserError(
                f"costs: there is no cost of {self.item_names[lost[0]]!r}, which X offers; "
                "leave an item that was not offered out of both"
            )
        values = np.where(offered, values, 0.0)
        if not np.isfinite(values).all():
            raise UserError("costs: a number is not finite")
        return values

    def read_played(self, costs: Any) -> np.ndarray:
        """The costs [d]; NaN for unknown ones."""
        table = by_name(costs)
        if table is not None:
            if not self.item_names:
                raise UserError(
                    "costs: they have names, but the items have none; name them in X too"
                )
            _refuse_unknown("costs", "item", table, self.item_names)
            costs = [table.get(item, np.nan) for item in self.item_names]
        values = _numbers("costs", costs)
        if values.shape != (self.items,):
            raise UserError(f"costs: they have shape {values.shape}, and ({self.items},) is needed")
        return values

    def write(self, X: Any, values: np.ndarray) -> Any:
        """Numbers of all items [d] in the form of X: an array, a dict or a Series of the items in X."""
        table = by_name(X)
        if table is None or not self.item_names:
            return values
        found = dict(zip(self.item_names, values.tolist(), strict=True))
        shown = {item: found[item] for item in table}
        if isinstance(X, Mapping):
            return shown
        import pandas as pd

        return pd.Series(shown)


def is_finite(values: np.ndarray) -> bool:
    """True if the sum of the numbers is finite, so that all of them are."""
    return math.isfinite(np.add.reduce(values, axis=None))


def by_name(values: Any) -> Mapping[Any, Any] | None:
    """The values by name, or None for arrays; a DataFrame has a row per item."""
    if isinstance(values, np.ndarray):
        return None
    if hasattr(values, "columns") and hasattr(values, "to_dict"):
        if not values.index.is_unique:
            raise UserError("X: an item has two rows")
        return values.to_dict("index")
    if hasattr(values, "index") and hasattr(values, "to_dict"):
        return values.to_dict()
    return values if isinstance(values, Mapping) else None


def _refuse_unknown(where: str, kind: str, given: Iterable[Any], known: tuple[Any, ...]) -> None:
    for name in given:
        if name not in known:
            hint = did_you_mean(str(name), [str(one) for one in known])
            raise UserError(f"{where}: the {kind} {name!r} is unknown; {hint}")


def _numbers(key: str, values: Any) -> np.ndarray:
    """A copy in double precision."""
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise UserError(f"{key}: numbers are needed ({error})") from error
