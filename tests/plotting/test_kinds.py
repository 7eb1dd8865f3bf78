"""Which figures a sweep gets: curves, regrets, bounds, slopes, gaps, heatmaps."""

import json

import numpy as np
import pandas as pd
import pytest
from matplotlib import image
from matplotlib.colors import to_rgb
from support.pictures import colours
from support.synthetic_runs import harmonic, write_gamma_sweep, write_run

from odfl_cli.cli.plot import main
from odfl_cli.core.errors import UserError
from odfl_cli.plotting.canvas import logarithmic, new_figure
from odfl_cli.plotting.figure_files import STAMPS
from odfl_cli.plotting.request import Request
from odfl_cli.plotting.sheets import curve_sheets, sheets
from odfl_cli.plotting.style import GREY, LINE_STYLES
from odfl_cli.results.grouping import group_runs
from odfl_cli.results.tables import read_runs


def files(directory) -> set[str]:
    return {path.name for path in directory.iterdir()} - {STAMPS}


def test_x_draws_one_figure(tmp_path):
    sweep = write_gamma_sweep(tmp_path / "sweep")
    main([str(sweep), "--out", str(tmp_path / "out"), "--x", "data.gamma", "--y", "avg_mse"])
    names = {f"x_data.gamma.{ending}" for ending in ("png", "pdf", "csv")}
    assert files(tmp_path / "out") == names | {"summary.csv"}
    numbers = pd.read_csv(tmp_path / "out" / "x_data.gamma.csv")
    assert numbers["data.gamma"].tolist() == [0.0, 0.5, 1.0] * 2
    mine = numbers.query("algorithm == 'df_ogd'")
    np.testing.assert_allclose(mine["mean"], 2 * (0.7 - 0.1 * mine["data.gamma"] * 2 / 3))


@pytest.mark.usefixtures("unrendered")
def test_x_leaves_out_runs_without_the_column(tmp_path):
    for gamma, exponent in ((0.0, None), (0.5, -0.25), (1.0, -0.25)):
        run = tmp_path / "runs" / str(gamma)
        write_run(run, config={"data.gamma": gamma}, exponent=exponent)
    arguments = ["--x", "data.gamma", "--y", "avg_dynamic_regret"]
    assert main([str(tmp_path / "runs"), "--out", str(tmp_path / "out"), *arguments]) == 0
    numbers = pd.read_csv(tmp_path / "out" / "x_data.gamma.csv")
    assert numbers["data.gamma"].tolist() == [0.5, 1.0]


@pytest.mark.parametrize("against", [["--x", "data.gamma"], []])
def test_gap_draws_one_figure(tmp_path, against):
    sweep = write_gamma_sweep(tmp_path / "sweep")
    main([str(sweep), "--out", str(tmp_path / "out"), "--gap", "pf_ogd:df_ogd", *against])
    stems = ["gap"] if against else ["gap", "gap_rounds"]
    assert files(tmp_path / "out") == {"summary.csv"} | {
        f"{stem}.{ending}" for stem in stems for ending in ("png", "pdf", "csv")
    }
    numbers = pd.read_csv(tmp_path / "out" / "gap.csv").sort_values("data.gamma")
    np.testing.assert_allclose(numbers["mean"], [0.0, 0.05, 0.1], atol=1e-12)
    np.testing.assert_allclose(numbers["ci95"], 0.0, atol=1e-12)


@pytest.mark.usefixtures("unrendered")
def test_a_single_gap_and_a_single_seed_can_be_drawn(tmp_path):
    for algo, level in (("pf_ogd", 0.7), ("df_ogd", 0.4)):
        write_run(tmp_path / "runs" / algo, algo, levels={0: level})
    for options in (["--gap", "pf_ogd:df_ogd"], [], ["--x", "algo"]):
        assert main([str(tmp_path / "runs"), "--out", str(tmp_path / "out"), *options]) == 0
    gap = pd.read_csv(tmp_path / "out" / "gap.csv")
    assert gap["mean"].tolist() == [pytest.approx(0.3)]
    assert gap["ci95"].isna().all()


@pytest.mark.thorough
@pytest.mark.usefixtures("unrendered")
def test_runs_with_comparators_get_their_regrets_rates_and_slopes(tmp_path):
    for algo, exponent in (("df_ogd", -0.25), ("pf_ogd", -0.1)):
        write_run(tmp_path / "runs" / algo, algo, rounds=400, thin=1, exponent=exponent)
    assert main([str(tmp_path / "runs"), "--out", str(tmp_path / "out")]) == 0
    assert {"comparators.png", "rates.png", "expected_cost.png"} <= files(tmp_path / "out")
    rates = pd.read_csv(tmp_path / "out" / "rates.csv")
    slopes = rates.groupby(["algorithm", "column"])["slope"].unique()
    for column in ("avg_static_regret", "avg_dynamic_regret"):
        assert slopes["df_ogd", column] == pytest.approx([-0.25], abs=1e-9)
        assert slopes["pf_ogd", column] == pytest.approx([-0.1], abs=1e-9)
    assert (rates["t"] % 2 == 0).all()  # the rounds that were evaluated


