"""A directory counts as finished only if every file of it is what was written."""

import json
import math
import os
from pathlib import Path

import numpy as np
import pytest

from odfl_cli import __version__
from odfl_cli.core.files import write_json
from odfl_cli.core.locks import locked
from odfl_cli.results.runs import inspect
from odfl_cli.results.summary import FORMAT
from odfl_cli.runs.records import write_seed

SEEDS = [0, 3]


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    table = {"t": np.array([[1.0, 2.0]] * 2), "cost": np.array([[0.5, 0.25], [1.5, 0.125]])}
    files = {f"seed-{s}.csv": write_seed(tmp_path, s, table, row) for row, s in enumerate(SEEDS)}
    content = {
        "format": FORMAT,
        "choices": {"algo": "df_ogd"},
        "config": {},
        "seeds": SEEDS,
        "rounds": 2,
        "final": {"cost": {"per_seed": [0.25, 0.125]}},
        "files": files,
    }
    write_json(tmp_path / "summary.json", content)
    return tmp_path


def edit(directory: Path, **changes: object) -> None:
    path = directory / "summary.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_finished(finished):
    state = inspect(finished)
    assert (state.state, state.seeds, state.reason) == ("finished", (0, 3), None)
    assert state.version == __version__
    assert state.covers((3,))
    assert not state.covers((3, 4))


def test_nothing_there_is_unfinished(tmp_path):
    assert inspect(tmp_path).state == "unfinished"
    assert inspect(tmp_path / "nowhere").state == "unfinished"


def truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 1)


def flip(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[:-2] + b"9" + content[-1:])


@pytest.mark.parametrize("damage", [Path.unlink, truncate, flip])
def test_a_damaged_csv_is_named_and_its_seed_alone_is_lost(finished, damage):
    damage(finished / "seed-3.csv")
    state = inspect(finished)
    assert state.state == "damaged"
    assert "seed-3.csv" in str(state.reason)
    assert (state.listed, state.seeds) == ((0, 3), (0,))
    assert state.covers((0,))
    assert not state.covers((0, 3))


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '"text"', "{}", '{"seeds": [0, 3]}'])
def test_a_summary_that_is_none_is_damaged(finished, content):
    (finished / "summary.json").write_text(content)
    state = inspect(finished)
    assert (state.state, state.seeds) == ("damaged", ())
    assert "\n" not in str(state.reason)


@pytest.mark.parametrize(
    "changes",
    [
        *({"seeds": wrong} for wrong in ("0", [], [0, "3"], [0, 0])),
        {"rounds": 0},
        {"choices": {"data": "sin4"}},
        {"choices": {"algo": ["df_ogd"]}},
        {"files": None},
        {"files": {"seed-0.csv": 7}},
        *(
            {"final": {"cost": {"per_seed": wrong}}}
            for wrong in ("0.25", [0.25], [0.25, None], [0.25, math.nan])
        ),
        *({name: None} for name in ("final", "config", "versions")),
        {"command": "rm"},
    ],
)
def test_a_summary_edited_by_hand_is_damaged(finished, changes):
    edit(finished, **changes)
    assert inspect(finished).state == "damaged"


def test_a_seed_added_by_hand_is_not_believed(finished):
    edit(finished, seeds=[0, 3, 4])
    assert inspect(finished).state == "damaged"
    edit(finished, final={"cost": {"per_seed": [0.25, 0.125, 0.5]}})
    state = inspect(finished)
    assert (state.state, state.seeds) == ("damaged", (0, 3))
    assert "seed-4.csv" in str(state.reason)


def test_a_newer_format_is_told_apart(finished):
    edit(finished, format=FORMAT + 1)
    state = inspect(finished)
    assert state.state == "newer"
    assert str(FORMAT + 1) in str(state.reason)
    assert not state.covers((0,))


def test_a_failure_is_shown_and_keeps_the_seeds_there_are(finished):
    write_json(finished / "failed.json", {"error": "it broke", "versions": {"odfl": "0.0"}})
    state = inspect(finished)
    assert (state.state, state.error, state.seeds) == ("failed", "it broke", (0, 3))
    (finished / "summary.json").unlink()
    assert inspect(finished).version == "0.0"


def test_a_garbled_failure_is_a_failure(tmp_path):
    (tmp_path / "failed.json").write_text("{")
    assert inspect(tmp_path).state == "failed"


def test_running_while_the_lock_is_held(finished):
    with locked(finished):
        state = inspect(finished)
        assert state.state == "running"
        assert str(os.getpid()) in str(state.reason)
    assert inspect(finished).state == "finished"


def test_versions_of_seeds_added_later_are_all_told(finished):
    files = json.loads((finished / "summary.json").read_text())["files"]
    files["seed-3.csv"]["odfl"] = "99.0"
    edit(finished, files=files)
    assert inspect(finished).versions == (__version__, "99.0")
