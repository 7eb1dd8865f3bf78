"""Sweeps on other launchers: the same bytes, no more threads than cores, no job lost in silence."""

import json
import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest
from support.attempts import csvs
from support.commands import odfl, odfl_process
from support.processes import LIMIT, Start

from odfl_cli.core.cores import available_cores

SWEEP = ("run", "-m", "algo=df_ogd,pf_ogd,uniform", "horizon=smoke", "seeds=2", "sweep=grid")

SPY = """
import json, os, signal, sys, time
from pathlib import Path
from hydra.experimental.callback import Callback

HERE = Path(__file__).parent


class Spy(Callback):
    '''Notes what a job is given and what it imports; ends the one that the file `fatal` names.'''

    def on_job_start(self, config, **_):
        self.notes = {"threads": os.environ.get("ODFL_THREADS"), "begin": time.time()}
        if (HERE / "fatal").exists() and config.algo._target_.endswith((HERE / "fatal").read_text()):
            os.kill(os.getpid(), signal.SIGKILL)

    def on_job_end(self, config, job_return, **_):
        self.notes |= {"torch": "torch" in sys.modules, "end": time.time(), "pid": os.getpid()}
        (HERE / "spied" / f"{config.hydra.job.num}.json").write_text(json.dumps(self.notes))
"""
SPYING = "+hydra.callbacks.spy._target_=spy.Spy"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A directory with the spy in it, as a user's own component would be."""
    (tmp_path / "spy.py").write_text(SPY)
    (tmp_path / "spied").mkdir()
    return tmp_path


@pytest.fixture(scope="module")
def basic(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The results of Hydra's own launcher, one job after another."""
    place = tmp_path_factory.mktemp("basic")
    done = odfl(*SWEEP, "hydra/launcher=basic", cwd=place)
    assert done.returncode == 0, done.stderr
    found = csvs(place)
    assert len(found) == 6
    return found


def needs(package: str, extra: str) -> None:
    if find_spec(package) is None:
        pytest.skip(f"needs the extra {extra}: make test-launchers")


def spy(place: Path) -> list[dict]:
    return [json.loads(path.read_text()) for path in sorted((place / "spied").iterdir())]


def assert_like_basic(place: Path, arguments: tuple[str, ...], basic: dict, **environment) -> None:
    done = odfl_process(*SWEEP, SPYING, *arguments, cwd=place, **environment)
    assert done.returncode == 0, done.stderr
    assert csvs(place) == basic
    notes = spy(place)
    assert len(notes) == 3
    assert not any(note["torch"] for note in notes)


@pytest.mark.thorough
def test_small_jobs_share_the_cores(place: Path, basic: dict[str, bytes]) -> None:
    """A job whose process is killed does not end the others."""
    two = ("hydra.launcher.at_once=2",)
    (place / "fatal").write_text("PFOGD")
    first = odfl(*SWEEP, SPYING, *two, cwd=place, ODFL_THREADS="2")
    assert first.returncode == 1
    assert "3 jobs: 2 done, 0 skipped, 0 failed, 1 unfinished" in first.stdout, first.stderr
    (place / "fatal").unlink()
    again = odfl(*SWEEP, SPYING, *two, cwd=place, ODFL_THREADS="2")
    assert "3 jobs: 1 done, 2 skipped, 0 failed" in again.stdout, again.stderr
    assert csvs(place) == basic
    assert [note["threads"] for note in spy(place)] == ["2", "1"]  # alone, among others


@pytest.mark.thorough
def test_joblib_divides_the_cores(place: Path, basic: dict[str, bytes]) -> None:
    needs("hydra_plugins.hydra_joblib_launcher", "parallel")
    launcher = ("hydra/launcher=joblib", "hydra.launcher.n_jobs=2")
    assert_like_basic(place, launcher, basic)
    notes = spy(place)
    assert os.getpid() not in {note["pid"] for note in notes}
    assert {int(note["threads"]) for note in notes} == {max(1, available_cores() // 2)}


@pytest.mark.thorough
def test_submitit_local_gives_every_job_a_process(place: Path, basic: dict[str, bytes]) -> None:
    """A killed job takes no other along, and no more run at once than was asked for."""
    needs("hydra_plugins.hydra_submitit_launcher", "slurm")
    one_at_a_time = ("hydra/launcher=submitit_local", "hydra.launcher.at_once=1", SPYING)
    (place / "fatal").write_text("PFOGD")
    first = odfl(*SWEEP, *one_at_a_time, cwd=place)
    assert first.returncode == 1
    assert "3 jobs: 2 done, 0 skipped, 0 failed, 1 unfinished" in first.stdout
    (line,) = (line for line in first.stderr.splitlines() if "killed" in line)
    assert line.startswith("odfl: job 1 (")
    assert Path(line.rpartition("; see ")[2]).is_file()
    earlier, later = notes = spy(place)
    assert earlier["end"] <= later["begin"]
    assert len({os.getpid(), *(note["pid"] for note in notes)}) == 3
    assert {note["threads"] for note in notes} == {"1"}
    assert not any(note["torch"] for note in notes)

    (place / "fatal").unlink()
    again = odfl(*SWEEP, *one_at_a_time, cwd=place)
    assert again.returncode == 0, again.stderr
    assert "3 jobs: 1 done, 2 skipped, 0 failed" in again.stdout
    assert csvs(place) == basic


@contextmanager
def ray_cluster(place: Path, start: Start) -> Iterator[tuple[str, dict[str, str]]]:
    """A head node on the loopback address: its address, and how to be let in."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    command = ["start", "--head", "--block", "--node-ip-address=127.0.0.1", f"--port={port}"]
    quiet = ["--include-dashboard=false", "--disable-usage-stats", "--num-cpus=2"]
    with (place / "ray.out").open("w") as output:
        head = start(
            str(Path(sys.executable).parent / "ray"),
            *(*command, *quiet),
            env=os.environ | token,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            wait_for_port(port)
            yield f"127.0.0.1:{port}", token
        finally:
            head.terminate()
            head.wait(timeout=LIMIT)


def wait_for_port(port: int, seconds: float = LIMIT) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    raise TimeoutError(f"nothing listens on port {port}")


@pytest.mark.thorough
def test_a_ray_cluster(place: Path, basic: dict[str, bytes], start: Start) -> None:
    needs("hydra_plugins.hydra_ray_launcher", "ray")
    with ray_cluster(place, start) as (address, token):
        launcher = ("hydra/launcher=ray", f"hydra.launcher.ray.init.address='{address}'")
        assert_like_basic(place, launcher, basic, **token)
    assert {note["threads"] for note in spy(place)} == {"1"}


@pytest.mark.thorough
def test_ray_without_a_cluster_makes_its_own(place: Path, basic: dict[str, bytes]) -> None:
    needs("hydra_plugins.hydra_ray_launcher", "ray")
    assert_like_basic(place, ("hydra/launcher=ray",), basic)