@pytest.mark.parametrize(
    ("algorithms", "bounds"),
    [(("df_ftpl",), [1, 0]), (("df_ogd",), [0, 1]), (("df_ogd", "df_ftpl"), [1, 1])],
)
@pytest.mark.usefixtures("unrendered")
def test_a_theorems_bound_has_a_figure_with_the_regret_it_bounds(tmp_path, algorithms, bounds):
    """DF-FTPL's is on static regret, DF-OGD's on dynamic regret."""
    for algo in algorithms:
        write_run(tmp_path / algo, algo, rounds=400, thin=1, exponent=-0.25)
    drawn = {s.stem: s for s in curve_sheets(group_runs(read_runs([tmp_path], print)), Request())}
    figure, numbers = drawn["bounds"].draw(), drawn["bounds"].numbers
    for column, there in zip(("avg_static_regret", "avg_dynamic_regret"), bounds, strict=True):
        means = numbers[numbers["column"] == column].groupby("curve")["mean"].last()
        assert len(means) == 2 * there
        assert not there or means.max() == pytest.approx(2 * means.min())
    assert len(figure.legends[0].legend_handles) == 2 * sum(bounds) + 1
    (rates,) = {len(axis.get_lines()) for axis in drawn["rates"].draw().axes}
    assert (
        rates == len(algorithms) - ("uniform" in algorithms) + 1
    )  # curves and the guide, no bound


@pytest.mark.usefixtures("unrendered")
def test_the_final_regret_against_the_horizon_has_a_slope(tmp_path):
    for rounds in (100, 400, 1600):
        write_run(tmp_path / "runs" / str(rounds), rounds=rounds, thin=1, exponent=-0.25)
    arguments = ["--x", "horizon.rounds", "--y", "avg_dynamic_regret", "--loglog"]
    assert main([str(tmp_path / "runs"), "--out", str(tmp_path / "out"), *arguments]) == 0
    table = pd.read_csv(tmp_path / "out" / "x_horizon.rounds.csv")
    assert list(table["horizon.rounds"]) == [100, 400, 1600]
    np.testing.assert_allclose(table["slope"], -0.25, atol=1e-9)


@pytest.mark.parametrize(("high", "words"), [(50.0, "0.1"), (1e7, "10^{-1}")])
def test_logarithmic_ticks_are_numbers_unless_they_go_far(high, words):
    figure, (axis,) = new_figure(1, [], "", Request())
    logarithmic(axis)
    axis.set(xlim=(0.02, high), ylim=(0.02, high))
    figure.draw_without_rendering()
    for direction in (axis.xaxis, axis.yaxis):
        ticks = [text.get_text() for text in direction.get_ticklabels()]
        assert any(words in tick for tick in ticks)
        assert any("$" in tick for tick in ticks) == (high > 1e5)


def test_marked_rounds_are_drawn(tmp_path):
    plain = write_run(tmp_path / "plain", rounds=100)
    marked = write_run(tmp_path / "marked", rounds=100, marks=(30, 60))
    drawn = []
    for run in (plain, marked):
        sheet = curve_sheets(group_runs(read_runs([run], print)), Request(width=3.4))[0]
        lines = sheet.draw().axes[0].get_lines()
        drawn.append([line.get_xdata()[0] for line in lines if len(set(line.get_xdata())) == 1])
    assert drawn == [[], [30, 60]]


@pytest.mark.usefixtures("unrendered")
def test_margins_and_the_oracles_share_are_drawn_where_they_are_told(tmp_path):
    run = write_run(tmp_path / "runs" / "df_ogd")
    summary = json.loads((run / "summary.json").read_text())
    summary |= {
        "oracle_share": 0.8,
        "margin": {"epsilon": [0.01, 0.1], "share": [0.02, 0.15], "c0": 2.0, "beta": 1.0},
    }
    (run / "summary.json").write_text(json.dumps(summary))
    assert main([str(run.parent), "--out", str(tmp_path / "out")]) == 0
    margin = pd.read_csv(tmp_path / "out" / "margin.csv")
    np.testing.assert_allclose(margin["curve"], [0.02, 0.2])
    assert (margin["share"] <= margin["curve"]).all()
    shares = pd.read_csv(tmp_path / "out" / "oracle_share.csv")
    assert list(shares["share"]) == [0.8]


