"""Bad input gets one clear line, exit code 2, and nothing is written."""

from pathlib import Path

import pytest
from commands import complaints, odfl

REFUSED = [
    (["data.gama=0.5"], ["data.gama", "did you mean data.gamma?"]),
    (["algo=pf_ogd", "algo.etta=1"], ["algo.etta", "did you mean algo.eta?"]),
    (["+data.extra=1"], ["data.extra", "no such key"]),
    (["horizon.rounds=abc"], ["horizon.rounds=abc", "valid integer"]),
    (["data.clip=maybe"], ["data.clip=maybe", "valid boolean"]),
    (["data.gamma=2"], ["data.gamma=2", "less than or equal to 1"]),
    (["data.rho=1"], ["data.rho=1", "less than 1"]),
    (["data.items=1"], ["data.items=1", "greater than or equal to 2"]),
    (["horizon.rounds=0"], ["horizon.rounds=0", "greater than or equal to 1"]),
    (["horizon=1000"], ["horizon=1000", "horizon.rounds", "paper"]),
    (["theta_radius=-1"], ["theta_radius=-1", "greater than 0"]),
    (["theta_radius=nan"], ["theta_radius=nan", "finite"]),
    (["algo=nope"], ["algo=nope", "df_ftpl, df_ogd"]),
    (["experiment=nope"], ["experiment=nope", "misspecification"]),
    (["seeds=[4,4]"], ["seeds=[4, 4]", "twice"]),
    (["seeds=0"], ["seeds=0", "from 1"]),
    (["algo=null"], ["algo=null", "df_ftpl, df_ogd"]),
    (["data.gamma=true"], ["data.gamma=true", "should be a number"]),
    (["seeds=[-1]"], ["seeds=[-1]", "between 0"]),
    (["algo=pf_ogd", "algo.eta=-0.1"], ["algo.eta=-0.1", "greater than 0"]),
    (["oracle.lr=-1"], ["oracle.lr=-1", "greater than 0"]),
    (["oracle.every=0"], ["oracle.every=0", "greater than or equal to 1"]),
    (["oracle=exact"], ["oracle=exact", "3 parameters at most", "10 here"]),
    (["oracle=multistart", "oracle.rule=newton"], ["oracle.rule=newton", "'adam'"]),
    (["belief.horizon=0"], ["belief.horizon=0", "greater than 0"]),
    (["polytope.dimension=7"], ["data.items=5", "length 7"]),
    (["polytope=custom"], ["polytope.file", "a value is needed"]),
    (["polytope=box"], ["regularizer", "log_barrier"]),
    (["polytope=budget", "polytope.k=9", "regularizer=log_barrier"], ["polytope", "k"]),
    (["polytope=knapsack", "polytope.capacity=0"], ["polytope.capacity=0", "greater than 0"]),
    (["polytope=shortest_path", "polytope.rows=1", "polytope.columns=1"], ["polytope"]),
    (["solver.kappa=-1"], ["solver.kappa=-1", "greater than or equal to 0"]),
    (["nonsense"], ["nonsense", "key=value"]),
    (["-m", "data.gamma=0,0.5,2"], ["data.gamma=2", "less than or equal to 1"]),
    (["-m", "algo=uniform,nope"], ["algo=nope", "df_ftpl, df_ogd"]),
    (["-m", "data.gama=0,1"], ["data.gama", "did you mean data.gamma?"]),
    (["hydra.run.dir=here", "data.gamma=2"], ["data.gamma=2"]),
    (["--config-dir", "missing"], ["missing", "not found"]),
]


@pytest.mark.parametrize(("arguments", "words"), REFUSED, ids=" ".join)
def test_refused_in_one_line(tmp_path: Path, arguments: list[str], words: list[str]) -> None:
    done = odfl("run", *arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert done.stderr.startswith("odfl: ")
    for word in words:
        assert word in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_directory_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "blocked").write_text("a file where a directory is needed")
    done = odfl("run", "horizon=smoke", "outputs=blocked", cwd=tmp_path)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "blocked" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["blocked"]


def test_numbers_that_stop_being_finite(tmp_path: Path) -> None:
    wild = ("data.amplitude=1e300", "data.clip=false", "horizon=smoke", "seeds=[5]")
    done = odfl("run", "algo=pf_ogd", *wild, cwd=tmp_path)
    assert done.returncode == 2
    (line,) = complaints(done)
    assert "pf_ogd" in line
    assert "seed 5" in line
    assert "round" in line
    assert list(tmp_path.rglob("*.csv")) == []
    assert list(tmp_path.rglob("summary.json")) == []


def test_a_users_own_traceback_is_shown_on_request(tmp_path: Path) -> None:
    done = odfl("run", "data.gama=1", cwd=tmp_path, HYDRA_FULL_ERROR="1")
    assert done.returncode == 1
    assert "Traceback" in done.stderr


def test_unknown_verb(tmp_path: Path) -> None:
    done = odfl("rum", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "odfl: rum: no such verb; there are run and plot\n"
