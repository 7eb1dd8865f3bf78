"""Bad input gets one clear line, exit code 2, and nothing is written."""

from pathlib import Path

import pytest
from support.commands import complaints, odfl

REFUSED = [
    (["data.gama=0.5"], ["data.gama", "did you mean data.gamma?"]),
    (["algo=pf_ogd", "algo.etta=1"], ["algo.etta", "did you mean algo.eta?"]),
    (["algo.rate=1"], ["algo.rate: df_ogd has no rate; its keys are c_alpha, c_eta"]),
    (["algo=uniform", "algo.rate=1"], ["algo.rate: uniform has no rate; it has no keys"]),
    (["-m", "algo=pf_ogd,df_ogd", "algo.eta=1"], ["algo.eta: df_ogd has no eta; its keys"]),
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
    (["algo=nope"], ["algo=nope", "df_ftpl, df_moments, df_ogd"]),
    (["experiment=nope"], ["experiment=nope", "misspecification"]),
    (["seeds=[4,4]"], ["seeds=[4, 4]", "twice"]),
    (["seeds=0"], ["seeds=0", "from 1"]),
    (["algo=null"], ["algo=null", "df_ftpl, df_moments, df_ogd"]),
    (["data.gamma=true"], ["data.gamma=true", "should be a number"]),
    (["seeds=[-1]"], ["seeds=[-1]", "between 0"]),
    (["algo=pf_ogd", "algo.eta=-0.1"], ["algo.eta=-0.1", "greater than 0"]),
    (["oracle.lr=-1"], ["oracle.lr=-1", "greater than 0"]),
    (["oracle.every=0"], ["oracle.every=0", "greater than or equal to 1"]),
    (
        ["data=terrain"],
        ["polytope.dimension", "data.items", "choose polytope=", "or shortest_path"],
    ),
    (["data=terrain", "polytope=shortest_path", "data.smooth=101"], ["data.smooth=101", "100"]),
    (["metrics=decisions", "metrics.of=abc"], ["metrics.of=abc", "metrics@metrics.of=NAME"]),
    (["metrics=decisions", "metrics.of=null"], ["metrics.of", "metrics@metrics.of=NAME"]),
    (
        ["polytope=knapsack", "data=stocks", "data.items=${nope.nope}"],
        ["data.items: ", "nope.nope"],
    ),
    (["oracle=exact"], ["oracle=exact", "3 parameters at most", "10 here"]),
    (["oracle=multistart", "oracle.rule=newton"], ["oracle.rule=newton", "'adam'"]),
    (["algo.belief.horizon=0"], ["algo.belief.horizon=0", "greater than 0"]),
    (["polytope.dimension=7"], ["data.items=5", "length 7"]),
    (["polytope=custom"], ["polytope.file", "a value is needed"]),
    (["polytope=box"], ["regularizer", "log_barrier"]),
    (["polytope=budget", "polytope.k=9", "regularizer=log_barrier"], ["polytope", "k"]),
    (["polytope=knapsack", "polytope.capacity=0"], ["polytope.capacity=0", "greater than 0"]),
    (["polytope=shortest_path", "polytope.rows=1", "polytope.columns=1"], ["polytope"]),
    (["kappa=-1"], ["kappa=-1", "greater than or equal to 0"]),
    (["solver.kappa=0.1"], ["solver.kappa=0.1", "written as kappa=0.1"]),
    (["solver=exact"], ["solver=exact", "written as kappa=0"]),
    (["belief=faces_tenfold"], ["belief=faces_tenfold", "written as algo.belief.faces=10"]),
    (["belief.horizon=3"], ["belief.horizon=3", "written as algo.belief.horizon=3"]),
    (["nonsense"], ["nonsense", "key=value"]),
    (["-m", "data.gamma=0,0.5,2"], ["data.gamma=2", "less than or equal to 1"]),
    (["-m", "algo=uniform,nope"], ["algo=nope", "df_ftpl, df_moments, df_ogd"]),
    (["-m", "data.gama=0,1"], ["data.gama", "did you mean data.gamma?"]),
    (["hydra.run.dir=here", "data.gamma=2"], ["data.gamma=2"]),
    (["--config-dir", "missing"], ["missing", "not found"]),
    (
        ["data.gamma=-1"],
        ["data.gamma=-1", "greater than or equal to 0 and less than or equal to 1"],
    ),
    (["algo=df_odg"], ["algo=df_odg", "did you mean df_ogd?"]),
    (["--badflag"], ["--badflag", "no such flag"]),
    (["--algo", "df_ogd"], ["--algo", "settings have no dashes: algo=df_ogd"]),
    (["--gamma=0.5"], ["--gamma=0.5", "settings have no dashes: data.gamma=0.5"]),
    (["algo=uniform", "--badflag", "data.gamma=1"], ["--badflag", "no such flag"]),
    (["--cfg"], ["--cfg", "expected one argument"]),
    (["~algo"], ["~algo", "a job needs its algo", "df_ftpl, df_moments, df_ogd"]),
    (["~data=sin4"], ["~data=sin4", "a job needs its data"]),
    (["data.gamma=0,2", "-m", "algo=uniform"], ["data.gamma=2", "less than or equal to 1"]),
    (["predictor=-inf"], ["predictor=-inf", "affine, ", "linear, "]),
    (["belief=1_000"], ["belief=1_000"]),
    (["horizon=[1,2]"], ["horizon=[1,2]", "long, paper"]),
    (["data.items=1" + 30 * "0"], ["data.items=1", "less than or equal to 4294967295"]),
    (["oracle.steps=1" + 30 * "0"], ["oracle.steps=1", "less than or equal to 4294967295"]),
    (["algo=hedge", "algo.experts=1" + 30 * "0"], ["algo.experts=1", "less than or equal"]),
    (["-m", "data.gamma=range(0,1,0)"], ["data.gamma=range(0,1,0)", "zero"]),
    (["--resolve"], ["--resolve", "--cfg"]),
    (["-m", "-c", "job"], ["--multirun and --cfg"]),
    (["-m", "algo=uniform,pf_ogd", "hydra.sweeper.max_batch_size=0"], ["max_batch_size=0"]),
    (["-m", "algo=uniform,pf_ogd", "hydra.sweeper.max_batch_size=-2"], ["max_batch_size=-2"]),
    (["-m", "algo=uniform,pf_ogd", "hydra.launcher.at_once=-1"], ["hydra.launcher.at_once=-1"]),
    (
        ["-m", "algo=uniform,pf_ogd", "hydra/launcher=joblib", "hydra.launcher.n_jobs=0"],
        ["hydra.launcher.n_jobs=0"],
    ),
    (["algo=restart", "algo.base=abc"], ["algo.base=abc", "choose a file of the group algo"]),
    (
        ["polytope=knapsack", "data=stocks", "data.items=${data.items}"],
        ["data.items: ", "Recursive"],
    ),
    (["data.gamma=${nope.nope}"], ["data.gamma: ", "nope.nope"]),
    (["-m", "data.gamma=${nope.nope},1"], ["data.gamma: ", "nope.nope"]),
    (["data.gamma='???'"], ["data.gamma: a value is needed"]),
    (["algo.c_eta='???'"], ["algo.c_eta: a value is needed"]),
    (["seeds='???'"], ["seeds: a value is needed"]),
    (["engine.device=nope"], ["engine.device=nope"]),
    *(
        (["predictor=torch", f"predictor.module=support.networks.{name}"], [name, word])
        for name, word in {
            "WrongLength": "15 costs",
            "Empty": "no parameters",
            "Poisoned": "not finite",
            "NOT_A_MODULE": "not a class of torch modules",
        }.items()
    ),
    (
        [
            "predictor=conv",
            "data=terrain",
            "polytope=shortest_path",
            "regularizer=quadratic",
            f"predictor.weights={__file__}",
        ],
        ["predictor.weights=", "not a safetensors file"],
    ),
]


