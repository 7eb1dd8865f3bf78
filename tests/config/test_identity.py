"""A run's name says what it computes."""

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from omegaconf import DictConfig, OmegaConf
from support.problems import choices, composed
from support.samples import some_of

from odfl_cli.config.bookkeeping import BOOKKEEPING
from odfl_cli.config.identity import (
    NOT_IN_THE_NAME,
    digest,
    identity,
    resolve,
    run_name,
    sweep_name,
)
from odfl_cli.config.sources import sources


def name(*overrides: str) -> str:
    return run_name(_root_=composed(*overrides, hydra=True))


def leaves(node: DictConfig, prefix: str = ""):
    for key in node:
        if isinstance(node[key], DictConfig):
            yield from leaves(node[key], f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}"


KEYS = [
    key
    for key in leaves(composed())
    if key.split(".")[0] not in BOOKKEEPING and key not in NOT_IN_THE_NAME
]


def test_the_keys_of_the_configuration_are_all_looked_at():
    assert {"theta_radius", "data.gamma", "algo.c_eta", "oracle.lr", "engine.device"} <= set(KEYS)
    assert not {"outputs", "sweep", "force", "retry", "objective"} & set(KEYS)


@pytest.mark.parametrize("key", KEYS)
def test_any_changed_value_is_another_name(key):
    config = composed(hydra=True)
    changed = config.copy()
    OmegaConf.set_readonly(changed, False)
    OmegaConf.update(changed, key, 0.123456)
    assert run_name(_root_=changed) != run_name(_root_=config)


@pytest.mark.parametrize("algo", some_of(choices("algo"), 6))
def test_begins_with_the_algorithm(algo):
    start, hashed = name(f"algo={algo}").rsplit("-", 1)
    assert start == algo
    assert int(hashed, 16) >= 0
    assert len(hashed) == 12


def test_the_same_configuration_however_it_was_typed():
    assert name("data.gamma=0.5", "seeds=[1,2]") == name("seeds=[1,2]", "data.gamma=0.5")
    assert name("algo=df_ogd", "theta_radius=1.0") == name()
    assert name("data.items=7") == name("data.items=7", "polytope.dimension=7")


@pytest.mark.parametrize("seeds", ["seeds=3", "seeds=[7,8]"])
def test_what_changes_no_number_does_not_matter(seeds):
    overrides = [
        "outputs=elsewhere",
        "sweep=mine",
        "hydra.job.name=other",
        "hydra.job.chdir=true",
        "hydra.run.dir=somewhere",
        "hydra.verbose=true",
        "force=true",
        "retry=failed",
        "objective=mse",
        "engine.threads=1",
    ]
    assert name(*overrides, seeds) == name()


def test_a_file_counts_by_its_content_and_not_by_its_place(tmp_path):
    first, second = tmp_path / "a.yaml", tmp_path / "b.yaml"
    first.write_text("A: [[1, 1]]")
    second.write_text("A: [[1, 1]]")
    node = {"polytope": {"file": str(first)}}
    before = identity(node)
    assert identity({"polytope": {"file": str(second)}}) == before
    assert identity({"polytope": {"files": {"x": str(first)}}}) != before
    first.write_text("A: [[1, 2]]")
    assert identity(node) != before
    assert identity({"polytope": {"title": str(first)}}) != identity(
        {"polytope": {"title": str(second)}}
    )
    several = {"data": {"files": [str(first), str(second)]}}
    before = identity(several)
    second.write_text("A: [[1, 3]]")
    assert identity(several) != before


def test_the_source_of_a_users_own_class_is_known_but_names_nothing(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "an_algorithm_of_mine.py").write_text("rate = 1")
    node = {"algo": {"_target_": "an_algorithm_of_mine.Mine"}, "data": {"_target_": "odfl_cli.X"}}
    name, before = identity(node), sources(node)
    assert list(before) == ["an_algorithm_of_mine"]
    (tmp_path / "an_algorithm_of_mine.py").write_text("rate = 22")
    assert sources(node) != before
    assert identity(node) == name
    assert sources({"algo": {"_target_": "nowhere_to_be_found.Mine"}}) == {}


def test_imports_of_the_users_own_modules_are_followed(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    package = tmp_path / "some_package_of_mine"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "parts.py").write_text("import numpy\nfrom . import near\nfrom .. import far\n")
    (package / "near.py").write_text("def f():\n    from some_package_of_mine.deep import x\n")
    (package / "deep.py").write_text("from some_package_of_mine import parts  # a circle")
    found = sources([{"_target_": "some_package_of_mine.parts.Mine"}])
    names = ("parts", "near", "deep")
    assert set(found) == {"some_package_of_mine", *(f"some_package_of_mine.{n}" for n in names)}


