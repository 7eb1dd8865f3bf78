"""`odfl run` as a user meets it."""

import csv
import json
import signal
import time
from pathlib import Path

import pytest
from support.commands import complaints, odfl, odfl_process, run_directories
from support.processes import LIMIT, ODFL, Start

SMALL = ("horizon=smoke", "seeds=2")


def read_seed(directory: Path, seed: int) -> list[dict[str, str]]:
    with (directory / f"seed-{seed}.csv").open() as file:
        return list(csv.DictReader(file))


def test_a_sweep_names_every_cell_and_has_a_directory_for_each_and_an_index(tmp_path: Path) -> None:
    words = ("seeds=2", "horizon.rounds=8")
    swept = odfl("run", "-m", "algo=uniform,pf_ogd", "data.gamma=0,1", *words, cwd=tmp_path)
    assert swept.returncode == 0, swept.stderr
    lines = [line for line in swept.stdout.splitlines() if line.startswith("[")]
    cells = {f"algo={algo} data.gamma={g}" for algo in ("uniform", "pf_ogd") for g in (0, 1)}
    assert {line.partition("] ")[2].partition(" done")[0] for line in lines} == cells
    assert [line.partition("]")[0] for line in lines] == ["[1/4", "[2/4", "[3/4", "[4/4"]
    assert all("done in" in line and "average cost" in line for line in lines)
    assert complaints(swept) == []
    runs = run_directories(tmp_path / "outputs" / "runs")
    (index,) = (tmp_path / "outputs" / "sweeps").glob("*/index.json")
    assert {path.name for path in index.parent.iterdir()} == {".lock", "index.json"}
    jobs = json.loads(index.read_text())["jobs"]
    assert sorted((index.parent / job["directory"]).resolve() for job in jobs) == runs
    assert len(runs) == 4
    assert jobs[0]["overrides"][:2] == ["algo=uniform", "data.gamma=0"]


@pytest.mark.thorough
def test_the_end_of_a_run_shows_the_columns_that_were_asked_for(tmp_path: Path) -> None:
    words = ("seeds=2", "horizon.rounds=8", "metrics=regret", "metrics.sample=50")
    alone = odfl("run", "algo=uniform", *words, cwd=tmp_path)
    assert "average static regret  average dynamic regret" in alone.stdout.splitlines()[0]


@pytest.mark.thorough
@pytest.mark.parametrize(("metrics", "remarks"), [("regret", 1), ("basic", 0)])
def test_the_remark_on_theorem_2_comes_once_and_only_with_its_bound(
    tmp_path: Path, metrics: str, remarks: int
) -> None:
    words = ("seeds=1", "horizon.rounds=30", "data.gamma=0,1", f"metrics={metrics}")
    swept = odfl("run", "-m", "algo=df_ogd", *words, cwd=tmp_path)
    assert swept.returncode == 0, swept.stderr
    assert swept.stderr.count("Theorem 2") == remarks