@pytest.mark.parametrize(("arguments", "words"), REFUSED, ids=" ".join)
def test_refused_in_one_line(tmp_path: Path, arguments: list[str], words: list[str]) -> None:
    done = odfl("run", *arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    (line,) = complaints(done)
    assert line.startswith("odfl: ")
    for word in words:
        assert word in line
    assert list(tmp_path.iterdir()) == []


def test_threads_that_are_no_number_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    done = odfl("run", "horizon=smoke", cwd=tmp_path, ODFL_THREADS="abc")
    assert done.returncode == 2
    assert complaints(done) == ["odfl: ODFL_THREADS=abc: should be a number of threads, 1 or more"]
    assert list(tmp_path.iterdir()) == []


def test_directory_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "blocked").write_text("a file where a directory is needed")
    done = odfl("run", "horizon=smoke", "outputs=blocked", cwd=tmp_path)
    assert done.returncode == 2
    (line,) = complaints(done)
    assert "blocked" in line
    assert [path.name for path in tmp_path.iterdir()] == ["blocked"]


def test_numbers_that_stop_being_finite(tmp_path: Path) -> None:
    wild = ("data.amplitude=1e300", "data.clip=false", "horizon=smoke", "seeds=[5]")
    done = odfl("run", "algo=pf_ogd", *wild, cwd=tmp_path)
    assert done.returncode == 1  # found after files were written
    (line,) = complaints(done)
    assert "pf_ogd" in line
    assert "seed 5" in line
    assert "round" in line
    assert list(tmp_path.rglob("*.csv")) == []
    assert list(tmp_path.rglob("summary.json")) == []


