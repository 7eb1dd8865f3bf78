"""Which figures a sweep gets: curves, regrets, slopes, gaps, heatmaps."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib import image
from matplotlib.colors import to_rgb
from support.pictures import colours
from support.synthetic_runs import harmonic, seal, write_gamma_sweep, write_run

from odfl_cli.cli.plot import main
from odfl_cli.core.errors import UserError
from odfl_cli.plotting.canvas import logarithmic, new_figure
from odfl_cli.plotting.request import Request
from odfl_cli.plotting.sheets import sections_sheet, sheets
from odfl_cli.plotting.style import GREY, LINE_STYLES
from odfl_cli.results.tables import read_runs


def files(directory) -> set[str]:
    return {path.name for path in directory.iterdir()}


@pytest.mark.usefixtures("unrendered")
def test_x_draws_one_figure(tmp_path):
    sweep = write_gamma_sweep(tmp_path / "sweep")
    main([str(sweep), "--out", str(tmp_path / "out"), "--x", "data.gamma", "--y", "avg_mse"])
    names = {f"x_data.gamma.{ending}" for ending in ("png", "pdf", "csv")}
    assert files(tmp_path / "out" / "sweep") == names | {"summary.csv"}
    numbers = pd.read_csv(tmp_path / "out" / "sweep" / "x_data.gamma.csv")
    assert numbers["data.gamma"].tolist() == [0.0, 0.5, 1.0] * 2
    mine = numbers.query("algorithm == 'df_ogd'")
    expected = 2 * (0.7 - 0.1 * mine["data.gamma"] * 2 / 3)
    np.testing.assert_allclose(mine["mean"], expected, rtol=1e-5)


@pytest.mark.usefixtures("unrendered")
def test_x_leaves_out_runs_without_the_column(tmp_path):
    for gamma, exponent in ((0.0, None), (0.5, -0.25), (1.0, -0.25)):
        run = tmp_path / "runs" / str(gamma)
        write_run(run, config={"data.gamma": gamma}, exponent=exponent)
    arguments = ["--x", "data.gamma", "--y", "avg_dynamic_regret"]
    assert main([str(tmp_path / "runs"), "--out", str(tmp_path / "out"), *arguments]) == 0
    numbers = pd.read_csv(tmp_path / "out" / "runs" / "x_data.gamma.csv")
    assert numbers["data.gamma"].tolist() == [0.5, 1.0]


@pytest.mark.usefixtures("unrendered")
@pytest.mark.parametrize("against", [["--x", "data.gamma"], []])
def test_gap_draws_one_figure(tmp_path, against):
    sweep = write_gamma_sweep(tmp_path / "sweep")
    main([str(sweep), "--out", str(tmp_path / "out"), "--gap", "pf_ogd:df_ogd", *against])
    stems = ["gap"] if against else ["gap", "gap_rounds"]
    assert files(tmp_path / "out" / "sweep") == {"summary.csv"} | {
        f"{stem}.{ending}" for stem in stems for ending in ("png", "pdf", "csv")
    }
    numbers = pd.read_csv(tmp_path / "out" / "sweep" / "gap.csv").sort_values("data.gamma")
    np.testing.assert_allclose(numbers["mean"], [0.0, 0.05, 0.1], atol=1e-12)
    np.testing.assert_allclose(numbers["ci95"], 0.0, atol=1e-12)


@pytest.mark.usefixtures("unrendered")
def test_a_single_gap_and_a_single_seed_can_be_drawn(tmp_path):
    for algo, level in (("pf_ogd", 0.7), ("df_ogd", 0.4)):
        write_run(tmp_path / "runs" / algo, algo, levels={0: level})
    for options in (["--gap", "pf_ogd:df_ogd"], ["--y", "avg_mse"], ["--x", "algo"]):
        assert main([str(tmp_path / "runs"), "--out", str(tmp_path / "out"), *options]) == 0
    gap = pd.read_csv(tmp_path / "out" / "runs" / "gap.csv")
    assert gap["mean"].tolist() == [pytest.approx(0.3)]
    assert gap["ci95"].isna().all()


@pytest.mark.thorough
@pytest.mark.usefixtures("unrendered")
def test_runs_with_comparators_get_their_regrets_rates_and_slopes(tmp_path):
    for algo, exponent in (("df_ogd", -0.25), ("pf_ogd", -0.1)):
        write_run(tmp_path / "runs" / algo, algo, rounds=400, thin=1, exponent=exponent)
    assert main([str(tmp_path / "runs"), "--out", str(tmp_path / "out")]) == 0
    assert {"comparators.png", "rates.png", "expected_cost.png"} <= files(tmp_path / "out" / "runs")
    rates = pd.read_csv(tmp_path / "out" / "runs" / "rates.csv")
    slopes = rates.groupby(["algorithm", "column"])["slope"].unique()
    for column in ("avg_static_regret", "avg_dynamic_regret"):
        assert slopes["df_ogd", column] == pytest.approx([-0.25], abs=1e-5)
        assert slopes["pf_ogd", column] == pytest.approx([-0.1], abs=1e-5)
    assert (rates["t"] % 2 == 0).all()  # the rounds that were evaluated


@pytest.mark.usefixtures("unrendered")
def test_the_final_regret_against_the_horizon_has_a_slope(tmp_path):
    for rounds in (100, 400, 1600):
        write_run(tmp_path / "runs" / str(rounds), rounds=rounds, thin=1, exponent=-0.25)
    arguments = ["--x", "horizon.rounds", "--y", "avg_dynamic_regret", "--loglog"]
    assert main([str(tmp_path / "runs"), "--out", str(tmp_path / "out"), *arguments]) == 0
    table = pd.read_csv(tmp_path / "out" / "runs" / "x_horizon.rounds.csv")
    assert list(table["horizon.rounds"]) == [100, 400, 1600]
    np.testing.assert_allclose(table["slope"], -0.25, atol=1e-5)


@pytest.mark.parametrize(("high", "words"), [(50.0, "0.1"), (1e7, "10^{-1}")])
def test_logarithmic_ticks_are_numbers_unless_they_go_far(high, words):
    figure, (axis,) = new_figure(1, Request())
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
        sheet = sheets(read_runs([run], print), Request(width=3.4))[0]
        lines = sheet.draw().axes[0].get_lines()
        drawn.append([line.get_xdata()[0] for line in lines if len(set(line.get_xdata())) == 1])
    assert drawn == [[], [30, 60]]


def test_every_name_of_a_sweep_with_slopes_belongs_to_its_line(tmp_path):
    for algo, exponent in (("df_ogd", -0.25), ("pf_ogd", -0.1)):
        for rounds in (100, 400):
            place = tmp_path / f"{algo}{rounds}"
            write_run(place, algo, rounds=rounds, thin=1, exponent=exponent)
    request = Request(x=("horizon.rounds",), y=("avg_dynamic_regret",), loglog=True)
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
    assert pd.read_csv(tmp_path / "pooled" / "first+second" / "x_algo.csv")["seeds"].tolist() == [
        3,
        3,
    ]


@pytest.mark.usefixtures("unrendered")
def test_gaps_between_values_of_a_key_over_the_rounds(tmp_path):
    sweep = write_gamma_sweep(tmp_path / "sweep")
    main([str(sweep), "--out", str(tmp_path / "out"), "--gap", "data.gamma=1:0"])
    final = pd.read_csv(tmp_path / "out" / "sweep" / "gap.csv").set_index("gap")["mean"]
    rounds = pd.read_csv(tmp_path / "out" / "sweep" / "gap_rounds.csv").set_index("gap")["mean"]
    for algo, expected in (("df_ogd", -0.1 + 0.1 / 3), ("pf_ogd", 0.1 / 3)):
        assert final[algo] == pytest.approx(expected, rel=1e-5)
        np.testing.assert_allclose(rounds[algo], expected, rtol=1e-5)


def test_facets_have_a_panel_for_every_value_and_column(tmp_path):
    sweep = write_gamma_sweep(tmp_path / "sweep")
    request = Request(y=("avg_cost", "avg_mse"), facets=("", "data.gamma"))
    (sheet,) = sheets(read_runs([sweep], print), request)
    titles = [axis.get_title() for axis in sheet.draw().axes]
    assert titles == [f"$\\gamma$ = {gamma}" for gamma in ("0", "0.5", "1")] * 2
    assert set(sheet.numbers["data.gamma"]) == {0.0, 0.5, 1.0}


def test_a_style_means_the_same_settings_in_every_panel(tmp_path):
    """Though the panels show different settings of the algorithm."""
    for gamma, eta in ((0.0, 1.0), (0.0, 2.0), (1.0, 2.0), (1.0, 3.0)):
        config = {"data.gamma": gamma, "algo.eta": eta}
        write_run(tmp_path / str(gamma) / str(eta), "pf_ogd", config=config)
    faceted = sheets(read_runs([tmp_path], print), Request(facets=("", "data.gamma")))[0]
    sections = {name: read_runs([tmp_path / name], print) for name in ("0.0", "1.0")}
    for sheet in (faceted, sections_sheet(sections, Request(panels=True))):
        looks: dict[str, set[Any]] = {}
        for axis in sheet.draw().axes:
            for line in axis.get_lines():
                look = line.get_color(), line.get_marker()
                looks.setdefault(line.get_label(), set()).add(look)
        assert len(looks) == len(set.union(*looks.values())) == 3
        assert {len(several) for several in looks.values()} == {1}


def test_a_sweep_over_numbers_has_a_panel_for_each_or_points_if_there_are_many(tmp_path):
    runs = read_runs([write_gamma_sweep(tmp_path / "sweep")], print)
    overview, _ = sheets(runs, Request())
    titles = [axis.get_title() for axis in overview.draw().axes]
    assert titles == [f"$\\gamma$ = {gamma}" for gamma in ("0", "0.5", "1")] * 2
    for gamma in (0.2, 0.8):
        write_run(tmp_path / "sweep" / str(gamma), config={"data.gamma": gamma})
    points, _ = sheets(read_runs([tmp_path / "sweep"], print), Request())
    assert points.stem == "x_data.gamma"
    assert [axis.get_ylabel().split("\n")[0] for axis in points.draw().axes] == [
        "final average cost", "final average MSE",
    ]  # fmt: skip


def test_intervals_of_a_curve_off_the_scale_are_not_drawn(tmp_path):
    """Clairvoyant lies far below two learners, with bars that reach up to them."""
    levels = {
        "df_ogd": (0.6, 0.61),
        "pf_ogd": (0.61, 0.62),
        "spo": (0.62, 0.63),
        "clairvoyant": (0.1, 0.5),
    }
    for algo, pair in levels.items():
        write_run(tmp_path / algo, algo, levels=dict(enumerate(pair)))
    (sheet,) = sheets(read_runs([tmp_path], print), Request(y=("avg_cost",)))
    assert len(sheet.draw().axes[0].collections) == 3  # bars of the learners alone


def test_a_forest_is_paired_and_has_a_panel_for_every_problem(tmp_path):
    runs = read_runs([write_gamma_sweep(tmp_path / "sweep")], print)
    (sheet,) = sheets(runs, Request(forest=""))
    gaps = sheet.numbers.set_index(["algo", "data.gamma"])["mean"]
    assert (sheet.numbers["baseline"] == "pf_ogd").all()
    for gamma in (0.0, 0.5, 1.0):
        assert gaps["df_ogd", gamma] == pytest.approx(-0.1 * gamma, abs=1e-12)
    titles = [axis.get_title() for axis in sheet.draw().axes]
    assert titles[:3] == [f"$\\gamma$ = {gamma}" for gamma in ("0", "0.5", "1")]
    assert {sheet.stem for sheet in sheets(runs, Request())} == {"overview", "forest"}
    narrow = sheets(runs, Request(forest="", width=3.4))[0].draw()
    narrow.draw_without_rendering()
    (words,) = [text for text in narrow.texts if "minus" in text.get_text()]
    assert words.get_window_extent().x0 >= 0
    with pytest.raises(UserError, match="--forest spo: no run of it; there are df_ogd, pf_ogd"):
        sheets(runs, Request(forest="spo"))


def test_recorded_rounds_have_intervals_over_time_and_the_best_naive_policy_as_baseline(tmp_path):
    for algo, level in {"df_ogd": 0.3, "yesterday": 0.4, "always": 0.6}.items():
        config = {"data.file": "package:flights"}
        write_run(tmp_path / algo, algo, {0: level, 1: level}, thin=1, config=config)
    (sheet,) = sheets(read_runs([tmp_path], print), Request(forest=""))
    assert set(sheet.numbers["baseline"]) == {"yesterday"}
    assert "over the rounds" in sheet.draw().get_supxlabel()


def test_errors_of_other_targets_never_share_an_axis(tmp_path):
    for algo, target in {"df_ogd": "raw", "pf_ogd": "rank"}.items():
        write_run(tmp_path / algo, algo, config={"data.target": target})
    drawn = {sheet.stem: sheet for sheet in sheets(read_runs([tmp_path], print), Request())}
    cost, *errors = drawn["overview"].draw().axes
    assert len(cost.get_lines()) == 2
    assert [(len(axis.get_lines()), axis.get_title()) for axis in errors[:2]] == [
        (1, "data.target = rank"), (1, "data.target = raw"),
    ]  # fmt: skip


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
        assert mean == pytest.approx((gamma + items) / 2 + harmonic(100) / 100, rel=1e-5)
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
    assert means.to_dict() == pytest.approx(expected, rel=1e-5)
    for words, message in (
        (["--x", "algo,algo"], "two keys"),
        (["--x", keys, "--label", "df_ogd=X", "--label", "mine=X"], "--label"),
    ):
        with pytest.raises(UserError, match=message):
            main([str(tmp_path / "runs"), *words, "--out", str(tmp_path / "again.png")])


@pytest.mark.parametrize("more", [["--panels"], [], ["--each-seed", "--col", "data.items"]])
def test_seeds_that_share_no_round_are_refused_in_one_line(tmp_path, more):
    """Every other round has regrets: seed 0 in even ones, seed 1 in none that seed 0 has."""
    run = write_run(tmp_path / "runs" / "df_ogd", levels={0: 0.5, 1: 0.6}, rounds=9, exponent=-0.5)
    table = pd.read_csv(run / "seed-1.csv")
    table[["static_regret"]] = table[["cost"]].where(table["t"] % 2 == 1)
    table.to_csv(run / "seed-1.csv", index=False)
    seal(run)
    with pytest.raises(UserError, match="no run has what this figure shows"):
        main([str(run.parent), *more, "--y", "static_regret", "--out", str(tmp_path / "x.pdf")])
    assert not (tmp_path / "x.pdf").exists()


def test_a_forest_leaves_out_no_difference_within_the_intervals_of_others(tmp_path):
    """Means of 0.001, 0.002 and 0.02 with intervals of more than 0.1."""
    noise = np.array([-0.1, 0.1, 0.0])
    for algo, gap in {"pf_ogd": 0.0, "df_ogd": 0.001, "spo": 0.002, "rls": 0.02}.items():
        levels = dict(enumerate(0.5 + (gap > 0) * (gap + noise)))
        write_run(tmp_path / algo, algo, levels=levels)
    (sheet,) = sheets(read_runs([tmp_path], print), Request(forest="pf_ogd"))
    (axis,) = sheet.draw().axes
    assert [text.get_text() for text in axis.texts] == []


def test_a_label_that_the_panel_to_the_left_has_is_not_repeated(tmp_path):
    for gamma in (0.0, 1.0):
        write_run(tmp_path / str(gamma), config={"data.gamma": gamma})
    request = Request(facets=("", "data.gamma"), y=("avg_cost", "avg_mse"))
    (sheet,) = sheets(read_runs([tmp_path], print), request)
    first, second, third, fourth = sheet.draw().axes
    assert first.get_ylabel().startswith("average cost")
    assert third.get_ylabel().startswith("average MSE")
    assert second.get_ylabel() == fourth.get_ylabel() == ""
