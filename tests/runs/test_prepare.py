"""A job is prepared once, and what was prepared is still true when it runs."""

import json
import logging
from collections import Counter
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from omegaconf import OmegaConf
from support.commands import interpreter_restored, odfl, run_directories

from odfl_cli.config.compose import compose_job
from odfl_cli.core.errors import BAD_INPUT, FAILED, RoundError, UserError, message, report
from odfl_cli.runs import prepare as module
from odfl_cli.runs.callbacks import check_late_keys
from odfl_cli.runs.records import last_rows

SMALL = ("horizon=smoke", "seeds=2")
STEPS = ("build", "resolve", "inspect")


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Step of preparing a job → how often it was taken."""
    counts: Counter[str] = Counter()

    def count_calls(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            counts[name] += 1
            return function(*arguments)

        return call

    for name in STEPS:
        monkeypatch.setattr(module, name, count_calls(name, getattr(module, name)))
    return counts


def test_a_job_is_built_resolved_and_inspected_once(tmp_path: Path, calls: Counter[str]) -> None:
    """A finished job is not built at all."""
    for built in (1, 0):
        calls.clear()
        done = odfl("run", "algo=uniform", *SMALL, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert [calls[step] for step in STEPS] == [built, 1, 1]


def test_a_directory_that_changed_since_the_check_is_inspected_again(tmp_path: Path) -> None:
    """Two jobs of one directory: the second finds the seed that the first one computed."""
    in_turn = "hydra.launcher.at_once=1"  # side by side, either may come first
    done = odfl(
        "run", "-m", "algo=uniform", "seeds=[0],[0,1]", "horizon=smoke", in_turn, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    (run,) = run_directories(tmp_path)
    log = (run / "run.log").read_text()
    assert "computing seeds [0]," in log
    assert "computing seeds [1]," in log
    assert json.loads((run / "summary.json").read_text())["seeds"] == [0, 1]
    (index,) = tmp_path.glob("outputs/sweeps/*/index.json")
    assert [job["seeds"] for job in json.loads(index.read_text())["jobs"]] == [[0], [0, 1]]


def test_earlier_seeds_keep_their_recorded_values() -> None:
    earlier = {"cost": {4: 0.5, 1: 0.25}}
    table = {"cost": np.array([[9.0, 1.0], [9.0, 2.0]]), "new": np.array([[0.0, 3.0], [0.0, 4.0]])}
    rows = last_rows(table, [1, 7], earlier, [4])
    np.testing.assert_array_equal(rows["cost"], [[1.0], [0.5], [2.0]])
    np.testing.assert_array_equal(rows["new"], [[3.0], [np.nan], [4.0]])


def test_tuned_values_are_named_unless_the_user_sets_them(tmp_path: Path) -> None:
    words = ("algo=df_ogd", "regularizer=quadratic", "horizon=smoke", "seeds=1")
    done = odfl("run", *words, cwd=tmp_path)
    assert "odfl: df_ogd is tuned for quadratic_sin4: algo.c_alpha=" in done.stderr
    (run,) = run_directories(tmp_path)
    summary = json.loads((run / "summary.json").read_text())
    assert "tuned/algo_regularizer=df_ogd_quadratic_sin4" in summary["tuned"]
    done = odfl("run", *words, "algo.c_alpha=5", cwd=tmp_path)
    assert done.returncode == 0
    assert "tuned" not in done.stderr


def test_a_step_size_that_has_no_effect_is_named(tmp_path: Path) -> None:
    words = ("algo=spo", "theta_radius=auto", "algo.eta=0.5", "horizon=smoke", "seeds=1")
    done = odfl("run", *words, cwd=tmp_path)
    assert done.stderr == "odfl: algo.eta: steps adapt without it; algo.step=scheduled uses it\n"
    done = odfl("run", *words, "algo.step=scheduled", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("error", "early", "late", "line"),
    [
        (UserError("a  b\nc"), BAD_INPUT, FAILED, "a b c"),
        (RoundError(1, 2, "no"), BAD_INPUT, FAILED, "no"),
        (MemoryError("1 TiB"), BAD_INPUT, FAILED, "out of memory (1 TiB)"),
        (OSError(28, "No space left", "f"), FAILED, FAILED, "OSError: [Errno 28] No space left"),
        (KeyError("k"), FAILED, FAILED, "KeyError: 'k'"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_errors_and_exit_codes(capsys, error, early, late, line) -> None:
    assert (report(error), report(error, FAILED)) == (early, late)
    assert message(error).startswith(line)
    assert capsys.readouterr().err


def test_keys_that_hydra_reads_late_can_be_protected(tmp_path: Path) -> None:
    """Hydra 1.4 protects its own node, Hydra 1.3 the whole configuration."""
    config = compose_job(["algo=uniform"])
    OmegaConf.set_readonly(config.hydra, True)
    with interpreter_restored(tmp_path), chdir(tmp_path):
        check_late_keys(config)
        logging.getLogger("odfl").warning("a line before the job has its log")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("mode", [[], ["-m"]])
def test_a_users_run_log_in_the_current_directory_is_left_alone(
    tmp_path: Path, mode: list[str]
) -> None:
    (tmp_path / "run.log").write_text("mine")
    done = odfl("run", *mode, "algo=uniform", *SMALL, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "run.log").read_text() == "mine"
