"""One holder at a time; a dead one holds nothing."""

import os
import shutil
import signal
import sys
from pathlib import Path

import pytest
from support.processes import Start

from odfl_cli.core import locks
from odfl_cli.core.locks import holder, is_locked, locked

HOLD = """
import sys, time
from pathlib import Path
from odfl_cli.core.locks import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""
COUNT = """
import sys
from pathlib import Path
from odfl_cli.core.locks import locked
directory = Path(sys.argv[1])
for _ in range(50):
    with locked(directory):
        counter = directory / "counter"
        counter.write_text(str(int(counter.read_text()) + 1))
"""


@pytest.fixture
def elsewhere(tmp_path: Path, start: Start):
    """Another process that holds the lock of tmp_path."""
    process = start(sys.executable, "-c", HOLD, str(tmp_path))
    assert process.stdout.readline() == "held\n"
    return process


def test_held_by_another_process_until_it_is_killed(tmp_path, elsewhere):
    assert is_locked(tmp_path)
    assert holder(tmp_path).split()[1] == str(elsewhere.pid)
    elsewhere.send_signal(signal.SIGKILL)
    elsewhere.wait()
    assert not is_locked(tmp_path)
    with locked(tmp_path):
        assert holder(tmp_path).split()[1] == str(os.getpid())


def test_a_wait_is_told_once_and_ends_with_the_holder(tmp_path, elsewhere, monkeypatch):
    monkeypatch.setattr(locks, "PATIENCE", 0.0)
    told: list[str] = []

    def tell(who: str) -> None:
        told.append(who)
        elsewhere.kill()

    with locked(tmp_path, tell):
        assert is_locked(tmp_path)
    assert [who.split()[1] for who in told] == [str(elsewhere.pid)]


def test_no_update_is_lost_among_processes(tmp_path, start):
    (tmp_path / "counter").write_text("0")
    processes = [start(sys.executable, "-c", COUNT, str(tmp_path)) for _ in range(4)]
    assert [process.wait(120) for process in processes] == [0] * 4
    assert (tmp_path / "counter").read_text() == "200"


def test_released_when_the_work_fails(tmp_path):
    def broken() -> None:
        with locked(tmp_path):
            raise RuntimeError

    with pytest.raises(RuntimeError):
        broken()
    assert not is_locked(tmp_path)


def test_a_lock_on_a_removed_directory_is_not_taken_for_the_new_one(tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    with locked(run):
        shutil.rmtree(run)
        run.mkdir()
        assert not is_locked(run)
        with locked(run):  # the new directory's, free though the old one's is held
            assert is_locked(run)


def test_who_only_looks_does_not_disturb(tmp_path):
    with locked(tmp_path):
        pass
    before = (tmp_path / ".lock").read_bytes()
    assert not is_locked(tmp_path)
    assert not is_locked(tmp_path / "nowhere")
    assert (tmp_path / ".lock").read_bytes() == before


def test_an_unreadable_holder_is_another_process(tmp_path):
    assert holder(tmp_path) is None
    (tmp_path / ".lock").write_bytes(b"\xff\xfe")
    assert holder(tmp_path) is None


def test_a_file_that_vanished_between_opening_and_locking_is_not_held(tmp_path, monkeypatch):
    run, flock = tmp_path / "run", locks.fcntl.flock
    run.mkdir()

    def remove_meanwhile(handle: int, operation: int) -> None:
        monkeypatch.setattr(locks.fcntl, "flock", flock)
        shutil.rmtree(run)
        run.mkdir()
        flock(handle, operation)

    monkeypatch.setattr(locks.fcntl, "flock", remove_meanwhile)
    with locked(run):
        assert is_locked(run)
