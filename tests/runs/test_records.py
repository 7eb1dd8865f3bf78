"""Files that are exact, and whole or absent."""

import csv
import json
import os
import stat
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from odfl_cli.core.errors import UserError
from odfl_cli.core.files import atomic, make_writable, write_json
from odfl_cli.runs.records import write_seed


@given(values=hnp.arrays(float, (2, 5), elements=st.floats(allow_nan=False)))
def test_floats_come_back_exactly(tmp_path_factory, values):
    directory = tmp_path_factory.mktemp("run")
    t = np.broadcast_to(np.arange(1.0, 6.0), (2, 5))
    write_seed(directory, 12, {"t": t, "cost": values}, row=1)
    with open(directory / "seed-12.csv", newline="") as file:
        header, *lines = csv.reader(file)
    assert header == ["t", "cost"]
    assert [line[0] for line in lines] == ["1", "2", "3", "4", "5"]
    back = np.array([float(line[1]) for line in lines])
    assert back.tobytes() == values[1].tobytes()


def test_lines_end_in_one_newline(tmp_path):
    write_seed(tmp_path, 0, {"t": np.array([[1]]), "cost": np.array([[0.5]])}, row=0)
    assert (tmp_path / "seed-0.csv").read_bytes() == b"t,cost\n1,0.5\n"


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
@pytest.mark.parametrize("before", [None, "the old content"])
def test_an_interrupted_write_leaves_what_was_there(tmp_path, error, before):
    path = tmp_path / "some.csv"
    if before:
        path.write_text(before)

    def interrupt():
        with atomic(path) as file:
            file.write("half a li")
            file.flush()
            raise error

    with pytest.raises(error):
        interrupt()
    assert [file.read_text() for file in tmp_path.iterdir()] == ([before] if before else [])


def test_json_that_cannot_be_written_keeps_the_old_file(tmp_path):
    path = tmp_path / "summary.json"
    write_json(path, {"a": 1})
    with pytest.raises(TypeError):
        write_json(path, {"a": 2, "b": object()})
    assert json.loads(path.read_text()) == {"a": 1}
    assert list(tmp_path.iterdir()) == [path]


def test_the_name_appears_only_at_the_end(tmp_path):
    path = tmp_path / "new.csv"
    with atomic(path) as file:
        file.write("content")
        file.flush()
        assert not path.exists()
    assert path.read_text() == "content"


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o027, 0o640), (0o000, 0o666)])
def test_the_mode_honours_the_umask(tmp_path, mask, mode):
    before = os.umask(mask)
    try:
        write_json(tmp_path / "file.json", 1)
        assert os.umask(mask) == mask  # and it is left as it was
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file.json").stat().st_mode) == mode


def test_make_writable_makes_the_directory_and_nothing_in_it(tmp_path):
    make_writable(tmp_path / "a" / "b")
    assert list((tmp_path / "a" / "b").iterdir()) == []


def test_make_writable_names_the_place_it_cannot_use(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot write") as refused:
        make_writable(tmp_path / "file" / "runs")
    assert str(tmp_path / "file" / "runs") in str(refused.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_make_writable_refuses_a_read_only_directory(tmp_path: Path):
    tmp_path.chmod(0o500)
    with pytest.raises(UserError, match="cannot write"):
        make_writable(tmp_path)
