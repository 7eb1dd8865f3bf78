"""Sweeps: failures stay alone, and the same command computes what is missing."""

import json
import os
import pty
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.attempts import computations, csvs
from support.commands import complaints, odfl, run_directories
from support.processes import LIMIT, ODFL, Start

from odfl_cli.results.finding import sections
from odfl_cli.results.runs import inspect
from odfl_cli.results.tables import read_runs

FLAKY = '''
from pathlib import Path

from odfl_cli.algorithms.base import Algorithm, State
from odfl_cli.core.settings import settings


@settings
class Flaky(Algorithm):
    """Stands still, and breaks for some rates as long as a file says so."""

    rate: int = 0
    name = "flaky"

    def update(self, state, X, costs, draws):
        if self.rate in (1, 4) and Path("broken").exists():
            raise ZeroDivisionError(f"rate {self.rate} is cursed\\nand more")
        return State(state.t + 1, state.theta)
'''


@pytest.fixture
def flaky(tmp_path: Path) -> Path:
    (tmp_path / "flaky.py").write_text(FLAKY)
    (tmp_path / "conf" / "algo").mkdir(parents=True)
    (tmp_path / "conf" / "algo" / "flaky.yaml").write_text("_target_: flaky.Flaky\nrate: 0\n")
    (tmp_path / "broken").touch()
    return tmp_path


def index_of(root: Path) -> list[dict]:
    (path,) = root.glob("outputs/sweeps/*/index.json")
    return json.loads(path.read_text())["jobs"]


@pytest.mark.thorough
def test_two_of_six_fail_and_only_they_are_computed_again(flaky):
    command = ("run", "-m", "--config-dir", "conf", "algo=flaky", "algo.rate=0,1,2,3,4,5")
    command += ("horizon.rounds=3", "seeds=2")
    done = odfl(*command, cwd=flaky)
    assert done.returncode == 1, done.stderr
    assert "6 jobs: 4 done, 0 skipped, 2 failed, 0 unfinished" in done.stdout
    table = done.stdout[done.stdout.index("6 jobs:") :].splitlines()
    assert [line.split("ZeroDivisionError: ")[1] for line in table if "cursed" in line] == [
        f"rate {rate} is cursed and more" for rate in (1, 4)
    ]
    assert len(run_directories(flaky)) == 4
    failures = sorted(flaky.rglob("failed.json"))
    assert len(failures) == 2
    for failure in failures:
        rate = json.loads(failure.read_text())["config"]["algo"]["rate"]
        assert (
            f"ZeroDivisionError: rate {rate} is cursed" in (failure.parent / "run.log").read_text()
        )
    assert [job["state"] for job in index_of(flaky)].count("failed") == 2
    assert index_of(flaky)[4]["state"] == "failed"

    (flaky / "broken").unlink()
    gone = run_directories(flaky)[0]
    shutil.rmtree(gone)
    again = odfl(*command, "retry=failed", cwd=flaky)
    assert "6 jobs: 2 done, 3 skipped, 0 failed, 1 unfinished" in again.stdout
    assert again.returncode == 1
    assert odfl(*command, cwd=flaky).returncode == 0
    runs = run_directories(flaky)
    attempts = {run: len(computations(run)) for run in runs}
    cursed = {failure.parent for failure in failures}
    assert attempts == {run: 2 if run in cursed else 1 for run in runs}
    assert len(runs) == 6
    assert {job["state"] for job in index_of(flaky)} == {"finished"}
    assert not list(flaky.rglob("failed.json"))


GRID = ("run", "-m", "algo=uniform", "horizon=smoke", "sweep=mine")


