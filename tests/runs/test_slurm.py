"""A sweep on a real Slurm cluster, with a job cancelled in the middle; `make test-slurm`."""

import os
import subprocess
from pathlib import Path

import pytest
from support.attempts import csvs
from support.cluster import missing_programs, slurm_cluster, wait_until
from support.commands import odfl, odfl_process, run_directories
from support.processes import LIMIT, ODFL, Start

pytest.importorskip("submitit", reason="needs the extra slurm")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        bool(missing_programs()), reason="no Slurm here: apt-get install slurm-wlm munge"
    ),
]

SWEEP = ("-m", "data.gamma=0,0.5,1", "horizon.rounds=1000000", "seeds=2", "sweep=grid")
SLURM = (
    "hydra/launcher=submitit_slurm",
    "hydra.launcher.mem_gb=1",
    "hydra.launcher.poll_seconds=0.5",
)


@pytest.fixture
def slurm():
    with slurm_cluster() as environment:
        yield environment


def running(slurm: dict[str, str]) -> list[str]:
    """Ids of the jobs that compute."""
    command = ["squeue", "--noheader", "--array", "--states=RUNNING", "--format=%i"]
    return subprocess.run(
        command, env=os.environ | slurm, capture_output=True, text=True, check=True
    ).stdout.split()


def test_a_cancelled_job_is_computed_by_the_next_run(tmp_path: Path, slurm, start: Start) -> None:
    command = ["run", *SWEEP, "outputs=slurm", *SLURM]
    first = start(*ODFL, *command, cwd=tmp_path, env=os.environ | slurm)
    runs = tmp_path / "slurm" / "runs"
    begun = lambda: [log for log in runs.glob("*/run.log") if "rounds" in log.read_text()]  # noqa: E731
    wait_until(begun, "a job to begin")
    cancelled = running(slurm)[0]
    subprocess.run(["scancel", cancelled], env=os.environ | slurm, check=True)
    told, errors = first.communicate(timeout=LIMIT)
    assert first.returncode == 1
    assert "3 jobs: 2 done, 0 skipped, 0 failed, 1 unfinished" in told
    assert cancelled in errors
    assert "sacct" not in errors
    assert len(run_directories(runs)) == 2  # the others went on to their ends
    finished = {path: path.stat().st_mtime_ns for path in runs.glob("*/seed-*.csv")}

    again = odfl_process(*command, cwd=tmp_path, **slurm)
    assert again.returncode == 0, again.stderr
    assert "3 jobs: 1 done, 2 skipped, 0 failed" in again.stdout
    assert {path: path.stat().st_mtime_ns for path in finished} == finished  # nothing twice
    assert odfl("run", *SWEEP, "outputs=basic", cwd=tmp_path).returncode == 0
    assert csvs(tmp_path / "slurm") == csvs(tmp_path / "basic")
    assert len(csvs(tmp_path / "slurm")) == 6
