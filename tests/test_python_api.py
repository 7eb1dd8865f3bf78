"""`from odfl_cli import run` is the command line without its files."""

import subprocess
import sys
from functools import partial

import pandas as pd
import pytest
from support.commands import odfl, run_directories

from odfl_cli import run
from odfl_cli.algorithms import PFOGD
from odfl_cli.core.errors import UserError
from odfl_cli.environments import Sin4
from odfl_cli.problem.polytopes import Box
from odfl_cli.problem.regularizers import LogBarrier


@pytest.mark.parametrize("algo", ["df_ogd", "df_ftpl"])
def test_the_numbers_are_those_of_the_command_line(tmp_path, algo):
    overrides = [f"algo={algo}", "data.gamma=0.5", "horizon=smoke", "seeds=[3,1]"]
    done = odfl("run", *overrides, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (directory,) = run_directories(tmp_path)
    result = run(*overrides)
    assert list(result.final.index) == [3, 1]
    for seed, rows in result.rows.groupby("seed"):
        written = pd.read_csv(directory / f"seed-{seed}.csv", dtype=str).astype(float)
        computed = rows.drop(columns="seed").reset_index(drop=True).astype(float)
        pd.testing.assert_frame_equal(computed, written, check_exact=True)


def test_objects_stand_in_for_groups():
    by_name = run("algo=pf_ogd", "algo.eta=0.02", "data.items=7", "horizon=smoke", "seeds=2")
    by_object = run("horizon=smoke", "seeds=2", data=Sin4(items=7), algo=partial(PFOGD, eta=0.02))
    pd.testing.assert_frame_equal(by_name.rows, by_object.rows, check_exact=True)
    assert by_object.state.theta.shape == (2, 10)


def test_a_polytope_and_its_regulariser_as_objects():
    box = {"polytope": Box(dimension=5, lower=-1.0), "regularizer": LogBarrier}
    by_name = run("polytope=box", "polytope.lower=-1", "regularizer=log_barrier", "horizon=smoke")
    pd.testing.assert_frame_equal(run("horizon=smoke", **box).rows, by_name.rows)


def test_mistakes_are_told_in_one_line():
    for mistake, told in (
        (lambda: run("algo=nope"), "no such choice"),
        (lambda: run("data.gama=1"), "gama"),
        (lambda: run("data.gamma=3"), "data.gamma=3"),
        (lambda: run(colour="red"), "no such group"),
        (lambda: run(polytope=Box(dimension=3)), "must agree"),
        (lambda: run(algo=partial(PFOGD, eta=-1)), "algo.eta=-1"),
    ):
        with pytest.raises(UserError) as refusal:
            mistake()
        assert told in str(refusal.value)
        assert "\n" not in str(refusal.value)


def test_the_package_itself_imports_nothing_heavy():
    code = "import sys, odfl_cli; assert not {'numpy', 'hydra', 'torch'} & set(sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