def test_a_file_that_a_function_builds_is_known_by_its_content(tmp_path, monkeypatch):
    file = tmp_path / "rounds.csv"
    monkeypatch.setenv("ROUNDS", str(file))
    node = {"data": {"file": {"_target_": "os.getenv", "_args_": ["ROUNDS"]}}}
    found = []
    for content in ("1,2", "1,33", "1,2"):
        file.write_text(content)
        found.append(sources(node)["os.getenv"])
    assert found[0] == found[2] != found[1]


def test_an_experiment_names_nothing_that_its_values_do_not():
    by_hand = ("horizon=paper", "seeds=10", "data.items=80", "metrics=regret")
    assert name("experiment=high_dimension", "algo=pf_ogd") == name("algo=pf_ogd", *by_hand)


def test_another_process_finds_the_same_digest():
    value = {"b": [1, 2.5, None], "a": {"y": "é", "x": True}}
    printed = subprocess.run(
        [
            sys.executable,
            "-c",
            f"from odfl_cli.config.identity import digest; print(digest({value!r}))",
        ],
        env={**os.environ, "PYTHONHASHSEED": "77", "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    assert printed == digest(value)


values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(alphabet="ab", max_size=2),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(alphabet="ab", max_size=2), inner, max_size=3)
    ),
    max_leaves=5,
)


@given(a=values, b=values)
def test_equal_digests_mean_equal_values(a, b):
    # repr tells True from 1 and False from 0, which == does not
    same = repr(_sort(a)) == repr(_sort(b))
    assert (digest(a) == digest(b)) == same


def _sort(value):
    if isinstance(value, dict):
        return {key: _sort(value[key]) for key in sorted(value)}
    return [_sort(item) for item in value] if isinstance(value, list) else value


def test_the_order_of_keys_does_not_matter():
    assert digest({"a": 1, "b": {"c": 2, "d": 3}}) == digest({"b": {"d": 3, "c": 2}, "a": 1})
    assert digest([1, 2]) != digest([2, 1])


def test_resolved_is_plain_and_without_bookkeeping():
    plain = resolve(composed("data.items=9", "seeds=[4,5]", hydra=True))
    assert not set(BOOKKEEPING) & set(plain)
    assert plain["polytope"]["dimension"] == 9
    assert plain["seeds"] == [4, 5]
    assert type(plain["data"]) is dict
    assert type(plain["seeds"]) is list


def sweep(*overrides: str) -> str:
    return sweep_name(_root_=composed(*overrides, hydra=True))


def test_a_sweep_is_named_by_its_experiment_and_overrides():
    assert sweep("data.gamma=0.5").startswith("sweep-")
    assert sweep("experiment=main").startswith("main-")
    assert sweep("data.gamma=0.5") == sweep("data.gamma=0.5")
    assert sweep("data.gamma=0.5") != sweep("data.gamma=0.25")


def test_another_attempt_at_a_sweep_has_its_name():
    assert sweep("data.gamma=0.5", "force=true") == sweep("data.gamma=0.5")
    assert sweep("data.gamma=0.5", "retry=failed") == sweep("data.gamma=0.5")
    assert sweep("data.gamma=0.5", "objective=mse") != sweep("data.gamma=0.5")


def test_where_a_class_of_the_package_lies_does_not_count():
    def name_target(target: str) -> str:
        return identity({"algo": {"_target_": target, "base": [{"_target_": target}]}})

    assert name_target("odfl_cli.algorithms.DFOGD") == name_target(
        "odfl_cli.algorithms.df_ogd.DFOGD"
    )
    assert name_target("odfl_cli.algorithms.DFOGD") != name_target("odfl_cli.algorithms.PFOGD")
    assert (
        len({name_target(target) for target in ("mine.DFOGD", "other.DFOGD", "odfl_cli.DFOGD")})
        == 3
    )


def test_keys_that_df_ogd_did_not_read_are_gone_and_its_name_is_the_same():
    node = {"_target_": "odfl_cli.DFOGD", "belief": {"faces": 2.0}}
    before = node | {"belief": {"horizon": 1, "parameters": 1.0, "faces": 2}}
    assert identity({"algo": node}) == identity({"algo": before})
    assert identity({"settings": {"df_ogd": node}}) == identity({"settings": {"df_ogd": before}})
    before["belief"]["horizon"] = 2.0
    assert identity({"algo": node}) != identity({"algo": before})
