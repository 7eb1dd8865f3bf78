"""The benchmarks compare like with like, and their processes run."""

import json
from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pytest
from support.problems import block_of

from benchmarks.__main__ import PARTS, main
from benchmarks.autograd_loop import df_ogd
from benchmarks.parts.figures import commands
from benchmarks.processes import python
from benchmarks.report import Row, Section, in_units, record, verdict
from benchmarks.timing import job_of
from odfl_cli.engine.compiled_engine import CompiledEngine
from odfl_cli.engine.torch_engine import TorchEngine
from odfl_cli.problem.problem import Horizon
from odfl_cli.runs.simulate import simulate

ROUNDS = 12


@pytest.mark.parametrize("engine", [CompiledEngine(), TorchEngine()], ids=["compiled", "torch"])
@pytest.mark.parametrize("items", [5, 30])
def test_the_autograd_loop_pays_what_the_engines_pay(engine, items):
    """The radius is so small that some steps are projected and others are not."""
    size = (f"data.items={items}", "theta_radius=0.02", "oracle.lr=0.1", "algo.c_eta=0.5")
    job = job_of("algo=df_ogd", *size, "seeds=[3]", rounds=ROUNDS, engine=engine)
    table = simulate(job).table
    data, draws = block_of(job, 0, ROUNDS)
    paid, errors = df_ogd(job.algorithm, data.X[0], data.costs[0], draws["df_ogd/delta"][0])
    np.testing.assert_allclose(table["cost"][0], paid, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(table["mse"][0], errors, rtol=1e-9, atol=1e-9)


SCAN = """
import numpy as np
from benchmarks.jax_scan import play
from benchmarks.timing import job_of
from odfl_cli.core.streams import draw_all
from odfl_cli.engine.compiled_engine import CompiledEngine
from odfl_cli.runs.simulate import simulate

words = "algo=df_ogd", "theta_radius=0.02", "oracle.lr=0.1", "algo.c_eta=0.5", "seeds=[3]"
job = job_of(*words, rounds=12, engine=CompiledEngine())
X, costs = job.environment.rounds(job.seeds, 0, 12)
delta = draw_all(job.seeds, job.algorithm.draws(), 0, 12)["df_ogd/delta"]
paid = play(job.algorithm, X[0], costs[0], delta[0])
print(np.abs(simulate(job).table["cost"][0] - paid).max())
"""


@pytest.mark.skipif(find_spec("jax") is None, reason="the bench extra")
@pytest.mark.thorough
def test_the_scan_in_jax_pays_what_the_compiled_engine_pays(tmp_path):
    """JAX runs in a process of its own, as it has threads and other tests fork."""
    assert float(python("-c", SCAN, cwd=tmp_path).splitlines()[-1]) < 1e-9


def test_pyepo_ends_where_the_array_engine_ends():
    pytest.importorskip("pyepo", reason="the bench extra")
    from benchmarks.pyepo_spo import spo_plus

    job = job_of("algo=spo", "seeds=[3]", rounds=ROUNDS)
    data, _ = block_of(job, 0, ROUNDS)
    theta = spo_plus(job.algorithm.eta, 1.0, data.X[0], data.costs[0])
    np.testing.assert_allclose(simulate(job).state.theta[0], theta, rtol=1e-9, atol=1e-9)


@pytest.mark.thorough
def test_a_weighed_run_tells_its_time_and_memory(tmp_path):
    size = ("algo=pf_ogd", "horizon.rounds=900", "seeds=2")
    printed = python("-m", "benchmarks.weighed_run", *size, cwd=tmp_path)
    result = json.loads(printed.splitlines()[-1])
    assert 10 < result["megabytes"] < 1000
    assert result["rows"] == len(Horizon(rounds=900).logged()) < 900
    assert {"data", "learn"} <= result.keys()


def test_times_and_bounds_in_words():
    assert [in_units(s) for s in (None, 1.6e-6, 0.0027, 1.25)] == [
        "",
        "1.60 µs",
        "2.70 ms",
        "1.25 s",
    ]
    assert verdict(Row("x", 1.0, 3.5, "y")) == ""
    assert verdict(Row("x", 1.0, 3.5, "y", at_most=3.0)) == "≤ 3: MISSED"
    assert verdict(Row("x", 1.0, 3.5, "y", at_least=3.0)) == "≥ 3: met"
    assert verdict(Row("x", megabytes=10.0, below_megabytes=1000.0)) == "< 1000 MB: met"
    assert verdict(Row("x", 1.2e-6, at_most_seconds=1e-6)) == "≤ 1e-06 s: MISSED"


def test_a_recorded_part_replaces_what_was_recorded_of_it(tmp_path):
    file = tmp_path / "speed.csv"
    record("data", [Section("one", [Row("slow", 2.0)])], file)
    record("start", [Section("other", [Row("begins", 1.0, 2.0, "slow", at_most=2.2)])], file)
    record("data", [Section("one", [Row("fast", 1.6e-6)])], file)
    head, *lines = (line.split(",") for line in file.read_text().splitlines())
    assert [line[: len(head) - 1] for line in lines] == [
        ["data", "one", "fast", "1.60 µs", "", "", "", ""],
        ["start", "other", "begins", "1.00 s", "2.00×", "slow", "", "≤ 2.2: met"],
    ]


def test_the_commands_of_make_figures_are_those_of_the_makefile():
    words = commands()
    assert {one[0] for one in words} == {"run", "plot", "report"}
    assert ["run", "experiment=main"] in words


def test_every_part_can_be_measured_alone_and_an_unknown_one_is_refused(capsys):
    for name in PARTS:
        assert callable(import_module(f"benchmarks.parts.{name}").sections)
    assert main(["nothing"]) == 2
    assert f"nothing: there are {', '.join(PARTS)}" in capsys.readouterr().err
