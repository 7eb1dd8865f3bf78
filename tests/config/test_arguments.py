"""Python values reach Hydra as they are."""

from pathlib import Path

import numpy as np
import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from hypothesis import given
from hypothesis import strategies as st
from support.samples import examples

from odfl_cli.config.arguments import grid, keyword_axes, override_axes, quote
from odfl_cli.core.errors import UserError

TEXTS = st.text(st.characters(codec="utf-8"))
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS


def parse(text: str):
    (override,) = OverridesParser.create().parse_overrides([f"key={text}"])
    assert not override.is_sweep_override()
    return override.value()


@examples(0.3)
@given(st.recursive(SCALARS, st.lists, max_leaves=6))
def test_values_come_back_from_hydras_grammar(value) -> None:
    found = parse(quote("key", value))
    assert found == value
    assert type(found) is type(value)


def test_numpy_and_paths_are_values_too() -> None:
    assert parse(quote("key", np.float64(0.1))) == 0.1
    assert parse(quote("key", np.arange(3))) == [0, 1, 2]
    assert parse(quote("key", range(2))) == [0, 1]
    assert parse(quote("key", Path("a b/c.csv"))) == "a b/c.csv"
    assert parse(quote("key", [{"a": True}])) == [{"a": True}]
    with pytest.raises(UserError, match=r"data\.rho: object is no value"):
        quote("data.rho", object())


def cells(**keywords):
    return [cell.overrides for cell in grid(keyword_axes(keywords, swept=True))]


def test_lists_are_alternatives() -> None:
    assert cells(algo=["spo", "rls"], data={"gamma": [0, 1]}) == [
        ("algo=spo", "data.gamma=0"),
        ("algo=spo", "data.gamma=1"),
        ("algo=rls", "data.gamma=0"),
        ("algo=rls", "data.gamma=1"),
    ]
    assert cells(algo=[("spo", {"eta": [1, 2]}), "rls"]) == [
        ("algo=spo", "algo.eta=1"),
        ("algo=spo", "algo.eta=2"),
        ("algo=rls",),
    ]
    assert cells(data=[{"gamma": 0, "rho": 0.5}, {"gamma": 1}]) == [
        ("data.gamma=0", "data.rho=0.5"),
        ("data.gamma=1",),
    ]
    assert cells(data={"gamma": np.array([0.0, 0.5])}) == [("data.gamma=0.0",), ("data.gamma=0.5",)]
    assert cells(seeds=[3, 1], metrics={"notes": ("eta",)}) == [
        ("seeds=[3,1]", "metrics.notes=['eta']")
    ]


def test_of_a_key_given_twice_the_last_counts() -> None:
    axes = override_axes(["algo=spo,rls", "data.gamma=0,1"]) | keyword_axes({"algo": "ogd"}, True)
    assert [cell.overrides for cell in grid(axes)] == [
        ("algo=ogd", "data.gamma=0"),
        ("algo=ogd", "data.gamma=1"),
    ]


@pytest.mark.parametrize(
    ("word", "spelling"),
    [
        ("seeds=range(1000,1003)", "seeds=1000-1002"),
        ("seeds=7,9,10", "seeds=[7,9-10]"),
        ("seeds=0-9,20", "seeds=[0-9,20]"),
        ("seeds=[0-3],4", "seeds=[0-3,4]"),
    ],
)
def test_a_sweep_over_seeds_is_refused_with_the_right_spelling(word, spelling) -> None:
    with pytest.raises(UserError) as refused:
        override_axes([word])
    assert str(refused.value).startswith(f"{word}: ")
    assert str(refused.value).endswith(f"write {spelling}")
    assert list(override_axes([spelling])) == ["seeds"]


def test_values_tagged_zip_advance_together() -> None:
    words = [
        "data.items=tag(zip,choice(5,80))",
        "algo=spo,rls",
        "horizon.rounds=tag(zip,range(1,3))",
    ]
    assert [cell.overrides for cell in grid(override_axes(words))] == [
        ("data.items=5", "horizon.rounds=1", "algo=spo"),
        ("data.items=5", "horizon.rounds=1", "algo=rls"),
        ("data.items=80", "horizon.rounds=2", "algo=spo"),
        ("data.items=80", "horizon.rounds=2", "algo=rls"),
    ]
    pairs = [
        f"{key}=tag({tag},choice(1,2))"
        for key, tag in {"a": "zip_a", "b": "zip_b", "c": "zip_a"}.items()
    ]
    assert [cell.overrides for cell in grid(override_axes(pairs))] == [
        ("a=1", "c=1", "b=1"), ("a=1", "c=1", "b=2"), ("a=2", "c=2", "b=1"), ("a=2", "c=2", "b=2"),
    ]  # fmt: skip
    with pytest.raises(UserError, match="the other values tagged zip are 2, these are 3"):
        override_axes([words[0], "horizon.rounds=tag(zip,choice(1,2,3))"])
