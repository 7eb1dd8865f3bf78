"""Input that is plausible and wrong, or right and rare: one line, and never a wrong result."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.commands import complaints, odfl, run_directories
from support.processes import LIMIT
from support.samples import marked, some_of
from support.synthetic_runs import write_run

from odfl_cli.core.reading import SEAL, is_intact, seal
from odfl_cli.results.runs import inspect
from odfl_cli.results.sweeps import IndexJob, read_index, update_index, write_index

SMALL = ("horizon.rounds=3", "seeds=1", "data.items=3", "data.features=2")


@pytest.mark.parametrize("note", some_of(["t", "cost", "avg_cost", "static_regret", "nope"], 2))
def test_a_note_that_is_a_column_or_nothing_is_refused(tmp_path: Path, note: str) -> None:
    done = odfl("run", *SMALL, "metrics=regret", f"metrics.notes=[{note}]", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"odfl: metrics.notes: {note} is no note of df_ogd")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.thorough
def test_one_round_with_regret(tmp_path: Path) -> None:
    words = ("horizon.rounds=1", "metrics=regret", "metrics.sample=2", "metrics.margin=true")
    done = odfl("run", *SMALL, *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "grid",
    [("data.gamma=range(0,1000000000)",), ("data.gamma=range(0,1,0.01)", "data.items=range(2,50)")],
)
def test_a_huge_sweep_is_refused_before_it_is_listed(tmp_path: Path, grid: tuple[str, ...]) -> None:
    done = odfl("run", "-m", *SMALL, *grid, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        "odfl: most_jobs=1000: the sweep has more jobs than that; a higher value allows it\n"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.thorough
def test_the_number_of_jobs_that_is_allowed(tmp_path: Path) -> None:
    grid = ("run", "-m", *SMALL, "data.gamma=0,0.5,1")
    assert odfl(*grid, "most_jobs=2", cwd=tmp_path).returncode == 2
    assert odfl(*grid, "most_jobs=3", cwd=tmp_path).returncode == 0
    again = odfl(*grid, cwd=tmp_path)
    assert "3 jobs: 0 done, 3 skipped" in again.stdout  # the key names no other run or sweep


def test_logarithmic_axes_need_positive_values(tmp_path: Path) -> None:
    for gamma in (0.0, 0.5, 1.0):
        write_run(tmp_path / f"run-{gamma}", config={"data.gamma": gamma})
    done = odfl("plot", ".", "--x", "data.gamma", "--loglog", "--out", "figures", cwd=tmp_path)
    assert done.returncode == 2
    assert complaints(done) == ["odfl: data.gamma=0: on logarithmic axes it should be above 0"]


@pytest.mark.thorough
def test_a_run_that_never_chose_anything_says_so(tmp_path: Path) -> None:
    words = ("polytope=knapsack", "data=polynomial", "regularizer=quadratic", *SMALL)
    done = odfl("run", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "the decision was zero in every round" in done.stderr
    assert "the decision was zero" not in odfl("run", *SMALL, cwd=tmp_path).stderr


def test_an_edited_summary_is_not_believed(tmp_path: Path) -> None:
    assert odfl("run", *SMALL, cwd=tmp_path).returncode == 0
    (run,) = run_directories(tmp_path)
    path = run / "summary.json"
    content = json.loads(path.read_text())
    assert is_intact(content)
    content["final"]["avg_cost"]["per_seed"] = [-1.0]
    path.write_text(json.dumps(content))
    assert inspect(run).state == "damaged"
    assert inspect(run).reason == "summary.json: it is not what was written"
    assert "-1.0" not in odfl("best", "outputs", cwd=tmp_path).stdout
    content.pop(SEAL)  # as 0.2.0 wrote it
    path.write_text(json.dumps(content))
    assert inspect(run).state == "finished"


def test_a_seal_does_not_depend_on_layout_but_on_every_value() -> None:
    record = {"a": [1, 2.5, 10**30], "b": {"x": None, "y": "ü"}, "c": (1, 2)}
    written = json.loads(json.dumps(seal(record)))
    assert is_intact(dict(reversed(written.items())))
    for changed in ({"a": [1, 2.5]}, {"b": {}}, {"c": [2, 1]}, {"d": 0}, {SEAL: None}):
        assert not is_intact({**written, **changed})


def test_sweeps_of_one_name_keep_each_others_jobs(tmp_path: Path) -> None:
    """Both start, then both end."""
    sweep = tmp_path / "sweeps" / "x"
    sweep.mkdir(parents=True)
    first, second = ([IndexJob([f"a={n}"], tmp_path / f"run-{n}", (0,))] for n in (1, 2))
    write_index(sweep, first)
    write_index(sweep, second)
    update_index(sweep, first)
    update_index(sweep, second)
    assert {job.directory.name for job in read_index(sweep)} == {"run-1", "run-2"}


@pytest.mark.parametrize("streams", [">&-", "2>&-", ">&- 2>&- <&-", "| cat"])
def test_closed_and_ascii_streams(tmp_path: Path, streams: str) -> None:
    """A file must not take the number of a closed stream and receive what is printed."""
    write_run(tmp_path / "ünï")
    command = f"{sys.executable} -m odfl_cli list . {streams}"
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        timeout=LIMIT,
    )
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr


EXIT = "SystemExit: 5"
BROKEN = {"raise SystemExit(5)": EXIT, "class Mine(": "SyntaxError", "1 / 0": "ZeroDivisionError"}
PART = BROKEN | {"class Mine:\n    def __init__(self, **_):\n        raise SystemExit(5)": EXIT}
TORCH = "import torch\nclass Mine(torch.nn.Linear):\n    "
OWN = {
    TORCH + "def __init__(self):\n        raise SystemExit(5)": EXIT,
    TORCH + "def __init__(self):\n        super().__init__(2, 1)\n"
    "    def forward(self, X):\n        raise SystemExit(5)": EXIT,
}


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        *((("data._target_=mine.Mine",), code, told) for code, told in PART.items()),
        *((("predictor=torch", "predictor.module=mine.Mine"), *case) for case in OWN.items()),
        *marked(
            [
                *((("algo._target_=mine.Mine",), *case) for case in PART.items()),
                *(
                    (("predictor=torch", "predictor.module=mine.Mine"), *case)
                    for case in BROKEN.items()
                ),
            ],
            lambda _: False,
        ),
    ],
)
def test_a_file_of_the_users_that_breaks_is_one_line(
    tmp_path: Path, words: tuple[str, ...], code: str, told: str
) -> None:
    (tmp_path / "mine.py").write_text(f"{code}\n")
    done = odfl("run", *SMALL, *words, cwd=tmp_path)
    assert done.returncode == 2
    (line,) = complaints(done)
    assert line.startswith(f"odfl: {words[-1].partition('._target_')[0].partition('=')[0]}")
    assert told in line
    assert not (tmp_path / "outputs").exists()


EXITS = """
from odfl_cli import Algorithm

class Mine(Algorithm):
    name = "mine"

    def update(self, state, X, costs, draws):
        raise SystemExit(5)
"""


def test_a_part_that_exits_in_a_round_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(EXITS)
    done = odfl("run", *SMALL, "algo=uniform", "algo._target_=mine.Mine", cwd=tmp_path)
    assert done.returncode == 1
    (record,) = tmp_path.rglob("failed.json")
    assert EXIT in json.loads(record.read_text())["error"]
    assert complaints(done)[-1] == f"odfl: a part ended the program, {EXIT}"
    assert not list(tmp_path.rglob("*.csv"))
