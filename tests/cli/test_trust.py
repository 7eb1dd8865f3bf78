"""Nothing that odfl did not write is changed or removed, whatever lies in an outputs folder."""

import logging
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from support.commands import complaints, odfl
from support.finished_runs import HYDRA_YAML, content, write_failed, write_finished

from odfl_cli.config.compose import compose_job
from odfl_cli.core.errors import UserError
from odfl_cli.core.files import check_writable_in_place, read_regular
from odfl_cli.core.locks import LOCK, holder, is_locked, locked
from odfl_cli.results.ownership import check_place, check_sweep_place, remove_leftovers
from odfl_cli.runs.callbacks import LogFile
from odfl_cli.runs.prepare import prepare
from odfl_cli.runs.sweep.progress import remove_old_journals

SMOKE = ["horizon=smoke", "seeds=1", "engine=array"]


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    """A tree beside the outputs folder: other people's files and a run of odfl."""
    tree = tmp_path / "canary"
    tree.mkdir()
    for name in ("precious", "config.yaml", "hydra.yaml", "overrides.yaml", "run.log"):
        (tree / name).write_text(f"{name}: years of work\n")
    write_failed(tree / "victim")
    return tree


@pytest.fixture
def outputs(tmp_path: Path) -> Path:
    folder = tmp_path / "outputs"
    folder.mkdir()
    return folder


# Locks


@pytest.mark.parametrize("link", [os.symlink, os.link], ids=["symlink", "hard link"])
def test_a_lock_that_is_a_link_is_refused(outputs: Path, canary: Path, link: Callable) -> None:
    before = content(canary)
    link(canary / "precious", outputs / LOCK)
    with pytest.raises(UserError, match="is a link"), locked(outputs):
        pass
    assert not is_locked(outputs)
    assert content(canary) == before


def test_a_link_to_nowhere_makes_no_file(outputs: Path, tmp_path: Path) -> None:
    (outputs / LOCK).symlink_to(tmp_path / "new")
    with pytest.raises(UserError, match="is a link"), locked(outputs):
        pass
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("text", ["mine\n", "odfl\n", "host pid\n", "a 1\nb 2\n", "x" * 9999])
def test_a_lock_of_others_is_left_as_it_is(outputs: Path, text: str) -> None:
    (outputs / LOCK).write_text(text)
    with pytest.raises(UserError), locked(outputs):
        pass
    assert (outputs / LOCK).read_text() == text
    assert holder(outputs) is None


@pytest.mark.parametrize("text", ["", "host.domain 123\n", "odfl lock: host.domain 123\n"])
def test_a_lock_of_this_or_an_earlier_version_is_taken(outputs: Path, text: str) -> None:
    (outputs / LOCK).write_text(text)
    with locked(outputs):
        assert holder(outputs).split()[1] == str(os.getpid())
    assert (outputs / LOCK).read_text().startswith("odfl lock: ")


def test_a_fifo_or_a_directory_for_a_lock_is_refused_at_once(outputs: Path) -> None:
    for make in (os.mkfifo, os.mkdir):
        place = outputs / make.__name__
        place.mkdir()
        make(place / LOCK)
        assert not is_locked(place)
        assert holder(place) is None
        with pytest.raises(UserError, match="regular file"), locked(place):
            pass


# Leftovers of killed processes


def test_leftovers_are_those_of_odfl_alone(outputs: Path) -> None:
    run = write_finished(outputs / "run")
    before = content(run)
    mine = [".movie.part", ".odfl-00112233-results.csv.part", "seed-77.csv"]
    for name in (*mine, ".odfl-00112233-seed-9.csv.part"):
        (run / name).write_text("text\n")
    remove_leftovers(run)
    assert content(run).keys() == before.keys() | set(mine)
    assert before.items() <= content(run).items()


def test_journals_of_others_stay(outputs: Path) -> None:
    for name in (".journal-mine.jsonl", ".journal-001122334455.jsonl"):
        (outputs / name).write_text("text\n")
        os.utime(outputs / name, (0, 0))
    remove_old_journals(outputs)
    assert [path.name for path in outputs.iterdir()] == [".journal-mine.jsonl"]


# Where a run may write


def test_a_log_with_two_names_is_refused(outputs: Path, canary: Path) -> None:
    os.link(canary / "run.log", outputs / "run.log")
    with pytest.raises(UserError, match="is a link"):
        check_place(outputs)


def test_a_run_directory_that_is_a_link_is_refused(outputs: Path, canary: Path) -> None:
    (outputs / "run").symlink_to(canary / "victim")
    with pytest.raises(UserError, match="is a link"):
        check_place(outputs / "run")


@pytest.mark.parametrize(
    "name", ["run.log", "summary.json", "failed.json", "seed-3.csv", ".hydra/config.yaml"]
)
def test_a_directory_with_files_of_others_is_refused(outputs: Path, name: str) -> None:
    (outputs / name).parent.mkdir(exist_ok=True)
    (outputs / name).write_text("mine: 1\n")
    with pytest.raises(UserError, match=r"odfl did not write it; choose another directory"):
        check_place(outputs, seeds=[3])


def test_a_place_where_a_run_may_write(outputs: Path) -> None:
    (outputs / "thesis.tex").write_text("mine\n")
    (outputs / "seed-77.csv").write_text("mine\n")
    (outputs / "run.log").touch()  # killed before the first line
    check_place(outputs, seeds=[3])
    check_place(outputs / "not there yet")
    check_place(write_failed(outputs / "failed"))
    check_place(write_finished(outputs / "finished"), seeds=[0, 1])
    (outputs / "multirun.yaml").write_text(HYDRA_YAML)
    check_sweep_place(outputs / "main", outputs / "multirun.yaml")


