"""`run`, `sweep` and `load` from Python are the command line without its files."""

import ast
import inspect
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.commands import odfl, run_directories
from support.samples import some_of

import odfl_cli
from odfl_cli import Algorithm, Result, UserError, load, run, settings, sweep
from odfl_cli.algorithms.gradient import PFOGD
from odfl_cli.environments.replay.environment import Replay
from odfl_cli.environments.sin4 import Sin4
from odfl_cli.plotting.style import LINE_STYLES
from odfl_cli.problem.polytopes.box import Box
from odfl_cli.problem.predictors.linear import Linear
from odfl_cli.problem.problem import Horizon
from odfl_cli.problem.regularizers.log_barrier import LogBarrier
from odfl_cli.results.tables import Run

ALGORITHMS, GAMMAS = ["pf_ogd", "df_ftpl"], [0, 0.5]


def assert_same(one: pd.DataFrame, other: pd.DataFrame, **tolerance: float) -> None:
    """The same rows in any order."""
    order = [name for name in ("algo", "data.gamma", "seed", "t") if name in one]
    one, other = (table.sort_values(order, ignore_index=True) for table in (one, other))
    pd.testing.assert_frame_equal(one, other, check_exact=not tolerance, **tolerance)


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of a sweep, written by the command line."""
    folder = tmp_path_factory.mktemp("grid")
    grid = "algo=pf_ogd,df_ftpl", "data.gamma=0,0.5", "seeds=[3,1]", "horizon=smoke", "sweep=grid"
    done = odfl("run", "-m", *grid, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def swept() -> Result:
    """The same in memory."""
    return sweep(algo=ALGORITHMS, data={"gamma": GAMMAS}, seeds=[3, 1], horizon="smoke")


@pytest.mark.thorough
def test_the_numbers_are_those_of_the_command_line(outputs: Path, swept: Result) -> None:
    assert len(run_directories(outputs)) == len(swept) == 4
    by_algorithm = {directory.name.split("-")[0] for directory in run_directories(outputs)}
    assert by_algorithm == set(ALGORITHMS)
    for directory in run_directories(outputs):
        (loaded,) = load(directory)
        given = loaded.runs[0].settings
        alone = run(
            algo=given["algo"], data={"gamma": given["data.gamma"]}, seeds=[3, 1], horizon="smoke"
        )
        assert list(alone.final.index) == [3, 1]
        for seed, rows in alone.rows.groupby("seed"):
            written = pd.read_csv(directory / f"seed-{seed}.csv", dtype=str).astype(float)
            computed = rows[written.columns].reset_index(drop=True).astype(float)
            pd.testing.assert_frame_equal(computed, written, check_exact=True)
        assert_same(loaded.rows, alone.rows, rtol=1e-12)


@pytest.mark.thorough
def test_a_sweep_is_its_files_read_again(outputs: Path, swept: Result, monkeypatch) -> None:
    monkeypatch.chdir(outputs)
    for loaded in (
        load("grid"), load("outputs/sweeps/grid"), load(), load(*run_directories(Path("outputs")))
    ):  # fmt: skip
        assert loaded.keys == swept.keys == ["data.gamma"]
        assert_same(loaded.rows, swept.rows, rtol=1e-12)
    assert_same(load("grid").summary, swept.summary, rtol=1e-12)
    with pytest.raises(UserError, match="it is not in the files"):
        _ = load("grid").state


def test_one_run_of_a_sweep_is_that_run(swept: Result) -> None:
    alone = run(algo="df_ftpl", data={"gamma": 0.5}, seeds=[3, 1], horizon="smoke")
    (found,) = (
        one for one in swept
        if one.runs[0].settings["data.gamma"] == 0.5 and one.runs[0].algorithm == "df_ftpl"
    )  # fmt: skip
    assert_same(found.rows, alone.rows)
    np.testing.assert_array_equal(found.state.theta, alone.state.theta)
    with pytest.raises(UserError, match="several runs"):
        _ = swept.state


@pytest.mark.thorough
def test_an_experiment_is_a_sweep_whose_keys_can_be_given_anew() -> None:
    result = sweep(
        "experiment=main", algo=["uniform", "pf_ogd"], horizon="smoke", seeds=1, metrics="basic"
    )
    assert [run.algorithm for run in result.runs] == ["uniform", "pf_ogd"]
    assert {run.settings["data.amplitude"] for run in result.runs} == {45.0}
    named = sweep(experiment="main", algo="pf_ogd", horizon="smoke", seeds=1, metrics="basic")
    assert_same(named.rows, result[1].rows)


@pytest.mark.thorough
def test_all_forms_mix() -> None:
    expected = run("algo=pf_ogd", "algo.eta=0.02", "data.items=7", "horizon=smoke", "seeds=2").rows
    short = {"horizon": "smoke", "seeds": 2}
    for result in (
        run("algo=pf_ogd", "seeds=2", "horizon=smoke", algo={"eta": 0.02}, data={"items": 7}),
        run("data.items=7", algo=("pf_ogd", {"eta": np.float64(0.02)}), **short),
        run("data.items=3", data={"items": 7}, algo=partial(PFOGD, eta=0.02), **short),
        run(algo=partial(PFOGD, eta=0.02), data=Sin4(items=7), seeds=range(2), horizon=Horizon(rounds=50, rows=500)),
        run("horizon=smoke", algo=("pf_ogd", {"eta": 0.02}), data=partial(Sin4, items=7), predictor=Linear, seeds=[0, 1]),
    ):  # fmt: skip
        assert_same(result.rows, expected)
        assert result.state.theta.shape == (2, 10)


@pytest.mark.thorough
def test_a_polytope_and_its_regulariser_as_objects() -> None:
    algo = ("df_ogd", {"c_alpha": 0.5, "c_eta": 0.1})  # a choice by name may be tuned otherwise
    box_by_name = ("box", {"lower": -1})
    by_name = run(
        algo=algo, polytope=box_by_name, regularizer="log_barrier", horizon="smoke", seeds=2
    )
    box = Box(dimension=5, lower=-1.0)
    for regularizer in (LogBarrier, partial(LogBarrier), LogBarrier(polytope=box)):
        by_object = run("horizon=smoke", algo=algo, polytope=box, regularizer=regularizer, seeds=2)
        assert_same(by_object.rows, by_name.rows)


class Scaled(Linear):
    """A predictor whose settings cannot be seen from outside."""

    def __init__(self, factor: float) -> None:
        object.__setattr__(self, "_factor", factor)

    def predict(self, theta, X):
        return self._factor * super().predict(theta, X)

    def vjp(self, theta, X, v):
        return self._factor * super().vjp(theta, X, v)


@pytest.mark.thorough
def test_objects_of_a_sweep_are_told_apart() -> None:
    rates = sweep(algo=[partial(PFOGD, eta=0.1), partial(PFOGD, eta=0.2)], horizon="smoke", seeds=1)
    assert rates.summary["algo.eta"].tolist() == [0.1, 0.2]
    hidden = sweep(algo="pf_ogd", predictor=[Scaled(1.0), Scaled(2.0)], horizon="smoke", seeds=1)
    assert hidden.keys == ["predictor.number"]
    assert len(hidden.plot().get_lines()) == 2


@settings
class Bolder(PFOGD):
    """A base that was used, and a setting that the base lacks."""

    boldness: float = 1.0


def test_a_class_of_ones_own_has_its_own_settings_after_its_base_was_used() -> None:
    short = {"horizon": "smoke", "seeds": 1}
    base = run(algo=partial(PFOGD, eta=0.1), **short)
    mine = run(algo=partial(Bolder, eta=0.1, boldness=2.0), **short)
    assert mine.final["avg_cost"].tolist() == base.final["avg_cost"].tolist()


@settings
class Stuck(Algorithm):
    """An algorithm that cannot be played."""

    name = "stuck"

    def update(self, state, X, costs, draws):
        raise UserError("it is stuck")


def test_a_job_that_is_asked_for_twice_counts_once() -> None:
    with pytest.warns(UserWarning, match="1 of 3 jobs asked for twice"):
        result = sweep(algo="uniform", data={"gamma": [0, 1, 0.0]}, horizon="smoke", seeds=2)
    assert result.final["data.gamma"].tolist() == [0, 0, 1, 1]  # two jobs in their order, two seeds


@pytest.mark.thorough
def test_recorded_rounds_as_an_object_are_all_played(tmp_path: Path) -> None:
    """As with data=replay, all groups and rounds are played unless some are asked for."""
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "mine.npz", X=rng.random((3, 40, 2, 2)), c=rng.random((3, 40, 2)))
    data = Replay(file=str(tmp_path / "mine.npz"))
    for given, shape in (
        ({"seeds": 2}, (2, 40)),
        ({"horizon": {"rounds": 7}}, (3, 7)),
        ({"horizon": Horizon(rounds=9)}, (3, 9)),
    ):
        rows = run(algo="uniform", data=data, **given).rows
        assert (rows["seed"].nunique(), rows["t"].max()) == shape
    typed = run("data=replay", f"data.file={tmp_path / 'mine.npz'}", algo="uniform")
    pd.testing.assert_frame_equal(run(algo="uniform", data=data).final, typed.final)


def test_a_sweep_survives_a_job_that_fails() -> None:
    with pytest.warns(UserWarning, match="left out: .*it is stuck"):
        result = sweep(algo=[Stuck, "uniform"], horizon="smoke", seeds=1)
    assert [run.algorithm for run in result.runs] == ["uniform"]
    with pytest.raises(UserError, match="it is stuck"):
        run(algo=Stuck, horizon="smoke", seeds=1)


@pytest.mark.parametrize(
    ("mistake", "words"),
    some_of(
        [
            (lambda: run("algo=nope"), "no such choice"),
            (lambda: run(algo="nope"), "no such choice"),
            (lambda: run("data.gama=1"), "did you mean data.gamma?"),
            (lambda: run(data={"gama": 1}), "did you mean data.gamma?"),
            (lambda: run(data={"gamma": 3}), "data.gamma=3"),
            (lambda: run(theta_radus=2), "did you mean theta_radius?"),
            (lambda: run(colour="red"), "no such group or key"),
            (lambda: run(horizon=1000), "horizon.rounds"),
            (lambda: run(3), "overrides are texts"),
            (lambda: run(polytope=Box(dimension=3)), "must agree"),
            (lambda: run(polytope=Box), "dimension"),
            (lambda: run(algo=partial(PFOGD, eta=-1)), "algo.eta=-1"),
            (lambda: run(data=partial(Sin4, items=0)), "data.items=0"),
            (lambda: run(algo=object()), "give a class"),
            (lambda: run(algo=("pf_ogd", 0.1)), "a choice and its keys"),
            (lambda: run("data.gamma=1", data=Sin4()), "given as an object"),
            (lambda: run("experiment=main"), "sweep(...)"),
            (lambda: run("-m", "algo=df_ogd,pf_ogd"), "sweep(...)"),
            (lambda: run(algo=["df_ogd", "pf_ogd"]), "sweep(...)"),
            (lambda: sweep(algo=["uniform", "nope"]), "no such choice"),
            (lambda: sweep(data={"gamma": []}), "empty list"),
            (lambda: sweep("experiment=main,rates"), "one experiment"),
            (lambda: sweep("experiment=search_df_ogd"), "odfl run"),
            (lambda: load("nowhere"), "no such directory"),
        ],
        12,
    ),
)
def test_mistakes_are_one_line(mistake, words: str) -> None:
    with pytest.raises(UserError) as refusal:
        mistake()
    assert words in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_the_summary_is_the_mean_over_the_seeds(swept: Result) -> None:
    means = swept.final.groupby(["algo", "data.gamma"])["avg_cost"].mean()
    found = swept.summary.set_index(["algo", "data.gamma"])["avg_cost_mean"]
    pd.testing.assert_series_equal(found.sort_index(), means.sort_index(), check_names=False)


def test_a_notebook_shows_a_short_line_and_an_escaped_table(swept: Result) -> None:
    figures = {"cost": [1.0], "avg_cost": [1.0], "mse": [2.0], "avg_mse": [2.0]}
    rows = pd.DataFrame({"t": [1], "seed": [0], **figures})
    odd = Result([
        Run(Path(), "<script>", {"data.<b>": value, "data._target_": "x"}, 1, rows)
        for value in ("<img>", "&")
    ])  # fmt: skip
    html = odd._repr_html_()
    for markup in ("<script>", "<img>", "<b>"):
        assert markup not in html
    assert "&lt;img&gt;" in html
    many = Result([Run(Path(), f"algorithm {n}", {}, 1, rows) for n in range(50)])
    for result in (odd, many, swept, swept[0]):
        assert "\n" not in repr(result)
        assert len(repr(result)) <= 130
    assert f"avg_cost={swept.summary['avg_cost_mean'][0]:.4f}" in repr(swept[0])


def test_the_plot_draws_the_mean_of_the_rows() -> None:
    from matplotlib import pyplot as plt

    result = run(algo="pf_ogd", horizon="smoke", seeds=3)
    axes = result.plot("avg_mse")
    (line,) = axes.get_lines()
    mean = result.rows.groupby("t")["avg_mse"].mean()
    np.testing.assert_array_equal(line.get_xdata(), mean.index)
    np.testing.assert_allclose(line.get_ydata(), mean)
    assert line.get_color() == LINE_STYLES["pf_ogd"].colour
    figure, axes = plt.subplots()
    assert result.plot(ax=axes) is axes
    assert len(axes.get_lines()) == 1
    plt.close(figure)
    plt.close(axes.figure)
    with pytest.raises(UserError, match="y=nope"):
        result.plot("nope")


def test_the_bar_can_be_switched_on_and_off(capsys) -> None:
    for progress, is_shown in ((True, True), (None, False)):
        run(algo="uniform", horizon="smoke", seeds=1, progress=progress)
        assert ("rounds" in capsys.readouterr().err) == is_shown


def test_editors_see_the_names_that_are_imported() -> None:
    tree = ast.parse(inspect.getsource(odfl_cli))
    branches = (node for node in tree.body if isinstance(node, ast.If))
    (typed,) = (node for node in branches if ast.unparse(node.test) == "TYPE_CHECKING")
    names = [
        name.name
        for node in typed.body
        if isinstance(node, ast.ImportFrom) and node.module.startswith("odfl_cli.")
        for name in node.names
    ]
    assert sorted([*names, "run", "sweep", "load"]) == sorted(odfl_cli.__all__)
    for name in odfl_cli.__all__:
        assert getattr(odfl_cli, name) is not None
        assert name in dir(odfl_cli)
    with pytest.raises(AttributeError, match="nonsense"):
        _ = odfl_cli.nonsense


def test_rooms_take_nothing_but_the_version_from_the_package() -> None:
    package = Path(odfl_cli.__file__).parent
    for path in package.glob("*/**/*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module == "odfl_cli":
                assert [name.name for name in node.names] == ["__version__"], path
