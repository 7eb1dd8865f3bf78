"""Bad input gets one clear line, exit code 2, and nothing is written."""

from pathlib import Path

import pytest
from support.commands import complaints, odfl
from support.samples import some_of

from odfl_cli.config.compose import compose_job
from odfl_cli.config.explain import explain_errors
from odfl_cli.core.errors import UserError
from odfl_cli.runs.prepare import prepare

REFUSED = [  # a value out of its range once: tests/config/test_schema.py has the others
    (["data.gama=0.5"], ["data.gama", "did you mean data.gamma?"]),
    (["algo=pf_ogd", "algo.etta=1"], ["algo.etta", "did you mean algo.eta?"]),
    (["algo.rate=1"], ["algo.rate: df_ogd has no rate; its keys are c_alpha, c_eta"]),
    (["algo=uniform", "algo.rate=1"], ["algo.rate: uniform has no rate; it has no keys"]),
    (["-m", "algo=pf_ogd,df_ogd", "algo.eta=1"], ["algo.eta: df_ogd has no eta; did you mean algo.c_eta? its"]),
    (["+data.extra=1"], ["data.extra", "no such key"]),
    (["data.gamma=2"], ["data.gamma=2", "less than or equal to 1"]),
    (["horizon=1000"], ["horizon=1000", "horizon.rounds", "paper"]),
    (["algo=nope"], ["algo=nope", "df_ftpl, df_moments, df_ogd"]),

    (["algo=null"], ["algo=null", "df_ftpl, df_moments, df_ogd"]),
    (["predictor=conv"], ["predictor=conv", "--config-dir reproduce/conf"]),
    (["data=prices"], ["data=prices", "--config-dir reproduce/conf experiment=prices"]),
    (["experiment=terrain"], ["--config-dir reproduce/conf experiment=terrain"]),
    (["polytope=knapsack", "data=stocks", "data.items=${nope.nope}"], ["data.items: ", "nope.nope"]),
    (["polytope=custom"], ["polytope.file", "a value is needed"]),
    (["solver.kappa=0.1"], ["solver.kappa=0.1", "written as kappa=0.1"]),
    (["solver=exact"], ["solver=exact", "written as kappa=0"]),
    (["belief=faces_tenfold"], ["belief=faces_tenfold", "written as algo.belief.faces=10"]),
    (["belief.horizon=3"], ["belief.horizon=3", "written as algo=df_ftpl algo.belief.horizon=3"]),
    (["algo.belief.horizon=3"], ["algo.belief.horizon", "df_ogd has no belief.horizon"]),
    (["nonsense"], ["nonsense", "key=value"]),
    (["data.gamma=0,", "0.5"], ["data.gamma=0,: a value is missing after the comma; values have no"]),
    (["-m", "algo.c_eta=logspace(-2,0,5)"], ["list the values, as in algo.c_eta=0.01,0.1,1"]),
    (["objective=avg_cots"], ["objective=avg_cots", "did you mean avg_cost?"]),
    (["objective=t"], ["objective=t: there is no such column"]),
    (["force=maybe"], ["force=maybe"]),
    (["retry=all"], ["retry=all"]),
    (["eta=0.1"], ["eta: there is no such key; did you mean algo.c_eta?"]),
    (["-m", "algo=df_ogd", "hydra.sweeper.params={a:1}"], ["a: there is no such key, although hydra.sweeper.params"]),

    (["data.file=x.csv"], ["data.file: sin4 has no file; data=replay has it; its keys"]),
    (["algo=df_ogd data.gamma=0.5"], ["several overrides in one pair of quotes; quote each alone"]),
    (["algo._target_="], ["algo._target_=: name a class, as in algo._target_=my_module.MyClass"]),
    (["T=100"], ["T=100: this is written as horizon.rounds=100"]),
    (["engine=gpu"], ["engine=gpu", "engine=torch engine.device=cuda"]),
    (["-m", "data.gamma=0,0.5,2"], ["data.gamma=2", "less than or equal to 1"]),
    (["-m", "algo=uniform,nope"], ["algo=nope", "df_ftpl, df_moments, df_ogd"]),
    (["-m", "data.gama=0,1"], ["data.gama", "did you mean data.gamma?"]),
    (["hydra.run.dir=here", "data.gamma=2"], ["data.gamma=2"]),
    (["--config-dir", "missing"], ["--config-dir missing: directory not found"]),
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
    (["-m", "data.gamma=range(0,1,0)"], ["data.gamma=range(0,1,0)", "zero"]),
    (["seeds=range(1000,1003)"], ["seeds=range(1000,1003)", "write seeds=1000-1019 or seeds=[0-9,20]"]),
    (["--resolve"], ["--resolve", "--cfg"]),
    (["-m", "-c", "job"], ["--multirun and --cfg"]),
    (["-m", "algo=uniform,pf_ogd", "hydra.sweeper.max_batch_size=0"], ["max_batch_size=0"]),
    (["-m", "algo=uniform,pf_ogd", "hydra.launcher.at_once=-1"], ["hydra.launcher.at_once=-1"]),
    (["-m", "algo=uniform,pf_ogd", "hydra/launcher=joblib", "hydra.launcher.n_jobs=0"], ["hydra.launcher.n_jobs=0"]),
    (["algo=restart", "algo.base=abc"], ["algo.base=abc", "choose a file of the group algo"]),
    (["polytope=knapsack", "data=stocks", "data.items=${data.items}"], ["data.items: ", "Recursive"]),
    (["data.gamma=${nope.nope}"], ["data.gamma: ", "nope.nope"]),
    (["engine=${nope.nope}"], ["engine=", "nope.nope"]),
    (["-m", "algo=spo,pf_ogd", "algo.eta=0.1"], ["write algo.eta=choice(0.1)"]),
    (["-m", "data.gamma=${nope.nope},1"], ["data.gamma: ", "nope.nope"]),
    (["data.gamma='???'"], ["data.gamma: a value is needed"]),

    (["seeds='???'"], ["seeds: a value is needed"]),
    (["+data=-1e308"], ["+data=-1e308: no such choice; there are ", "sin4"]),
    (["algo@algo.base=5"], ["algo@algo.base=5: no such choice"]),
    (["hydra/launcher=false"], ["hydra/launcher=false: no such choice", "odfl, ray"]),
    (["hydra/job_logging=nope"], ["hydra/job_logging=nope: no such choice", "there are default, disabled"]),
    (["~hydra/help=1_000"], ["~hydra/help=1_000", "must be a string"]),
    (["-m", "data.gamma=choice('\x1b',1)"], ["data.gamma=\\x1b: not of the form"]),
    (["~experiment=true"], ["~experiment=true: ", "must be a string"]),
    (["+hydra/help=[1]"], ["+hydra/help=[1]: "]),
    (["hydra.job_logging.version=2"], ["hydra.job_logging.version=2: ", "Unsupported version"]),
    (["hydra.job_logging.handlers.console.class=nope.Nope"],
     ["hydra.job_logging.handlers.console.class=nope.Nope: ", "Cannot resolve 'nope.Nope'"]),
    (["hydra.job_logging.formatters.simple.format=abc"],
     ["hydra.job_logging.formatters.simple.format=abc: ", "Invalid format 'abc'"]),
    (["hydra.job_logging.formatters.simple.format=${threads_per_job:}"],
     ["hydra.job_logging.formatters.simple.format: ", "threads_per_job"]),
    (["-m", "hydra.job_logging.handlers.console.level=${oc.env:NOPE}"], ["NOPE"]),
    (["hydra.job.chdir=${nope.nope}"], ["hydra.job.chdir: ", "nope.nope"]),
    (["-m", "hydra.job.chdir='???'"], ["hydra.job.chdir: a value is needed"]),
    (["hydra.job.chdir=${data.items}"], ["hydra.job.chdir: ", "data.items"]),
    (["-m", "hydra.job.env_set='???'"], ["hydra.job.env_set: a value is needed"]),
    (["+hydra.job.env_set.A=${nope.nope}"], ["hydra.job.env_set.A: ", "nope.nope"]),
    (["-m", "hydra.launcher._target_=abc"], ["hydra.launcher._target_=abc: not a launcher"]),
    (["-m", "hydra.sweeper._target_=abc"], ["hydra.sweeper._target_=abc: not a sweeper"]),
    (["-m", "hydra.sweeper.params=abc"], ["hydra.sweeper.params=abc: should be keys"]),
    (["hydra.output_subdir=/dev/null"], ["/dev/null: it is in the way of Hydra's folder"]),
    (["hydra.job.env_copy=[1]"], ["hydra.job.env_copy=[1]: KeyError"]),
    (["--experimental-rerun="], ["--experimental-rerun: pickles are not loaded; odfl show repeats"]),
    (["--config-dir="], ["--config-dir : directory not found"]),
    (["-sc"], ["install", "query"]),
    (["algo=" + "q" * 5000], ["algo=" + "q" * 75 + "…: the name is too long"]),
    (["data.gamma=" + "x" * 100_000], ["data.gamma=" + "x" * 69 + "…: should be a valid number"]),
    (["data.gamma=" + "ab " * 600], ["data.gamma=" + ("ab " * 27)[:80] + "…: should be a valid number"]),
    (["outputs=" + "q" * 5000], ["outputs=" + "q" * 72 + "…: the name is too long"]),
    (["data.gamma=[" + "1," * 600 + "1]"], ["data.gamma=[1, 1, ", "…]: should be a valid number"]),
    (["continue=nonesuch"], ["continue: nonesuch: no such directory, sweep or run in outputs"]),
    (["algo=vote", "algo.experts=[[1],[2]]"], ["algo.experts: no [1] in algo.settings"]),
    (["algo=pool", "algo.learner=red"], ["algo.learner: no red in algo.settings"]),
    (["seeds=[" + "1," * 600 + "1]"], ["seeds=", "…", "no seed may appear twice"]),
    (["engine=torch", "engine.threads=2"], ["engine.threads: torch has no threads", "dtype"]),
    (["engine=2"], ["engine=2", "no such choice", "array, auto, compiled, torch"]),
]  # fmt: skip
CONTRACTS = [
    ("predictor", "builtins.open", "Predictor in odfl_cli.problem.predictors.base"),
    ("predictor", "sys.exit", "Predictor in odfl_cli.problem.predictors.base"),
    ("predictor", "torch.nn.Linear", "Predictor in odfl_cli.problem.predictors.base"),
    ("predictor", "odfl_cli.engine.auto.Auto", "Predictor in odfl_cli.problem.predictors.base"),
    ("algo", "collections.OrderedDict", "Algorithm in odfl_cli.algorithms.base"),
    ("data", "collections.OrderedDict", "Environment in odfl_cli.environments.base"),
    ("polytope", "builtins.print", "DecisionSet in odfl_cli.problem.polytopes.linear"),
    ("regularizer", "builtins.dict", "Regularizer in odfl_cli.problem.regularizers.base"),
    ("oracle", "builtins.dict", "Oracle in odfl_cli.problem.oracles.base"),
    ("horizon", "builtins.dict", "Horizon in odfl_cli.problem.problem"),
    ("engine", "builtins.dict", "EngineChoice in odfl_cli.engine.base"),
    ("metrics", "odfl_cli.engine.auto.Auto", "Metrics in odfl_cli.metrics.base"),
]


