"""The index of a sweep as it is written, read back, and spoilt."""

import json
from pathlib import Path

import pytest

from odfl_cli.core.errors import UserError
from odfl_cli.results.runs import inspect
from odfl_cli.results.sweeps import IndexJob, append_job, read_index, write_index


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    directory = tmp_path / "sweeps" / "mine"
    directory.mkdir(parents=True)
    return directory


def job(sweep: Path, name: str, *seeds: int) -> IndexJob:
    return IndexJob([f"algo={name}"], sweep.parent.parent / "runs" / name, seeds or (0,))


def test_read_as_written(sweep):
    jobs = [job(sweep, "a", 0, 1), job(sweep, "b", 5)]
    write_index(sweep, jobs)
    assert read_index(sweep) == jobs


def test_directories_are_relative_so_that_outputs_can_be_moved(sweep):
    write_index(sweep, [job(sweep, "a")])
    (entry,) = json.loads((sweep / "index.json").read_text())["jobs"]
    assert entry["directory"] == "../../runs/a"


def test_jobs_are_appended_once(sweep):
    for name in ("a", "b", "a"):
        append_job(sweep, job(sweep, name))
    append_job(sweep, job(sweep, "a", 0, 1))
    assert read_index(sweep) == [job(sweep, "a"), job(sweep, "b"), job(sweep, "a", 0, 1)]


def test_an_index_without_seeds_means_all_of_them(sweep):
    (sweep / "index.json").write_text('{"jobs": [{"directory": "x"}]}')
    (only,) = read_index(sweep)
    assert (only.seeds, only.directory) == (None, sweep / "x")


@pytest.mark.parametrize(
    "content",
    [
        *("", "{", "[]", "7", "{}", '{"jobs": 3}', '{"jobs": [3]}', '{"jobs": [{}]}'),
        '{"jobs": [{"directory": 3}]}',
        '{"jobs": [{"directory": "x", "seeds": ["a"]}]}',
        '{"jobs": [{"directory": "x", "seeds": 4}]}',
        '{"jobs": [{"directory": "x", "overrides": [1]}]}',
        '{"jobs": {"a": {"directory": "x"}}}',
    ],
)
def test_nonsense_is_one_clear_line(sweep, content):
    (sweep / "index.json").write_text(content)
    with pytest.raises(UserError, match="does not list the jobs of a sweep") as refused:
        read_index(sweep)
    assert str(sweep / "index.json") in str(refused.value)
    assert "\n" not in str(refused.value)


def test_no_index_is_one_clear_line(sweep):
    with pytest.raises(UserError, match="there is no such file"):
        read_index(sweep)


def test_a_job_is_judged_by_its_directory(sweep):
    only = job(sweep, "a")
    only.directory.mkdir(parents=True)
    (only.directory / "failed.json").write_text('{"error": "broken"}')
    assert only.judge(inspect(only.directory)).state == "failed"