def test_a_sweep_is_refused_where_it_would_change_files_of_others(
    outputs: Path, canary: Path
) -> None:
    (canary / "multirun.yaml").write_text("mine: 1\n")
    with pytest.raises(UserError, match="odfl did not write it"):
        check_sweep_place(outputs / "main", canary / "multirun.yaml")
    (outputs / "multirun.yaml").symlink_to(canary / "precious")
    with pytest.raises(UserError, match="is a link"):
        check_sweep_place(outputs / "main", outputs / "multirun.yaml")
    (outputs / "main").symlink_to(canary)
    with pytest.raises(UserError, match="is a link"):
        check_sweep_place(outputs / "main")


def test_the_log_is_not_written_through_a_link(outputs: Path, canary: Path, capsys) -> None:
    (outputs / "run.log").symlink_to(canary / "run.log")
    with pytest.raises(SystemExit) as stopped:
        LogFile(str(outputs / "run.log"))
    assert stopped.value.code == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_log_on_a_full_disk_prints_no_traceback(outputs: Path, capsys, monkeypatch) -> None:
    log = LogFile(str(outputs / "run.log"))
    with monkeypatch.context() as patch:
        patch.setattr(log, "flush", lambda: Path("/dev/full").write_text("x"))
        log.handle(logging.makeLogRecord({"msg": "computing"}))
    log.close()
    assert capsys.readouterr().err == ""


def test_reading_is_bounded(outputs: Path, canary: Path) -> None:
    (outputs / "file").write_bytes(b"x" * 10)
    assert read_regular(outputs / "file", 10) == b"x" * 10
    with pytest.raises(UserError, match="more than 9 bytes"):
        read_regular(outputs / "file", 9)
    (outputs / "link").symlink_to(canary / "precious")
    os.mkfifo(outputs / "fifo")
    for name in ("link", "fifo", "."):
        with pytest.raises(UserError, match="regular file"):
            read_regular(outputs / name)
    with pytest.raises(UserError, match="is a link"):
        check_writable_in_place(outputs / "fifo")


# The command itself


@pytest.mark.parametrize(
    "name", ["run.log", ".lock", ".hydra", ".hydra/config.yaml", ".hydra/overrides.yaml"]
)
def test_a_run_writes_nothing_through_a_link(tmp_path: Path, canary: Path, name: str) -> None:
    run = tmp_path / "run"
    (run / name).parent.mkdir(parents=True)
    (run / name).symlink_to(canary if name == ".hydra" else canary / "precious")
    before = content(tmp_path)
    done = odfl("run", *SMOKE, "hydra.run.dir=run", cwd=tmp_path)
    assert done.returncode == 2
    assert len(complaints(done)) == 1
    assert content(tmp_path) == before


def test_a_sweep_writes_nothing_through_a_link(tmp_path: Path, canary: Path) -> None:
    (tmp_path / "outputs" / "sweeps" / "mine").mkdir(parents=True)
    (tmp_path / "outputs" / "sweeps" / "mine" / ".lock").symlink_to(canary / "precious")
    before = content(tmp_path)
    done = odfl("run", "-m", *SMOKE, "data.gamma=0,1", "sweep=mine", cwd=tmp_path)
    assert done.returncode == 2
    assert len(complaints(done)) == 1
    assert content(tmp_path) == before


def test_a_run_among_the_users_own_files(tmp_path: Path) -> None:
    for name in ("thesis.tex", ".movie.part", "seed-77.csv", "multirun.yaml"):
        (tmp_path / name).write_text("years")
    before = content(tmp_path)
    done = odfl("run", *SMOKE, "hydra.run.dir=.", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "seed-0.csv").exists()
    after = content(tmp_path)
    assert {path: after[path] for path in before} == before


def test_a_directory_in_the_place_of_an_index_is_refused(tmp_path: Path) -> None:
    index = tmp_path / "outputs" / "sweeps" / "mine" / "index.json"
    index.mkdir(parents=True)
    words = ("horizon.rounds=2", "seeds=1", "data.items=3", "algo=uniform,always", "sweep=mine")
    done = odfl("run", "-m", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert "sweeps/mine/index.json: it is a directory; choose another name with" in done.stderr
    assert sorted(tmp_path.rglob("*")) == [*reversed(index.parents[:3]), index]


@pytest.mark.thorough
def test_costs_that_make_zero_the_best_decision_are_told_before_a_run(tmp_path: Path) -> None:
    def say(*words: str) -> list[str]:
        config = compose_job([*words, "seeds=1", "horizon=smoke"])
        lines = prepare(config, config.hydra, tmp_path / "run").tuned
        return [line for line in lines if line.startswith("data: no cost is negative")]

    (line,) = say("polytope=knapsack")
    assert line.endswith("data=polynomial data.maximise=true")
    assert say("polytope=knapsack", "data=polynomial", "data.maximise=true") == []
    assert say("polytope=ball") == say("polytope=budget") == say("polytope=simplex") == []


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("oracle=multistart seeds=2", "5.0e+08 gradient steps, which take at least 25 m"),
        ("oracle=adam", "5.0e+07 gradient steps, which take at least 25 m"),
        ("algo=pf_ogd", None),  # it calls no oracle
        ("", None),  # compiled
    ],
)
def test_a_huge_oracle_says_so_before_it_starts(
    tmp_path: Path, words: str, told: str | None
) -> None:
    """50 rounds; a step on arrays takes 30 µs at least."""
    config = compose_job(["seeds=1", "horizon=smoke", *words.split(), "oracle.steps=1000000"])
    lines = prepare(config, config.hydra, tmp_path / "run").tuned
    assert lines == ([f"oracle: up to {told}; oracle.steps and every set them"] if told else [])