TYPED = ("data.gama=0.5", "data.gamma=2", "algo=nope", "polytope=custom", "nonsense", "seeds='???'")
"""What the command is tried with where the mistake is one of a single job."""
WHOLE = ("-", "hydra.", "+hydra.", "outputs=")  # of what a composed job does not show
JOBS = [case for case in REFUSED if not any(word.startswith(WHOLE) for word in case[0])]
COMMANDS = [case for case in REFUSED if case not in JOBS or case[0][0] in TYPED]


def name_words(words: list[str]) -> str:
    """The name of a test."""
    return " ".join(words)[:80]


def check_job(arguments: list[str], directory: Path) -> None:
    """Checks a job as `odfl run` does before it writes."""
    with explain_errors(arguments):
        config = compose_job(arguments)
        prepare(config, config.hydra, directory)


@pytest.mark.parametrize(("arguments", "words"), some_of(JOBS, 8), ids=name_words)
def test_a_job_is_refused_in_one_line(
    tmp_path: Path, arguments: list[str], words: list[str]
) -> None:
    """Composed once; Hydra composes twice for a command."""
    with pytest.raises(UserError) as refused:
        check_job(arguments, tmp_path / "run")
    assert list(tmp_path.iterdir()) == []
    assert "\n" not in str(refused.value)
    for word in words:
        assert word in str(refused.value)


