"""Which engine runs a job, and what is said where there is none."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.commands import odfl, run_directories
from support.problems import (
    choices,
    composed_job,
    make_problem,
    random_rounds,
    runnable,
    with_kernel,
)
from support.processes import LIMIT
from support.samples import marked

from odfl_cli.algorithms.base import Algorithm
from odfl_cli.algorithms.df_ogd import DFOGD
from odfl_cli.core.cores import available_cores
from odfl_cli.core.errors import UserError
from odfl_cli.core.settings import settings
from odfl_cli.engine.array_engine import ArrayEngine
from odfl_cli.engine.auto import Auto
from odfl_cli.engine.base import Engine
from odfl_cli.engine.compiled_engine import CompiledEngine
from odfl_cli.engine.torch_engine import TorchEngine
from odfl_cli.problem.oracles.descent import SGD
from odfl_cli.problem.polytopes.simplex import Simplex
from odfl_cli.problem.predictors.linear import Linear
from odfl_cli.problem.problem import Problem
from odfl_cli.problem.regularizers.entropy import Entropy

ALGORITHMS = with_kernel()


@settings
class Restless(DFOGD):
    """DF-OGD with an update of its own."""

    def update(self, state, X, costs, draws):
        after = super().update(state, X, costs, draws)
        return after._replace(theta=-after.theta)


class Quadratic(Linear):
    """A predictor without a kernel."""


class Triangle(Simplex):
    """A polytope without a kernel."""


class Tsallis(Entropy):
    """A regulariser without a kernel."""


class Momentum(SGD):
    """An oracle without a kernel."""


def foreign(part: str) -> Problem:
    """A problem one part of which is not of this package."""
    problem = make_problem()
    replacement = {
        "predictor": Quadratic(),
        "polytope": Triangle(dimension=4),
        "regularizer": Tsallis(polytope=problem.polytope),
        "oracle": Momentum(),
    }
    return replace(problem, **{part: replacement[part]})


def test_the_papers_algorithms_have_kernels() -> None:
    assert set(ALGORITHMS) == {"df_ogd", "df_ftpl"}


WITHOUT_KERNEL: list[tuple[Algorithm, str]] = [
    (Restless(problem=make_problem()), "algo Restless"),
    (DFOGD(problem=foreign("predictor")), "predictor Quadratic"),
    (DFOGD(problem=foreign("polytope")), "polytope Triangle"),
    (DFOGD(problem=foreign("regularizer")), "regularizer Tsallis"),
    (DFOGD(problem=foreign("oracle")), "oracle Momentum"),
    (replace(composed_job("algo=guard").algorithm, problem=make_problem(kappa=0.1)), "algo Guard"),
]


@pytest.mark.parametrize("algo", ALGORITHMS)
def test_auto_compiles_every_algorithm_with_a_kernel(algo: str) -> None:
    job = composed_job(f"algo={algo}", "engine.threads=3")
    assert job.engine == CompiledEngine(threads=3)
    assert composed_job(f"algo={algo}", "engine=compiled").engine == CompiledEngine()


@pytest.mark.parametrize(
    ("algorithm", "missing"), WITHOUT_KERNEL, ids=[m for _, m in WITHOUT_KERNEL]
)
def test_what_has_no_kernel_is_named_and_runs_in_arrays(algorithm: Algorithm, missing: str) -> None:
    assert Auto().choose(algorithm) == ArrayEngine()
    with pytest.raises(UserError, match="engine=compiled") as refusal:
        CompiledEngine().choose(algorithm)
    assert missing in str(refusal.value)
    assert "engine=array" in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("predictor", ["mlp", "torch"])
def test_auto_takes_torch_for_a_module_alone(predictor: str, tmp_path: Path) -> None:
    job = composed_job(*runnable(f"predictor={predictor}", tmp_path))
    assert job.engine == TorchEngine()
    with pytest.raises(UserError, match="engine=array: the predictor is a torch module"):
        ArrayEngine().choose(job.algorithm)


def test_auto_takes_torch_for_another_device() -> None:
    algorithm = DFOGD(problem=make_problem())
    assert Auto(device="cpu:0").choose(algorithm) == TorchEngine(device="cpu:0")
    assert Auto(device="cpu").choose(algorithm) == CompiledEngine()


def test_auto_says_where_threads_are_not_used(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", logger="odfl"):
        Auto(threads=3).choose(DFOGD(problem=make_problem()))
        Auto().choose(DFOGD(problem=foreign("polytope")))
        assert caplog.records == []
        Auto(threads=3).choose(DFOGD(problem=foreign("polytope")))
        (record,) = caplog.records
    assert "engine.threads=3 is not used: polytope Triangle has no kernel" in record.getMessage()


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity on this system")
def test_threads_are_the_cores_this_process_may_use() -> None:
    cores = os.sched_getaffinity(0)
    script = (
        "import os; from odfl_cli.core.cores import available_cores;"
        f"os.sched_setaffinity(0, {{{min(cores)}}}); print(available_cores())"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.strip() == "1", done.stderr
    assert available_cores() == len(cores)


def test_a_forked_child_gets_threads_of_its_own() -> None:
    """The parent's pool has no threads there and would wait for ever."""
    script = (
        "import os; from odfl_cli.core.cores import on_threads;"
        "on_threads(abs, 4, 2); child = os.fork();"
        "print(sum(on_threads(abs, 4, 2))) if child == 0 else os.waitpid(child, 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=LIMIT
    )
    assert done.stdout.split() == ["6"], done.stderr


