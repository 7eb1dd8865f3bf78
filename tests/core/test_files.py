"""Files appear whole or not at all, and what killed writers left is removed."""

import errno
import os
from pathlib import Path

import pytest

from odfl_cli.core.errors import UserError
from odfl_cli.core.files import atomic, explain_write_errors, make_writable, write_json


@pytest.mark.parametrize("durable", [True, False])
def test_a_full_disk_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch, durable: bool) -> None:
    """The disk is full when the content is written out: at the end, or on the way."""
    index = tmp_path / "index.json"
    write_json(index, {"jobs": []})

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync" if durable else "replace", full)
    with pytest.raises(OSError, match="No space left"):
        write_json(index, {"jobs": ["x"] * 10_000}, durable=durable)
    assert index.read_text() == '{\n  "jobs": []\n}\n'
    assert list(tmp_path.iterdir()) == [index]


def test_the_next_writer_removes_what_a_killed_one_left(tmp_path: Path) -> None:
    target, killed = tmp_path / "rounds.csv", tmp_path / ".odfl-00112233-rounds.csv.part"
    others = [tmp_path / ".odfl-00112233-other.csv.part", tmp_path / ".odfl-mine-rounds.csv.part"]
    for path in (killed, *others):
        path.write_text("half")
    with explain_write_errors(target), atomic(target) as file:
        assert not killed.exists()
        file.write("whole")
        with explain_write_errors(target), atomic(target) as another:  # the first is still writing
            another.write("also whole")
    assert target.read_text() == "whole"
    assert sorted(tmp_path.iterdir()) == sorted([target, *others])


def test_a_folder_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    target = tmp_path / "nowhere" / "rounds.csv"
    refused = pytest.raises(UserError, match="cannot write there")
    with refused, explain_write_errors(target), atomic(target):
        pass


def test_a_name_that_is_too_long_leaves_no_folders(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="File name too long"):
        make_writable(tmp_path / "outputs" / "sweeps" / ("x" * 300))
    assert list(tmp_path.iterdir()) == []


def test_directories_are_all_made_or_none(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file where a directory is needed")
    with pytest.raises(UserError, match="runs: cannot write there"):
        make_writable(tmp_path / "sweeps" / "mine", tmp_path / "runs")
    assert list(tmp_path.iterdir()) == [tmp_path / "runs"]
