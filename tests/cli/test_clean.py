"""`odfl clean`: removes what is asked for and nothing else."""

import fcntl
import os
import pty
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.commands import odfl
from support.finished_runs import change_summary, write_failed, write_finished, write_unfinished
from support.processes import ODFL, Start

from odfl_cli.cli.clean import STARTING, main, removals, remove
from odfl_cli.core.errors import UserError

DAY = 86400


@pytest.fixture
def outputs(tmp_path: Path) -> Path:
    """One run of every kind, and folders that are none."""
    write_finished(tmp_path / "new")
    write_finished(tmp_path / "old", age=40 * DAY, version="0.0.9")
    write_failed(tmp_path / "failed")
    write_unfinished(tmp_path / "unfinished")
    change_summary(write_finished(tmp_path / "newer", version="9.0"), format=99)
    os.utime(tmp_path / "newer" / "summary.json", (0, 0))
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "seed-1.csv").write_text("mine\n")
    return tmp_path


def left(outputs: Path) -> set[str]:
    return {path.name for path in outputs.iterdir()}


EVERYTHING = {"new", "old", "failed", "unfinished", "newer", "notes"}


@pytest.mark.parametrize(
    ("conditions", "gone"),
    [
        (["--failed"], {"failed"}),
        (["--unfinished"], {"unfinished"}),
        (["--failed", "--unfinished"], {"failed", "unfinished"}),
        (["--older-than", "30d"], {"old"}),
        (["--older-than", "7w"], set()),
        (["--failed", "--older-than", "30d"], set()),
        (["--version", "0.0.9"], {"old"}),
        (["--version", "9.0"], {"newer"}),
        (["--version", "0.1.0", "--failed"], {"failed"}),
        (["--version", "1"], set()),
    ],
    ids=lambda words: " ".join(sorted(words)),
)
def test_conditions(outputs: Path, conditions: list[str], gone: set[str]) -> None:
    assert main([str(outputs), *conditions, "--yes"]) == 0
    assert left(outputs) == EVERYTHING - gone


def test_a_file_that_only_begins_like_a_seeds_stays(tmp_path: Path) -> None:
    run = write_finished(tmp_path / "run", age=40 * DAY)
    (run / "seed-notes.csv").write_text("mine\n")
    assert main([str(tmp_path), "--older-than", "30d", "--yes"]) == 0
    assert left(run) == {"seed-notes.csv"}


def test_a_running_one_is_never_touched(outputs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = outputs / "failed"
    with (run / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for condition in (["--older-than", "0s"], ["--version", "0.1.0"], ["--failed"]):
            assert main([str(run), *condition, "--yes"]) == 0
            assert capsys.readouterr().out == "nothing to remove\n"
    assert (run / "failed.json").exists()


def test_one_that_moved_on_since_it_was_listed_stays(outputs: Path) -> None:
    (started,) = removals([outputs / "failed"])
    with (outputs / "failed" / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert not remove(started)
    (mended,) = removals([outputs / "failed"])
    (outputs / "failed" / "failed.json").unlink()
    assert not remove(mended)
    assert (outputs / "failed" / "run.log").exists()


def test_other_peoples_files_stay(outputs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (outputs / "failed" / "thesis.tex").write_text("years of work")
    (outputs / "failed" / "chapter").mkdir()
    assert main([str(outputs), "--failed", "--yes"]) == 0
    assert left(outputs / "failed") == {"thesis.tex", "chapter"}
    assert "kept" in capsys.readouterr().err


def test_a_link_is_not_followed(outputs: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = write_failed(tmp_path_factory.mktemp("elsewhere") / "run")
    (outputs / "link").symlink_to(elsewhere.parent)
    assert main([str(outputs), "--failed", "--yes"]) == 0
    assert (elsewhere / "failed.json").exists()


def test_nothing_without_a_condition(outputs: Path) -> None:
    with pytest.raises(UserError, match="say which runs"):
        main([str(outputs), "--yes"])
    assert left(outputs) == EVERYTHING


@pytest.mark.parametrize("span", ["30", "d", "-1d", "1y", "1.5d"])
def test_an_age_that_is_none(outputs: Path, span: str) -> None:
    with pytest.raises(UserError, match="--older-than"):
        main([str(outputs), f"--older-than={span}"])


def test_not_a_terminal_and_not_asked_for(outputs: Path) -> None:
    done = odfl("clean", "--failed", ".", cwd=outputs)
    assert done.returncode == 2
    assert "failed" in done.stdout
    assert len(done.stderr.splitlines()) == 1
    assert "add --yes" in done.stderr
    assert left(outputs) == EVERYTHING


@pytest.mark.parametrize(("answer", "gone"), [("y", {"failed"}), ("n", set()), ("", set())])
def test_asks_on_a_terminal(outputs: Path, answer: str, gone: set[str], start: Start) -> None:
    ours, theirs = pty.openpty()
    process = start(*ODFL, "clean", "--failed", ".", cwd=outputs, stdin=theirs)
    os.write(ours, f"{answer}\n".encode())
    shown, _ = process.communicate(timeout=60)
    os.close(ours)
    os.close(theirs)
    assert process.returncode == 0
    assert "Remove 1 run, " in shown
    assert left(outputs) == EVERYTHING - gone


def test_a_run_that_is_just_starting_is_left(tmp_path: Path) -> None:
    """Hydra writes the configuration before the lock is taken; here nobody has taken it since."""
    run = write_unfinished(tmp_path / "starting")
    begun = (run / ".hydra" / "config.yaml").stat().st_mtime
    os.utime(run / ".lock", (begun - 1, begun - 1))  # of an earlier attempt
    (removal,) = removals([tmp_path])
    assert not remove(removal)
    (run / ".lock").unlink()
    assert not remove(removal)
    assert (run / ".hydra" / "hydra.yaml").exists()
    for name in ("config.yaml", "hydra.yaml"):
        os.utime(run / ".hydra" / name, (begun - 2 * STARTING, begun - 2 * STARTING))
    assert remove(removal)
    assert not run.exists()


def test_a_run_that_starts_while_clean_takes_the_lock_is_left(tmp_path, monkeypatch) -> None:
    run = write_unfinished(tmp_path / "starting")
    (removal,) = removals([tmp_path])

    @contextmanager
    def after_the_start(directory: Path) -> Iterator[None]:
        (run / ".hydra" / "config.yaml").write_text("data: {items: 6}\n")
        yield

    monkeypatch.setattr("odfl_cli.cli.clean.locked", after_the_start)
    assert not remove(removal)
    assert (run / ".hydra" / "hydra.yaml").exists()