def test_every_name_of_a_sweep_with_slopes_belongs_to_its_line(tmp_path):
    for algo, exponent in (("df_ogd", -0.25), ("pf_ogd", -0.1)):
        for rounds in (100, 400):
            place = tmp_path / f"{algo}{rounds}"
            write_run(place, algo, rounds=rounds, thin=1, exponent=exponent)
    request = Request(x=("horizon.rounds",), y="avg_dynamic_regret", loglog=True)
    (sheet,) = sheets(read_runs([tmp_path], print), request)
    (legend,) = sheet.draw().legends
    colours = {}
    for text, handle in zip(legend.get_texts(), legend.legend_handles, strict=True):
        line = handle if hasattr(handle, "get_color") else handle.get_children()[0]
        colours[text.get_text().split(",")[0]] = to_rgb(np.ravel(line.get_color())[:3])
    assert colours["DF-OGD"] == pytest.approx(LINE_STYLES["df_ogd"].colour)
    assert colours["PF-OGD"] == pytest.approx(LINE_STYLES["pf_ogd"].colour)
    assert colours["slope −1/4"] == pytest.approx(GREY)


@pytest.mark.usefixtures("unrendered")
def test_experiments_of_a_folder_get_a_folder_each_or_a_panel(tmp_path):
    for name in ("first", "second"):
        for algo in ("df_ogd", "pf_ogd"):
            write_run(tmp_path / "runs" / f"{algo}-{name}", algo, choices={"experiment": name})
    words = [str(tmp_path / "runs"), "--format", "png", "--out"]
    main([*words, str(tmp_path / "out"), "--x", "algo"])
    assert files(tmp_path / "out") == {"first", "second"}
    assert files(tmp_path / "out" / "first") == {"x_algo.png", "x_algo.csv", "summary.csv"}
    main([*words, str(tmp_path / "panels.png"), "--panels"])
    numbers = pd.read_csv(tmp_path / "panels.csv")
    assert set(numbers["sweep"]) == {"first", "second"}
    main([*words, str(tmp_path / "pooled"), "--pool", "--x", "algo"])
    assert pd.read_csv(tmp_path / "pooled" / "x_algo.csv")["seeds"].tolist() == [3, 3]


@pytest.mark.usefixtures("unrendered")
def test_gaps_between_values_of_a_key_over_the_rounds(tmp_path):
    sweep = write_gamma_sweep(tmp_path / "sweep")
    main([str(sweep), "--out", str(tmp_path / "out"), "--gap", "data.gamma=1:0"])
    final = pd.read_csv(tmp_path / "out" / "gap.csv").set_index("gap")["mean"]
    rounds = pd.read_csv(tmp_path / "out" / "gap_rounds.csv").set_index("gap")["mean"]
    for algo, expected in (("df_ogd", -0.1 + 0.1 / 3), ("pf_ogd", 0.1 / 3)):
        assert final[algo] == pytest.approx(expected)
        np.testing.assert_allclose(rounds[algo], expected, atol=1e-12)


def test_two_keys_make_a_heatmap(tmp_path):
    for gamma in (0.0, 1.0):
        for items in (5, 10, 20):
            place = tmp_path / "runs" / f"{gamma}-{items}"
            config = {"data.gamma": gamma, "data.items": items}
            write_run(place, levels={0: gamma, 1: items}, config=config)
    out = tmp_path / "heat.png"
    main([str(tmp_path / "runs"), "--x", "data.gamma,data.items", "--out", str(out)])
    numbers = pd.read_csv(tmp_path / "heat.csv").set_index(["data.gamma", "data.items"])["mean"]
    for (gamma, items), mean in numbers.items():
        assert mean == pytest.approx((gamma + items) / 2 + harmonic(100) / 100)
    assert colours(image.imread(out)) > 50


@pytest.mark.parametrize("keys", ["data.gamma,algo", "algo,data.gamma"])
def test_algorithms_may_be_a_side_of_a_heatmap(tmp_path, keys):
    for gamma in (0.0, 1.0):
        for algo, level in (("df_ogd", 0.3), ("mine", 0.6)):
            config = {"data.gamma": gamma}
            write_run(
                tmp_path / "runs" / f"{algo}-{gamma}", algo, {0: level + gamma}, config=config
            )
    main([str(tmp_path / "runs"), "--x", keys, "--out", str(tmp_path / "heat.png")])
    numbers = pd.read_csv(tmp_path / "heat.csv", keep_default_na=False)
    assert set(numbers["panel"]) == {""}  # one table
    means = numbers.set_index(["algo", "data.gamma"])["mean"] - harmonic(100) / 100
    expected = {("DF-OGD", 0.0): 0.3, ("DF-OGD", 1.0): 1.3, ("Mine", 0.0): 0.6, ("Mine", 1.0): 1.6}
    assert means.to_dict() == pytest.approx(expected)
    for words, message in (
        (["--x", "algo,algo"], "two keys"),
        (["--x", keys, "--label", "df_ogd=X", "--label", "mine=X"], "--label"),
    ):
        with pytest.raises(UserError, match=message):
            main([str(tmp_path / "runs"), *words, "--out", str(tmp_path / "again.png")])
