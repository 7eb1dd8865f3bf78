"""A run is computed once, continued where it stopped, and never believed when it is damaged."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.attempts import computations, csvs, summary
from support.commands import complaints, odfl, run_directories
from support.processes import LIMIT, ODFL

from odfl_cli.core.reading import seal
from odfl_cli.results.runs import inspect
from odfl_cli.results.summary import file_record

JOB = ("run", "algo=uniform", "horizon=smoke")
SWEEP = ("run", "-m", *JOB[1:])


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """Four seeds, undisturbed."""
    place = tmp_path_factory.mktemp("whole")
    assert odfl(*JOB, "seeds=4", cwd=place).returncode == 0
    return place


@pytest.fixture
def run(whole: Path, tmp_path: Path) -> Path:
    """A copy of it, to be spoilt."""
    shutil.copytree(whole / "outputs", tmp_path / "outputs")
    (directory,) = run_directories(tmp_path)
    return directory


def edit(run: Path, **changes: object) -> None:
    path = run / "summary.json"
    path.write_text(json.dumps(seal(json.loads(path.read_text()) | changes)))


def test_only_missing_seeds_are_computed(whole, tmp_path):
    for seeds in ("seeds=[2]", "seeds=2", "seeds=4"):
        assert odfl(*JOB, seeds, cwd=tmp_path).returncode == 0
    (run,) = run_directories(tmp_path)
    assert computations(run) == ["[2]", "[0, 1]", "[3]"]
    assert csvs(tmp_path) == csvs(whole)
    (undisturbed,) = run_directories(whole)
    assert summary(run) == summary(undisturbed)


@pytest.mark.thorough
def test_what_the_summary_tells_of_every_seed_is_joined(tmp_path):
    """Comparators, their uncertainty and the errors: as though all seeds had been run at once."""
    quick = ("metrics=regret", "metrics.sample=50", "metrics.evaluations=4", "metrics.steps=2")
    grown, fresh = tmp_path / "grown", tmp_path / "fresh"
    for place, seeds in ((grown, "seeds=[3,10]"), *((p, "seeds=[2,3,10,11]") for p in (grown, fresh))):  # fmt: skip
        place.mkdir(exist_ok=True)
        done = odfl("run", "algo=pf_ogd", "horizon.rounds=9", *quick, seeds, cwd=place)
        assert done.returncode == 0, done.stderr
    (joined,), (whole,) = run_directories(grown), run_directories(fresh)
    assert computations(joined) == ["[3, 10]", "[2, 11]"]
    assert json.dumps(summary(joined)) == json.dumps(summary(whole))
    assert list(summary(joined)["expected_cost_error"]) == ["2", "3", "10", "11"]
    attempt = json.loads((joined / "summary.json").read_text())["attempt"]
    assert attempt == {"seeds": [2, 11]}


def test_a_finished_run_is_skipped_and_its_result_shown(run, tmp_path):
    before = csvs(tmp_path), (run / "summary.json").read_bytes()
    done = odfl(*JOB, "seeds=4", cwd=tmp_path)
    assert done.returncode == 0
    assert "finished already" in done.stderr
    assert run.name in done.stdout
    assert computations(run) == ["[0, 1, 2, 3]"]
    assert (csvs(tmp_path), (run / "summary.json").read_bytes()) == before


def test_fewer_seeds_are_told_and_nothing_is_deleted(run, tmp_path):
    before = csvs(tmp_path), json.loads((run / "summary.json").read_text())
    done = odfl(*JOB, "seeds=2", cwd=tmp_path)
    assert done.returncode == 0
    assert "holds 2 more seeds; averages are over the 2 asked for" in complaints(done)[0]
    after = json.loads((run / "summary.json").read_text())
    expected = before[1] | {"asked": [0, 1], "seal": after["seal"]}
    assert (csvs(tmp_path), after) == (before[0], expected)


def test_force_computes_again(run, tmp_path):
    before = csvs(tmp_path)
    assert odfl(*JOB, "seeds=4", "force=true", cwd=tmp_path).returncode == 0
    assert computations(run) == ["[0, 1, 2, 3]"] * 2
    assert csvs(tmp_path) == before


def test_a_damaged_csv_is_reported_and_its_seed_computed_again(run, whole, tmp_path):
    """`tests/results/test_runs.py` has the ways to be damaged."""
    os.truncate(run / "seed-3.csv", 40)
    done = odfl(*JOB, "seeds=2", cwd=tmp_path)
    assert done.returncode == 0
    assert "seed-3.csv" in complaints(done)[0]
    assert computations(run)[1:] == ["[3]"]
    assert csvs(tmp_path) == csvs(whole)


def test_a_summary_that_is_garbage_is_reported_and_all_computed_again(run, whole, tmp_path):
    (run / "summary.json").write_text('{"seeds": [0, 1,')
    done = odfl(*JOB, "seeds=4", cwd=tmp_path)
    assert done.returncode == 0
    assert "summary.json" in complaints(done)[0]
    assert computations(run)[1:] == ["[0, 1, 2, 3]"]
    (undisturbed,) = run_directories(whole)
    assert summary(run) == summary(undisturbed)


def test_files_with_other_columns_are_computed_again(run, whole, tmp_path):
    """An older version may have left such files, listed in its summary."""
    files = json.loads((run / "summary.json").read_text())["files"]
    for name in ("seed-0.csv", "seed-1.csv"):
        lines = (run / name).read_text().splitlines()
        content = "".join(line.rsplit(",", 1)[0] + "\n" for line in lines).encode()
        (run / name).write_bytes(content)
        files[name] = file_record(content, "0.0.1")
    edit(run, files={k: files[k] for k in ("seed-0.csv", "seed-1.csv")}, seeds=[0, 1])
    done = odfl(*JOB, "seeds=4", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert csvs(tmp_path) == csvs(whole)
    (undisturbed,) = run_directories(whole)
    assert summary(run) == summary(undisturbed)


def test_a_result_of_another_version_is_reported(run, tmp_path):
    files = json.loads((run / "summary.json").read_text())["files"]
    edit(run, files={name: record | {"odfl": "0.0.1"} for name, record in files.items()})
    done = odfl(*JOB, "seeds=4", cwd=tmp_path)
    assert done.returncode == 0
    assert "computed by odfl 0.0.1" in complaints(done)[0]


OWN = """
from odfl_cli.algorithms.base import Algorithm
from helper import STEP