@pytest.mark.parametrize(("group", "target", "contract"), some_of(CONTRACTS, 4))
def test_a_part_that_is_not_what_its_room_asks_for_is_refused_by_the_contract(
    tmp_path: Path, group: str, target: str, contract: str
) -> None:
    with pytest.raises(UserError, match=f"{group}: {target}: .* its contract is {contract}$"):
        check_job([f"{group}._target_={target}"], tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("arguments", "words"), some_of(COMMANDS, 8), ids=name_words)
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


@pytest.mark.thorough
def test_numbers_that_stop_being_finite(tmp_path: Path) -> None:
    wild = ("data.amplitude=1e300", "data.clip=false", "horizon=smoke", "seeds=[5]", "engine=array")
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
def folder(tmp_path: Path) -> Path:
    """A user's folder with an algorithm that raises, and a file that is not YAML."""
    files = {
        "failing.py": FAILING,
        "conf/algo/mine.yaml": "_target_: failing.Failing\nrate: 0.1\n",
        "conf/algo/broken.yaml": "rate: [1\nother: }\n",
        "conf/algo/control.yaml": "rate: \x01\n",
        "conf/algo/numbers.yaml": "defaults: [5]\n",
        "conf/algo/open.yaml": "rate: ${data.items\n",
        "conf/algo/scalar.yaml": "5\n",
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
from odfl_cli.algorithms.base import Algorithm
from odfl_cli.core.settings import settings


@settings
class Failing(Algorithm):
    rate: float = 0.1
    left_out: float = 1.0
    name = "failing"

    def update(self, state, X, costs, draws):
        return helper(costs)


def helper(costs):
    raise KeyError("my mistake")
"""


@pytest.mark.parametrize(
    ("arguments", "words"),
    some_of(
        [
            (["algo=mime"], ["algo=mime", "did you mean mine?", "always, broken, clairvoyant"]),
            (["algo=mine", "algo.rat=1"], ["algo.rat", "did you mean algo.rate?"]),
            (
                ["algo=mine", "algo.left_out=2"],
                ["mine.yaml does not list left_out", "+algo.left_out="],
            ),
            (["-m", "algo=mine,uniform", "algo.rat=1"], ["algo.rat", "did you mean algo.rate?"]),
            (["algo=broken"], ["broken.yaml, line 2", "not YAML"]),
            (["algo=endless"], ["does not end"]),
            (
                ["algo=control"],
                ["conf/algo/control.yaml: not YAML (special characters are not allowed)"],
            ),
            (["algo=numbers"], ["Unsupported type in defaults : int"]),
            (["algo=open"], ["conf/algo/open.yaml: cannot be read (no viable alternative at"]),
            (["-m", "algo=uniform,scalar"], ["conf/algo/scalar.yaml: cannot be read (Invalid"]),
            (
                ["algo=lost"],
                ["algo: elsewhere.Lost: there is no module elsewhere here; start odfl in"],
            ),
            (["algo=latin"], ["latin.yaml: not UTF-8"]),
            (["-m", "algo=uniform,latin"], ["latin.yaml: not UTF-8"]),
        ],
        4,
    ),
    ids=str,
)
def test_a_users_own_configuration(folder: Path, arguments: list[str], words: list[str]) -> None:
    done = odfl("run", "--config-dir", "conf", *arguments, cwd=folder)
    assert done.returncode == 2, done.stderr
    (line,) = complaints(done)
    for word in words:
        assert word in line
    assert not (folder / "outputs").exists()


def test_an_exception_in_a_users_algorithm(folder: Path) -> None:
    small = ("horizon=smoke", "seeds=1")
    done = odfl("run", "--config-dir", "conf", "algo=mine", *small, cwd=folder)
    assert done.returncode == 1
    lines = complaints(done)
    assert lines[0].startswith("Traceback (shortened; HYDRA_FULL_ERROR=1 ")
    assert [line for line in lines if line.startswith("  File ")] == [
        f'  File "{folder / "failing.py"}", line 12, in update',
        f'  File "{folder / "failing.py"}", line 16, in helper',
    ]
    assert lines[-1] == "KeyError: 'my mistake'"
    whole = odfl(
        "run", "--config-dir", "conf", "algo=mine", *small, cwd=folder, HYDRA_FULL_ERROR="1"
    )
    assert whole.returncode == 1
    assert "simulate.py" in whole.stderr
    assert "KeyError: 'my mistake'" in whole.stderr


def test_unknown_verb(tmp_path: Path) -> None:
    done = odfl("rum", cwd=tmp_path)
    assert done.returncode == 2
    (line,) = complaints(done)
    assert line.startswith("odfl: rum: no such verb; did you mean run? there are run, plot, ")