def test_a_job_that_is_asked_for_twice_counts_once(tmp_path):
    done = odfl("run", "-m", "algo=uniform", "data.gamma=0,0.0,1", "horizon=smoke", "seeds=2",
                "sweep=twice", cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert complaints(done) == ["odfl: 1 of 3 jobs is asked for twice; run once"]
    assert done.stdout.splitlines()[-1].startswith("2 jobs: 2 done")
    index = json.loads((tmp_path / "outputs/sweeps/twice/index.json").read_text())
    assert [job["overrides"][1] for job in index["jobs"]] == ["data.gamma=0", "data.gamma=1"]


def test_a_job_can_run_in_its_own_directory(tmp_path):
    words = ["algo=uniform", "horizon.rounds=2", "seeds=1", "engine=array", "hydra.job.chdir=true"]
    done = odfl("run", "-m", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (directory,) = run_directories(tmp_path / "outputs")
    assert (directory / "seed-0.csv").is_file()
    assert [path.name for path in tmp_path.iterdir()] == ["outputs"]


def test_a_plot_takes_the_seeds_that_the_sweep_asked_for(tmp_path):
    for seeds, sweep in (("seeds=3", "sweep=three"), ("seeds=2", "sweep=two")):
        assert odfl(*GRID, seeds, sweep, cwd=tmp_path).returncode == 0
    sweeps = tmp_path / "outputs" / "sweeps"

    def plot(*places: Path) -> tuple[list[int], list[str]]:
        warnings: list[str] = []
        (run,) = read_runs(list(places), warnings.append)
        return run.seeds, warnings

    more = "left out seeds of other requests in the run; --seeds [2] reads them"
    assert plot(sweeps / "two") == ([0, 1], [more])
    assert plot(sweeps / "three") == ([0, 1, 2], [])
    assert plot(sweeps) == ([0, 1, 2], [])
    assert plot(sweeps / "two", tmp_path / "outputs" / "runs") == ([0, 1], [more])
    lines: list[str] = []
    sections([sweeps / "two"], lines.append)
    assert lines == [f"two: {more}"]


@pytest.mark.thorough
def test_another_grid_of_the_same_name_leaves_its_index_alone(tmp_path):
    """More seeds belong to the same grid, and more jobs where the name was typed."""
    sweeps = tmp_path / "outputs" / "sweeps"

    def swept(*arguments: str) -> tuple[set[str], list[int]]:
        done = odfl(*GRID, *arguments, cwd=tmp_path)
        assert done.returncode == 0
        ended = len(re.findall(r"^\[\d+/\d+\] ", done.stdout, re.MULTILINE))
        assert re.match(f"{ended} jobs?: ", done.stdout.splitlines()[-1])  # whatever its name
        jobs = json.loads((sweeps / "mine" / "index.json").read_text())["jobs"]
        return {path.name for path in sweeps.iterdir()}, [len(job["seeds"]) for job in jobs]

    assert swept("data.gamma=0,1", "seeds=2") == ({"mine"}, [2, 2])
    assert swept("data.gamma=0.5", "seeds=3") == ({"mine"}, [2, 2, 3])
    assert swept("data.gamma=0,1", "seeds=3") == ({"mine"}, [3, 3, 3])
    names, seeds = swept("data.gamma=0,1,0.5", "seeds=1")
    assert (len(names), seeds) == (2, [3, 3, 3])
    assert all(name.startswith("mine") for name in names)
    assert swept("data.gamma=0,1,0.5", "seeds=1")[0] == names


@pytest.mark.thorough
def test_other_jobs_of_an_experiment_leave_its_sweep_alone(tmp_path):
    """experiment=main for a few rounds is another sweep, as its name was not typed."""
    (tmp_path / "conf" / "experiment").mkdir(parents=True)
    words = "sweep: mine\nhydra:\n  mode: MULTIRUN\n  sweeper: {params: {algo: 'uniform,frozen'}}\n"
    (tmp_path / "conf/experiment/mine.yaml").write_text(f"# @package _global_\n{words}")
    command = ("run", "--config-dir", "conf", "experiment=mine", "seeds=1")
    assert odfl(*command, "horizon.rounds=4", cwd=tmp_path).returncode == 0
    another = odfl(*command, "horizon.rounds=5", cwd=tmp_path)
    assert "has results of another grid" in another.stderr
    assert len(list((tmp_path / "outputs/sweeps").iterdir())) == 2


@pytest.mark.thorough
def test_a_name_makes_a_sweep_of_one_job(tmp_path):
    """A sweep can be built job by job; the name used to be ignored without -m."""
    for algo in ("uniform", "frozen"):
        done = odfl(
            "run", f"algo={algo}", "horizon.rounds=4", "seeds=1", "sweep=mine", cwd=tmp_path
        )
        assert done.returncode == 0, done.stderr
    assert [job["overrides"][0] for job in index_of(tmp_path)] == ["algo=uniform", "algo=frozen"]
    refused = odfl("run", "algo=uniform", "hydra.mode=RUN", "sweep=mine", cwd=tmp_path)
    assert refused.returncode == 2
    assert complaints(refused) == [
        "odfl: sweep=mine: a single job has no sweep; leave out hydra.mode=RUN"
    ]


def test_an_index_edited_into_nonsense_is_one_line_and_written_anew(tmp_path):
    index = tmp_path / "outputs" / "sweeps" / "mine" / "index.json"
    index.parent.mkdir(parents=True)
    index.write_text('{"jobs": "all of them"}')
    done = odfl(*GRID, "seeds=1", cwd=tmp_path)
    assert done.returncode == 0
    (line,) = complaints(done)
    assert str(index) in line
    assert [job["state"] for job in index_of(tmp_path)] == ["finished"]


@pytest.mark.thorough
def test_one_live_display_on_a_terminal(tmp_path):
    """Jobs done of all, and the terminal as it was: the cursor that was hidden is shown again."""
    command = [*ODFL, *GRID, "data.gamma=0,1", "seeds=1"]
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(tmp_path)
        os.execve(sys.executable, command, os.environ | {"TERM": "xterm", "COLUMNS": "120"})
    output = b""
    try:
        while part := os.read(terminal, 65536):
            output += part
    except OSError:  # how a terminal says that the other side has gone
        pass
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    text = output.decode()
    assert "0/2 jobs, 0 failed" in text
    assert "2/2 jobs, 0 failed" in text
    assert text.rindex("\x1b[?25h") > text.rindex("\x1b[?25l")


GATED = '''
import time
from pathlib import Path

from odfl_cli.algorithms.references import Uniform


class Gated(Uniform):
    """Counts the jobs that begin, and waits for ever from the one on whose number is in a file."""

    def init(self, *arguments):
        with open("begun", "a") as begun:
            begun.write("x")
        if Path("gate").exists() and Path("begun").stat().st_size >= int(Path("gate").read_text()):
            time.sleep(3600)
        return super().init(*arguments)
'''


def kill_and_restart(root: Path, start: Start, jobs: int, kills: int) -> None:
    """A sweep killed while jobs wait ends as an undisturbed one; a kill costs what it interrupts."""
    random_moment = random.Random(20)
    at_once = 2
    gammas = ",".join(str(i / jobs) for i in range(jobs))
    command = ("run", "-m", "algo=uniform", "algo._target_=gated.Gated", f"data.gamma={gammas}")
    command += ("horizon=short", "seeds=2", f"hydra.launcher.at_once={at_once}")
    whole, killed = root / "whole", root / "killed"
    for folder in (whole, killed):
        folder.mkdir()
        (folder / "gated.py").write_text(GATED)
        (folder / "begun").touch()
    assert odfl(*command, cwd=whole).returncode == 0
    begun = killed / "begun"
    for _ in range(kills):
        gate = begun.stat().st_size + random_moment.randint(1, jobs // kills)
        (killed / "gate").write_text(str(gate))
        process = start(*ODFL, *command, cwd=killed)
        while begun.stat().st_size < gate:
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)
        time.sleep(random_moment.uniform(0.0, 0.1))
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=LIMIT)
        assert process.returncode == -signal.SIGKILL
    (killed / "gate").unlink()
    done = odfl(*command, cwd=killed)
    assert done.returncode == 0, done.stderr
    assert csvs(killed) == csvs(whole)
    runs = run_directories(killed)
    assert len(runs) == jobs
    begun_again = [len(computations(run)) - 1 for run in runs]
    assert min(begun_again) == 0
    assert kills <= sum(begun_again) <= kills * at_once
    assert not list(root.rglob("*.part"))
    (index,) = killed.rglob("index.json")
    assert {job["state"] for job in json.loads(index.read_text())["jobs"]} == {"finished"}


@pytest.mark.parametrize(
    ("jobs", "kills"),
    [pytest.param(6, 2, marks=pytest.mark.thorough), pytest.param(60, 10, marks=pytest.mark.slow)],
)
def test_a_sweep_that_is_killed_ends_as_an_undisturbed_one(tmp_path, start, jobs, kills):
    kill_and_restart(tmp_path, start, jobs, kills)


@pytest.mark.thorough
def test_a_small_disk_that_fills_up(tmp_path):
    """Uses a real full file system where one can be mounted."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(disk)], capture_output=True
    )
    if mounted.returncode != 0:
        pytest.skip("mounting a file system is not allowed here")
    command = ("run", "-m", "algo=uniform", "data.gamma=0,0.25,0.5,0.75,1", "seeds=4")
    command += ("horizon=short",)
    try:
        done = odfl(*command, f"outputs={disk}", cwd=tmp_path)
        assert done.returncode == 1, done.stdout
        assert "No space left on device" in done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        full = csvs(disk)
        assert odfl(*command, cwd=tmp_path).returncode == 0
        whole = csvs(tmp_path / "outputs")
        for run in disk.glob("runs/*"):
            if run.is_dir() and inspect(run).state == "finished":
                assert {n: c for n, c in full.items() if n.startswith(run.name)}.items() <= (
                    whole.items()
                )
    finally:
        subprocess.run(["umount", str(disk)], check=True)
