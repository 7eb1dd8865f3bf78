"""Sweeps that are interrupted, killed, or not alone: nothing is left behind and nothing is lost."""

import json
import os
import signal
import time
from importlib.util import find_spec
from pathlib import Path

import pytest
from support.processes import LIMIT, ODFL, Process, Start

LAUNCHERS = {"odfl": (), "joblib": ("hydra/launcher=joblib", "hydra.launcher.n_jobs=2")}
LONG = ("run", "-m", "algo=pf_ogd", "engine=array", "horizon.rounds=200000", "seeds=2")


def descendants(pid: int) -> list[int]:
    """The living processes that `pid` started, and those that they started."""
    parents = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = status.read_text().rpartition(")")[2].split()[:2]
        except OSError:  # it has ended
            continue
        if state != "Z":
            parents[int(status.parent.name)] = int(parent)
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return sorted(found - {pid})


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def at_work(place: Path, start: Start, launcher: str) -> tuple[Process, list[int]]:
    """A sweep of which two jobs compute, and the processes in which they do."""
    if launcher == "joblib" and find_spec("hydra_plugins.hydra_joblib_launcher") is None:
        pytest.skip("needs the extra parallel")
    sweep = start(*ODFL, *LONG, "data.gamma=0,0.5,1", *LAUNCHERS[launcher], cwd=place)
    while sum("computing" in log.read_text() for log in place.rglob("run.log")) < 2:
        assert sweep.poll() is None, sweep.communicate()
        time.sleep(0.1)
    workers = descendants(sweep.pid)
    assert len(workers) >= 2
    return sweep, workers


def wait_for_end(workers: list[int]) -> None:
    due = time.monotonic() + LIMIT
    while any(map(is_alive, workers)):
        assert time.monotonic() < due, f"still there: {workers}"
        time.sleep(0.1)


@pytest.mark.slow
@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_ctrl_c_is_one_line_and_ends_all(tmp_path: Path, start: Start, launcher: str) -> None:
    sweep, workers = at_work(tmp_path, start, launcher)
    os.killpg(sweep.pid, signal.SIGINT)
    _, complaints = sweep.communicate(timeout=LIMIT)
    assert sweep.returncode == 130
    assert complaints.splitlines()[-1] == "odfl: interrupted; unfinished runs left no results"
    assert "Traceback" not in complaints
    wait_for_end(workers)


@pytest.mark.slow
@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_workers_end_with_a_sweep_that_is_killed(
    tmp_path: Path, start: Start, launcher: str
) -> None:
    sweep, workers = at_work(tmp_path, start, launcher)
    sweep.kill()
    wait_for_end(workers)


@pytest.mark.slow
def test_two_sweeps_of_one_name_with_different_grids_at_once(tmp_path: Path, start: Start) -> None:
    words = ("run", "-m", "algo=uniform", "horizon=short", "seeds=3", "sweep=mine")
    grids = ("data.gamma=0,0.1,0.2,0.3,0.4,0.5", "data.gamma=0.5,0.6,0.7,0.8,0.9,1")
    for sweep in [start(*ODFL, *words, grid, cwd=tmp_path) for grid in grids]:
        told, complaints = sweep.communicate(timeout=LIMIT)
        assert sweep.returncode == 0, complaints
        assert "6 jobs: " in told
        assert "0 failed, 0 unfinished" in told
    indexes = (tmp_path / "outputs" / "sweeps").glob("*/index.json")
    jobs = [job for index in indexes for job in json.loads(index.read_text())["jobs"]]
    assert {job["state"] for job in jobs} == {"finished"}
    assert len({job["directory"] for job in jobs}) == 11