class Mine(Algorithm):
    name = "mine"

    def update(self, state, X, costs, draws):
        return state._replace(t=state.t + 1, theta=state.theta + STEP)
"""


@pytest.mark.thorough
def test_seeds_of_two_versions_of_a_users_code_are_never_pooled(tmp_path):
    """A change of the module, or of one that it imports, is noticed, and all seeds are computed again."""
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "conf" / "algo").mkdir(parents=True)
    (tmp_path / "conf" / "algo" / "own.yaml").write_text("_target_: own.Mine\n")
    command = ("run", "--config-dir", "conf", "algo=own", "horizon.rounds=5")
    (tmp_path / "helper.py").write_text("STEP = 0.0\n")
    assert odfl(*command, "seeds=2", cwd=tmp_path).returncode == 0
    old = csvs(tmp_path)
    (tmp_path / "helper.py").write_text("STEP = 0.125\n")
    done = odfl(*command, "seeds=3", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "helper changed since seeds 0, 1 were computed" in done.stderr
    (run,) = run_directories(tmp_path)
    assert computations(run) == ["[0, 1]", "[0, 1, 2]"]
    assert all(csvs(tmp_path)[name] != content for name, content in old.items())
    again = odfl(*command, "seeds=3", cwd=tmp_path)
    assert "changed" not in again.stderr
    assert "finished already" in again.stderr


def test_a_result_of_changed_code_of_an_earlier_version_is_computed_again(run, tmp_path):
    """Up to 0.2.0 the summary names the modules of all its seeds."""
    files = json.loads((run / "summary.json").read_text())["files"]
    old = {
        name: {k: v for k, v in record.items() if k != "sources"} for name, record in files.items()
    }
    edit(run, sources={"my_module": "another hash"}, files=old)
    done = odfl(*JOB, "seeds=4", cwd=tmp_path)
    assert done.returncode == 0
    assert "my_module changed since seeds 0, 1, 2, 3 were computed" in complaints(done)[0]


def refusal_of(tmp_path: Path, *arguments: str) -> str:
    before = csvs(tmp_path)
    done = odfl(*arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    (line,) = complaints(done)
    assert csvs(tmp_path) == before
    return line


def test_a_newer_versions_directory_is_refused(run, tmp_path):
    edit(run, format=99)
    assert "format 99" in refusal_of(tmp_path, *JOB, "seeds=5")
    assert "format 99" in refusal_of(tmp_path, *SWEEP, "seeds=5")


@pytest.mark.thorough
def test_results_of_two_configurations_are_never_mixed(run, tmp_path):
    place = f"hydra.run.dir={run}"
    assert "another configuration" in refusal_of(tmp_path, *JOB, "data.gamma=0.5", place)
    assert odfl(*JOB, "seeds=4", place, cwd=tmp_path).returncode == 0
    shared = ("data.gamma=0,1", "hydra.sweep.subdir=same")
    assert "would share it" in refusal_of(tmp_path, *SWEEP, *shared)


def test_a_run_that_breaks_is_a_failure_with_its_traceback(tmp_path):
    broken = ("run", "algo=pf_ogd", "horizon=smoke", "seeds=2", "data.theta_star_norm=1e308")
    done = odfl(*broken, cwd=tmp_path)
    assert done.returncode != 0
    (log,) = tmp_path.rglob("run.log")
    failure = json.loads((log.parent / "failed.json").read_text())
    assert failure["error"] in done.stderr
    assert failure["config"]["data"]["theta_star_norm"] == 1e308
    assert ".py:" in failure["place"]
    assert "Traceback" in log.read_text()
    assert not list(tmp_path.rglob("seed-*.csv"))


def test_retry_computes_failures_only(run, whole, tmp_path):
    done = odfl(*JOB, "seeds=5", "retry=failed", cwd=tmp_path)
    assert done.returncode == 0
    assert "had not failed" in done.stderr
    assert computations(run) == ["[0, 1, 2, 3]"]
    (run / "failed.json").write_text('{"error": "out of memory"}')
    (run / "summary.json").unlink()
    assert odfl(*JOB, "seeds=4", "retry=failed", cwd=tmp_path).returncode == 0
    assert computations(run) == ["[0, 1, 2, 3]"] * 2
    assert not (run / "failed.json").exists()
    assert csvs(tmp_path) == csvs(whole)


@pytest.mark.thorough
def test_a_full_disk_leaves_no_result_and_is_told(whole, tmp_path):
    """No file may grow beyond 4500 bytes, which a CSV does and a log does not."""
    script = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4500, 4500));"
        "from odfl_cli.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", script, *JOB, "seeds=4"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 1, done.stderr
    assert "File too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert run_directories(tmp_path) == []
    assert odfl(*JOB, "seeds=4", cwd=tmp_path).returncode == 0
    assert csvs(tmp_path) == csvs(whole)
    assert not list(tmp_path.rglob("*.part"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_directory_is_refused(run, tmp_path):
    run.chmod(0o500)
    assert "cannot write" in refusal_of(tmp_path, *JOB, "seeds=5")
    assert "cannot write" in refusal_of(tmp_path, *SWEEP, "seeds=5")


@pytest.mark.thorough
def test_concurrent_runs_of_one_job_compute_it_once(whole, tmp_path, start):
    processes = [start(*ODFL, *JOB, "seeds=4", cwd=tmp_path) for _ in range(2)]
    for process in processes:
        _, errors = process.communicate(timeout=LIMIT)
        assert process.returncode == 0, errors
    (run,) = run_directories(tmp_path)
    assert computations(run) == ["[0, 1, 2, 3]"]
    assert csvs(tmp_path) == csvs(whole)


@pytest.mark.thorough
def test_a_killed_run_is_unfinished_and_its_lock_free(tmp_path, start):
    endless = start(*ODFL, "run", "algo=uniform", "horizon.rounds=100000000", cwd=tmp_path)
    while not list(tmp_path.rglob(".lock")):
        assert endless.poll() is None
    (lock,) = tmp_path.rglob(".lock")
    endless.send_signal(signal.SIGKILL)
    endless.communicate(timeout=LIMIT)
    assert inspect(lock.parent).state == "unfinished"


@pytest.mark.slow
@pytest.mark.parametrize(
    "jobs", [["data.gamma=0.5"] * 20, [f"data.gamma={i / 20}" for i in range(20)]]
)
def test_twenty_at_once(tmp_path, start, jobs):
    processes = [start(*ODFL, *JOB, "seeds=3", job, cwd=tmp_path) for job in jobs]
    for process in processes:
        _, errors = process.communicate(timeout=LIMIT)
        assert process.returncode == 0, errors
    runs = run_directories(tmp_path)
    assert len(runs) == len(set(jobs))
    assert [computations(run) for run in runs] == [["[0, 1, 2]"]] * len(runs)
    (tmp_path / "alone").mkdir()
    for job in sorted(set(jobs)):
        assert odfl(*JOB, "seeds=3", job, cwd=tmp_path / "alone").returncode == 0
    assert csvs(tmp_path / "alone") == csvs(tmp_path / "outputs")