@pytest.mark.parametrize("engine", [CompiledEngine(), ArrayEngine()], ids=["compiled", "array"])
def test_overflow_is_found_in_the_trace_and_not_on_the_terminal(engine: Engine) -> None:
    """Warnings are errors here: squares of 1e200 overflow without one."""
    algorithm = replace(composed_job("algo=df_ogd").algorithm, problem=make_problem())
    rounds = random_rounds(2, 3, items=4, features=3)
    engine.start(algorithm)
    state = algorithm.init(2, None)
    large, draws = rounds._replace(costs=1e200 * rounds.costs), {"df_ogd/delta": np.ones((2, 3))}
    _, trace = engine.advance(algorithm, state, large, draws)
    assert not np.isfinite(trace.mse).any()


MINE = """
from odfl_cli.algorithms.gradient import PFOGD
from odfl_cli.core.settings import settings


@settings
class Stubborn(PFOGD):
    def update(self, state, X, costs, draws):
        return state._replace(t=state.t + 1)
"""


def test_a_users_own_algorithm(tmp_path: Path) -> None:
    """auto plays it in arrays; engine=compiled refuses it by name."""
    (tmp_path / "mine.py").write_text(MINE)
    mine = ("algo=pf_ogd", "algo._target_=mine.Stubborn", "horizon=smoke", "seeds=2")
    done = odfl("run", *mine, "engine=compiled", cwd=tmp_path)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "algo Stubborn has no kernel" in line
    assert "engine=array" in line
    assert run_directories(tmp_path) == []
    done = odfl("run", *mine, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert_engine_named(tmp_path, "array")


@pytest.mark.parametrize(
    ("asked", "taken"), [("auto", "compiled"), ("array", "array"), ("torch", "torch")]
)
def test_the_engine_is_named_in_the_log_and_the_summary(
    tmp_path: Path, asked: str, taken: str
) -> None:
    done = odfl("run", "algo=df_ogd", f"engine={asked}", "horizon=smoke", "seeds=2", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert_engine_named(tmp_path, taken)


def assert_engine_named(root: Path, engine: str) -> None:
    (directory,) = run_directories(root)
    summary = json.loads((directory / "summary.json").read_text())
    assert summary["engine"] == engine
    assert f"engine {engine}" in (directory / "run.log").read_text()


@pytest.mark.thorough
@pytest.mark.parametrize(
    "names",
    marked([["df_ogd", "vote", "restart"], choices("algo")], lambda names: len(names) == 3),
    ids=["few", "all"],
)
def test_no_torch_without_a_module(names: list[str], tmp_path: Path) -> None:
    """Every algorithm of the package, from command line to files."""
    sweep = ["run", "-m", f"algo={','.join(names)}", "horizon=smoke", "seeds=2"]
    script = (
        "import sys; from odfl_cli.cli import main;"
        f"code = main({sweep});"
        "heavy = {'torch', 'pandas', 'matplotlib'} & set(sys.modules);"
        "sys.exit(f'imported {heavy}' if heavy else code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    runs = run_directories(tmp_path)
    assert len(runs) == len(names)
