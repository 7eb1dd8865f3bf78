"""Which cases of a large family run in `make test`, and which only in `make test-thorough`."""

import random
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any, TypeVar

import pytest
from hypothesis import settings

Test = TypeVar("Test", bound=Callable[..., Any])


def marked(cases: Iterable[Any], representative: Callable[[Any], bool]) -> list[Any]:
    """The cases as parameters, all but the representative ones thorough."""
    return [
        pytest.param(
            *(case if type(case) is tuple else (case,)),
            marks=() if representative(case) else pytest.mark.thorough,
        )
        for case in cases
    ]


def each_once(rows: Sequence[Any], columns: Sequence[Any]) -> list[Any]:
    """Rows × columns, each a value or a tuple: every row with one column, in turn, represents it."""
    flat = lambda value: value if type(value) is tuple else (value,)  # noqa: E731
    pairs = [flat(row) + flat(column) for row, column in product(rows, columns)]
    turns = {flat(row) + flat(columns[i % len(columns)]) for i, row in enumerate(rows)}
    return marked(pairs, turns.__contains__)


def some_of(cases: Sequence[Any], count: int) -> list[Any]:
    """`count` cases, drawn by lot and the same in every run, represent all."""
    chosen = random.Random(0).sample(cases, min(count, len(cases)))
    return marked(cases, chosen.__contains__)


def examples(share: float) -> Callable[[Test], Test]:
    """Sets a share of hypothesis' usual number of examples, which the thorough profile raises."""
    return settings(max_examples=max(1, round(share * settings.default.max_examples)))