def test_single_run_writes_the_files_of_the_design(tmp_path: Path) -> None:
    done = odfl("run", "algo=df_ogd", "data.gamma=0.5", *SMALL, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (directory,) = run_directories(tmp_path / "outputs" / "runs")
    assert directory.name.startswith("df_ogd-")
    written = {path.name for path in directory.iterdir()}
    assert written == {".hydra", ".lock", "run.log", "seed-0.csv", "seed-1.csv", "summary.json"}
    rows = read_seed(directory, 1)
    assert [int(row["t"]) for row in rows] == list(range(1, 51))
    costs = [float(row["cost"]) for row in rows]
    assert float(rows[-1]["avg_cost"]) == pytest.approx(sum(costs) / 50, abs=1e-12)
    regret = sum(c - float(row["best_cost"]) for c, row in zip(costs, rows, strict=True))
    assert float(rows[-1]["regret"]) == pytest.approx(regret, abs=1e-12)
    summary = json.loads((directory / "summary.json").read_text())
    assert summary["choices"]["algo"] == "df_ogd"
    assert summary["config"]["data"]["gamma"] == 0.5
    assert summary["seeds"] == [0, 1]
    assert summary["rounds"] == 50
    assert summary["final"]["avg_cost"]["per_seed"][1] == float(rows[-1]["avg_cost"])
    assert {"wall", "data", "learn", "metrics", "write"} <= summary["seconds"].keys()
    assert {"odfl", "numpy", "torch"} <= summary["versions"].keys()
    assert "df_ogd" in done.stdout
    assert directory.name in done.stdout
    assert complaints(done) == []  # no progress bar where there is no terminal


@pytest.mark.thorough
def test_experiment_runs_as_a_sweep_and_the_command_line_wins(tmp_path: Path) -> None:
    done = odfl("run", "experiment=main", "algo=spo,pf_ogd", *SMALL, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    runs = run_directories(tmp_path / "outputs" / "runs")
    summaries = [json.loads((run / "summary.json").read_text()) for run in runs]
    assert {s["choices"]["algo"] for s in summaries} == {"spo", "pf_ogd"}
    assert {s["rounds"] for s in summaries} == {50}
    assert (tmp_path / "outputs" / "sweeps" / "main" / "index.json").is_file()


def test_run_directory_of_the_users_choice(tmp_path: Path) -> None:
    done = odfl("run", "algo=uniform", *SMALL, "hydra.run.dir=elsewhere/x", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "elsewhere" / "x" / "summary.json").is_file()
    assert not (tmp_path / "outputs").exists()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--cfg", "job", "algo=df_ftpl", "data.gamma=0.25"], "gamma: 0.25"),
        (["--info", "config"], "odfl_cli.algorithms.df_ogd.DFOGD"),
    ],
)
def test_hydras_own_flags(tmp_path: Path, arguments: list[str], expected: str) -> None:
    done = odfl("run", *arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert expected in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_help_lists_what_a_user_chooses_from(tmp_path: Path) -> None:
    (tmp_path / "conf" / "data").mkdir(parents=True)
    (tmp_path / "conf" / "data" / "mine.yaml").write_text("_target_: mine.Data\n")
    done = odfl("run", "--help", "--config-dir", "conf", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "algo: always, clairvoyant, " in done.stdout
    (listed,) = (line for line in done.stdout.splitlines() if line.startswith("data: "))
    assert {"mine", "sin4"} <= set(listed.removeprefix("data: ").split(", "))
    assert "tuned" not in done.stdout


@pytest.mark.thorough
def test_flags_may_stand_between_overrides(tmp_path: Path) -> None:
    words = ("algo=uniform", "-m", "data.gamma=0,1", "--config-dir", ".", *SMALL)
    done = odfl("run", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(run_directories(tmp_path / "outputs" / "runs")) == 2


def test_the_verb_warm_is_answered(tmp_path: Path) -> None:
    done = odfl("warm", "df_ogd", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == ("odfl: warm: this verb is gone; a run compiles what it needs\n")


EXECUTES = """
from odfl_cli.algorithms.references import Uniform

class Mine(Uniform):
    def update(self, *_):
        exec("raise KeyboardInterrupt")
"""


@pytest.mark.thorough
def test_an_interrupt_within_exec_has_the_exit_code_of_any_other(tmp_path: Path) -> None:
    """Much is imported by exec(text), as dataclasses are, and Ctrl-C may come just then."""
    (tmp_path / "mine.py").write_text(EXECUTES)
    words = ("algo=uniform", "algo._target_=mine.Mine", "engine=array", "horizon=smoke")
    assert odfl_process("run", *words, cwd=tmp_path).returncode == 130
    assert list(tmp_path.rglob("*.csv")) == []


@pytest.mark.thorough
def test_interrupt_leaves_no_half_written_result(tmp_path: Path, start: Start) -> None:
    process = start(*ODFL, "run", "horizon.rounds=100000000", cwd=tmp_path)
    while not list(tmp_path.rglob(".lock")):
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=LIMIT)
    assert process.returncode == 130
    assert errors.splitlines()[-1] == "odfl: interrupted; unfinished runs left no results"
    assert run_directories(tmp_path) == []
    assert list(tmp_path.rglob("*.csv")) == []