def test_a_users_own_traceback_is_shown_on_request(tmp_path: Path) -> None:
    done = odfl("run", "data.gama=1", cwd=tmp_path, HYDRA_FULL_ERROR="1")
    assert done.returncode == 2
    assert "Traceback" in done.stderr


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A user's folder with an algorithm that raises, and a file that is not YAML."""
    files = {
        "failing.py": FAILING,
        "conf/algo/mine.yaml": "_target_: failing.Failing\nrate: 0.1\n",
        "conf/algo/broken.yaml": "rate: [1\nother: }\n",
        "conf/algo/lost.yaml": "_target_: elsewhere.Lost\n",
        "conf/algo/endless.yaml": "defaults: [endless_too]\n",
        "conf/algo/endless_too.yaml": "defaults: [endless]\n",
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    (tmp_path / "conf/algo/latin.yaml").write_bytes("größe: 1".encode("latin-1"))
    return tmp_path


FAILING = """\
from odfl_cli.algorithms import Algorithm, settings


@settings
class Failing(Algorithm):
    rate: float = 0.1
    name = "failing"

    def update(self, state, X, costs, draws):
        return helper(costs)


def helper(costs):
    raise KeyError("my mistake")
"""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["algo=mime"], ["algo=mime", "did you mean mine?", "always, broken, clairvoyant"]),
        (["algo=mine", "algo.rat=1"], ["algo.rat", "did you mean algo.rate?"]),
        (["-m", "algo=mine,uniform", "algo.rat=1"], ["algo.rat", "did you mean algo.rate?"]),
        (["algo=broken"], ["broken.yaml, line 2", "not YAML"]),
        (["algo=endless"], ["does not end"]),
        (["algo=lost"], ["algo: elsewhere.Lost: there is no module elsewhere here; start odfl in"]),
        (["algo=latin"], ["latin.yaml: not UTF-8"]),
        (["-m", "algo=uniform,latin"], ["latin.yaml: not UTF-8"]),
        (["-m", "algo=uniform,broken"], ["broken.yaml, line 2", "not YAML"]),
    ],
    ids=str,
)
def test_a_users_own_configuration(own: Path, arguments: list[str], words: list[str]) -> None:
    done = odfl("run", "--config-dir", "conf", *arguments, cwd=own)
    assert done.returncode == 2, done.stderr
    (line,) = complaints(done)
    for word in words:
        assert word in line
    assert not (own / "outputs").exists()


def test_an_exception_in_a_users_algorithm(own: Path) -> None:
    small = ("horizon=smoke", "seeds=1")
    done = odfl("run", "--config-dir", "conf", "algo=mine", *small, cwd=own)
    assert done.returncode == 1
    lines = complaints(done)
    assert lines[0].startswith("Traceback (shortened; HYDRA_FULL_ERROR=1 ")
    assert [line for line in lines if line.startswith("  File ")] == [
        f'  File "{own / "failing.py"}", line 10, in update',
        f'  File "{own / "failing.py"}", line 14, in helper',
    ]
    assert lines[-1] == "KeyError: 'my mistake'"
    whole = odfl("run", "--config-dir", "conf", "algo=mine", *small, cwd=own, HYDRA_FULL_ERROR="1")
    assert whole.returncode == 1
    assert "simulate.py" in whole.stderr
    assert "KeyError: 'my mistake'" in whole.stderr


def test_unknown_verb(tmp_path: Path) -> None:
    done = odfl("rum", cwd=tmp_path)
    assert done.returncode == 2
    (line,) = complaints(done)
    assert line.startswith("odfl: rum: no such verb; did you mean run? there are run, plot, ")
