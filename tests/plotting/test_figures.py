"""`odfl plot` from the command line to the files."""

import io
import json
import os
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib import image
from matplotlib.colors import to_rgb
from support.synthetic_runs import BEST_COST, harmonic, write_run, write_sweep

from odfl_cli.cli.plot import main
from odfl_cli.core.errors import UserError
from odfl_cli.plotting.canvas import folded, legend_columns
from odfl_cli.plotting.figure_files import STAMPS
from odfl_cli.plotting.limits import off_scale, view
from odfl_cli.plotting.points import is_swept_in_ratios
from odfl_cli.plotting.request import Request
from odfl_cli.plotting.sheets import curve_sheets, sheets
from odfl_cli.plotting.style import GREY, LINE_STYLES, line_styles, styled, variant
from odfl_cli.results.aggregation import Line
from odfl_cli.results.grouping import group_runs
from odfl_cli.results.tables import read_runs

ALGORITHMS = ("df_ogd", "df_ftpl", "pf_ogd", "uniform")
FIGURES = {"cost", "mse", "regret", "overview"}


def write_runs(directory: Path) -> Path:
    for place, algo in enumerate(ALGORITHMS):
        levels = {seed: 0.6 + 0.01 * place + 0.001 * seed for seed in range(3)}
        write_run(directory / algo, algo, levels)
    return directory


@pytest.fixture
def runs(tmp_path):
    return write_runs(tmp_path / "runs")


@pytest.fixture(scope="module")
def drawn(tmp_path_factory) -> tuple[Path, str]:
    """All figures of those runs, and what was printed."""
    place = tmp_path_factory.mktemp("drawn")
    out = place / "deep" / "figures"
    with redirect_stdout(io.StringIO()) as printed:
        assert main([str(write_runs(place / "runs")), "--out", str(out), "--size", "double"]) == 0
    return out, printed.getvalue()


@pytest.fixture(scope="module")
def drawn_elsewhere(tmp_path_factory) -> tuple[Path, list[str]]:
    """The same by another process, and which heavy packages it imported."""
    place = tmp_path_factory.mktemp("drawn-elsewhere")
    program = """if True:
        import json, sys
        from odfl_cli.cli.plot import main
        main(sys.argv[1:])
        roots = {name.partition(".")[0] for name in sys.modules}
        print(json.dumps(sorted(roots & {"torch", "hydra", "omegaconf", "numba", "seaborn"})))"""
    words = [str(write_runs(place / "runs")), "--out", str(place / "out"), "--size", "double"]
    command = [sys.executable, "-c", program, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return place / "out", json.loads(done.stdout.splitlines()[-1])


def write_gamma_sweep(directory):
    for gamma in (0.0, 0.5, 1.0):
        for algo, level in (("pf_ogd", 0.7), ("df_ogd", 0.7 - 0.1 * gamma)):
            levels = {0: level, 1: level + 0.1 * gamma, 2: level}
            write_run(directory / f"{algo}-{gamma}", algo, levels, config={"data.gamma": gamma})
    return directory


def files(directory) -> set[str]:
    return {path.name for path in directory.iterdir()} - {STAMPS}


def colours(picture: np.ndarray) -> int:
    """How many different ones; a colour's four bytes are one integer, which sorts fast."""
    return len(np.unique((255 * picture).round().astype(np.uint8).view(np.uint32)))


def test_curves_are_written_as_png_pdf_and_csv(drawn):
    out, printed = drawn
    expected = {f"{stem}.{ending}" for stem in FIGURES for ending in ("png", "pdf", "csv")}
    assert files(out) == expected | {"summary.csv"}
    assert set(printed.split()) == {str(out / name) for name in files(out)}


def test_pictures_are_real_and_of_the_size_of_a_column(drawn, runs, tmp_path):
    main([str(runs), "--out", str(tmp_path / "single"), "--size", "single"])
    for out, inches in ((tmp_path / "single", 3.4), (drawn[0], 6.9)):
        for stem in FIGURES:
            picture = image.imread(out / f"{stem}.png")  # [rows, columns, RGBA]
            assert picture.shape[1] == round(200 * inches)
            assert 200 < picture.shape[0] < 1400
            assert colours(picture) > 50


def test_pdfs_embed_truetype_fonts_and_are_reproducible(drawn, drawn_elsewhere):
    content = (drawn[0] / "cost.pdf").read_bytes()
    assert content.startswith(b"%PDF")
    assert b"/FontFile2" in content
    assert b"/Type3" not in content
    assert content == (drawn_elsewhere[0] / "cost.pdf").read_bytes()


def test_neither_torch_nor_hydra_nor_seaborn_is_imported(drawn_elsewhere):
    assert drawn_elsewhere[1] == []


def test_numbers_beside_the_figures(drawn):
    out, _ = drawn
    regret = pd.read_csv(out / "regret.csv").query("algorithm == 'df_ogd'")
    expected = [0.601 - BEST_COST + harmonic(t) / t for t in regret["t"]]
    np.testing.assert_allclose(regret["mean"], expected)
    overview = pd.read_csv(out / "overview.csv")
    assert set(overview["column"]) == {"avg_cost", "avg_mse"}
    summary = pd.read_csv(out / "summary.csv").set_index("algorithm")
    assert set(summary.index) == set(ALGORITHMS)
    assert summary.loc["df_ftpl", "avg_mse_mean"] == pytest.approx(2 * 0.611)
    assert summary.loc["df_ftpl", ["seeds", "rounds"]].tolist() == [3, 100]
    assert summary["avg_cost_ci95"].gt(0).all()


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


@pytest.mark.usefixtures("unrendered")
def test_the_newest_sweep_is_the_default(runs, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runs.rename(tmp_path / "outputs-runs")
    (tmp_path / "outputs").mkdir()
    moved = (tmp_path / "outputs-runs").rename(tmp_path / "outputs" / "runs")
    write_sweep(tmp_path / "outputs" / "sweeps" / "two", [moved / "df_ogd", moved / "pf_ogd"])
    for algo in ALGORITHMS:
        os.utime(moved / algo / "summary.json", (1e9, 1e9))
    assert main(["--list"]) == 0
    listed = capsys.readouterr().out
    assert "pf_ogd" in listed
    assert "uniform" not in listed
    main([])
    assert "cost.png" in files(tmp_path / "outputs" / "figures")


def test_list_shows_what_differs_and_draws_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    sweep = write_gamma_sweep(tmp_path / "sweep")
    assert main([str(sweep), "--list"]) == 0
    head, *rows, _, total = capsys.readouterr().out.splitlines()
    assert head.split()[:2] == ["run", "state"]
    assert len(rows) == 6
    assert "6 finished" in total
    first = next(row for row in rows if "df_ogd-0.0" in row)
    assert "data.gamma=0.0" in first
    assert f"{0.7 + harmonic(100) / 100:.4f} ± 0.0000" in first
    assert files(tmp_path) == {"sweep"}


@pytest.mark.usefixtures("unrendered")
def test_a_spoilt_seed_is_named_on_stderr_and_the_rest_is_drawn(runs, tmp_path, capsys):
    (runs / "df_ogd" / "seed-1.csv").write_text("a,b\n1,2\n")
    assert main([str(runs), "--out", str(tmp_path / "out"), "--x", "algo"]) == 0
    assert "x_algo.png" in files(tmp_path / "out")
    line, drawn = capsys.readouterr().err.splitlines()
    assert "seed-1.csv" in line
    assert drawn == f"odfl: drawn: 4 runs of runs in {tmp_path / 'out'}"
    summary = pd.read_csv(tmp_path / "out" / "summary.csv").set_index("algorithm")
    assert summary.loc["df_ogd", "seeds"] == 2


REFUSED = {
    "no such directory": (["nowhere"], "nowhere: no such directory"),
    "unknown key": (["runs", "--x", "data.gama"], "did you mean data.gamma"),
    "unknown column": (["runs", "--x", "data.gamma", "--y", "kost"], "'kost'"),
    "slopes without --x": (["runs", "--loglog"], "--loglog needs one key"),
    "three keys": (["runs", "--x", "a,b,c"], "one key, or two"),
    "a heatmap over one value": (["runs", "--x", "algo,data.gamma"], "one value of data.gamma"),
    "panels of points": (["runs", "--panels", "--x", "data.gamma"], "--panels draws a column"),
    "no such value": (["runs", "--gap", "data.gamma=7:1"], "no run of '7'; there are 1.0"),
    "no width": (["runs", "--width", "100"], "--width 100"),
    "no style": (["runs", "--style", "nowhere"], "--style nowhere"),
    "a label without a name": (["runs", "--label", "mine"], "ALGORITHM=TEXT"),
    "a label of nobody": (["runs", "--label", "df_odg=A"], "did you mean df_ogd?"),
    "malformed gap": (["runs", "--gap", "pf_ogd"], "two algorithms"),
    "gap with itself": (["runs", "--gap", "pf_ogd:pf_ogd"], "two algorithms"),
    "gap of three": (["runs", "--gap", "a:b:c"], "two algorithms"),
    "absent algorithm": (["runs", "--gap", "spo:df_ogd"], "df_ftpl, df_ogd, pf_ogd, uniform"),
    "unknown option": (["runs", "--colour", "red"], "--colour"),
    "unknown size": (["runs", "--size", "huge"], "single"),
}


@pytest.mark.parametrize(("arguments", "reason"), REFUSED.values(), ids=REFUSED)
def test_bad_input_is_one_line_and_writes_nothing(runs, monkeypatch, arguments, reason):
    monkeypatch.chdir(runs.parent)
    with pytest.raises(UserError) as refusal:
        main(arguments)
    assert reason in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert files(runs.parent) == {"runs"}


@pytest.mark.usefixtures("unrendered")
def test_an_out_that_cannot_be_written_is_refused(runs, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"--out: cannot write .*file"):
        main([str(runs), "--out", str(tmp_path / "file")])
    (tmp_path / "out" / "mse.png").mkdir(parents=True)
    with pytest.raises(UserError, match=r"mse\.png"):
        main([str(runs), "--out", str(tmp_path / "out")])
    assert not [name for name in files(tmp_path / "out") if name.startswith(".")]


def test_help_is_printed(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--help"])
    assert end.value.code == 0
    told = capsys.readouterr().out
    assert all(option in told for option in ("--out", "--x", "--y", "--gap", "--list", "--size"))
    assert "odfl plot outputs/sweeps/misspecification --x data.gamma --gap pf_ogd:df_ogd" in told


def line(algorithm: str, level: float, varying=None) -> Line:
    """A curve that settles at a level after a wild first round."""
    t = np.arange(1, 1001)
    mean = level + np.where(t < 10, 50.0, 0.01 * t / 1000)
    return Line(algorithm, varying or {}, pd.DataFrame({"x": t, "mean": mean, "ci95": 5.0 / t}))


def test_the_view_leaves_out_the_first_rounds_and_keeps_the_rest():
    low, high = view([line("df_ogd", 0.60), line("pf_ogd", 0.63)])
    assert 0.5 < low < 0.60
    assert 0.64 < high < 0.75


def test_a_far_reference_is_off_scale_and_a_near_one_is_not():
    near, far = line("uniform", 0.64), line("clairvoyant", 0.1)
    lines = [line("df_ogd", 0.60), line("pf_ogd", 0.63), near, far]
    assert off_scale(near, view(lines)) is None
    assert off_scale(far, view(lines)) == pytest.approx(0.11)
    assert view(lines)[0] > 0.5


def test_every_algorithm_has_a_style_of_its_own():
    styles = line_styles(["mine", "df_ogd", "another"])
    drawn = [(style.colour, style.dashes) for style in styles.values()]
    assert len(set(drawn)) == len(drawn) == len(LINE_STYLES) + 2
    assert styles["df_ogd"] == LINE_STYLES["df_ogd"]
    assert styles["mine"].name == "mine"


def test_curves_of_one_algorithm_share_the_line_style_and_differ_in_lightness():
    variants = [variant(LINE_STYLES["df_ogd"], place, 4) for place in range(4)]
    assert len({style.dashes for style in variants}) == 1
    brightness = [sum(style.colour) for style in variants]
    assert brightness == sorted(set(brightness))
    assert variant(LINE_STYLES["df_ogd"], 0, 1) == LINE_STYLES["df_ogd"]


def test_the_legend_reads_like_the_paper_with_references_last():
    lines = [line("uniform", 1), line("mine", 1), line("df_ogd", 1, {"data.gamma": 0.5})]
    lines.append(line("df_ogd", 1, {"data.gamma": 0.25}))
    names = [one.name for one in styled(lines, line_styles([one.algorithm for one in lines]))]
    gamma = r"DF-OGD, $\gamma$ = "
    assert names == [f"{gamma}0.25", f"{gamma}0.5", "mine", "Uniform"]


def test_long_names_get_fewer_columns():
    assert legend_columns(["DF-OGD"] * 4, 6.9) == 4
    assert legend_columns(["x" * 100] * 4, 6.9) == 1
    assert legend_columns(["DF-OGD"] * 40, 6.9) < 10


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


def test_what_did_not_change_is_not_drawn_again(runs, tmp_path, monkeypatch, capsys):
    words = [str(runs), "--x", "algo", "--out", str(tmp_path / "out"), "--format", "png"]
    main(words)
    first = capsys.readouterr()
    monkeypatch.setattr("odfl_cli.cli.plot.write_sheets", None)
    main(words)
    second = capsys.readouterr()
    assert second.out == first.out
    assert "unchanged" in second.err
    for change in (
        lambda: (tmp_path / "out" / "x_algo.png").write_bytes(b""),
        lambda: words.extend(["--title", "other"]),
        lambda: write_run(runs / "another", "spo"),
    ):
        monkeypatch.undo()
        main(words)
        monkeypatch.setattr("odfl_cli.cli.plot.write_sheets", None)
        main(words)
        change()
        with pytest.raises(TypeError):
            main(words)


def test_one_file_of_any_format_and_width(runs, tmp_path, capsys):
    options = ["--y", "avg_mse", "--title", "", "--width", "5", "--label", "df_ogd=Mine"]
    for ending in ("svg", "pdf", "png"):
        main([str(runs), "--out", str(tmp_path / f"a.{ending}"), *options, "--seeds"])
    assert files(tmp_path) == {"runs", "a.svg", "a.pdf", "a.png", "a.csv"}
    assert image.imread(tmp_path / "a.png").shape[1] == 1000
    assert b"Mine" in (tmp_path / "a.svg").read_bytes()
    assert b"seeds" not in (tmp_path / "a.svg").read_bytes()


def test_a_style_and_a_matplotlibrc_count(runs, tmp_path, monkeypatch):
    monkeypatch.setenv("MATPLOTLIBRC", str(tmp_path / "matplotlibrc"))
    (tmp_path / "matplotlibrc").write_text("font.size: 11\n")
    (tmp_path / "mine.mplstyle").write_text("axes.linewidth: 3\n")
    settings = Request(style=str(tmp_path / "mine.mplstyle")).rc()
    assert (settings["font.size"], settings["axes.linewidth"]) == (11, 3)
    assert settings["pdf.fonttype"] == 42


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


@pytest.mark.usefixtures("unrendered")
def test_a_file_may_be_drawn_again_with_other_columns_but_not_once_it_was_edited(runs, tmp_path):
    out = tmp_path / "a.png"
    main([str(runs), "--x", "algo", "--out", str(out)])
    main([str(runs), "--gap", "pf_ogd:df_ogd", "--x", "data.gamma", "--out", str(out)])
    table = tmp_path / "a.csv"
    table.write_text(table.read_text().replace("gap", "mine"))
    with pytest.raises(UserError, match=r"a\.csv: it exists and odfl did not write it"):
        main([str(runs), "--x", "algo", "--out", str(out)])


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
    expected = {("DF-OGD", 0.0): 0.3, ("DF-OGD", 1.0): 1.3, ("mine", 0.0): 0.6, ("mine", 1.0): 1.6}
    assert means.to_dict() == pytest.approx(expected)
    for words, message in (
        (["--x", "algo,algo"], "two keys"),
        (["--x", keys, "--label", "df_ogd=X", "--label", "mine=X"], "--label"),
    ):
        with pytest.raises(UserError, match=message):
            main([str(tmp_path / "runs"), *words, "--out", str(tmp_path / "again.png")])


def test_axes_of_keys_swept_in_ratios():
    assert all(map(is_swept_in_ratios, ([0.1, 1, 10], [1, 2, 4, 8], [1, 3, 10, 30], [1, 100])))
    assert not any(map(is_swept_in_ratios, ([0, 0.5, 1], [1, 2, 3], [5, 10], [0, 10, 100], [7])))


def test_long_names_are_folded_to_the_width():
    (name,) = folded([", ".join(f"data.key_{i} = {i}" for i in range(20))], 3.4)
    assert max(map(len, name.split("\n"))) * 0.062 <= 3.4
    assert folded(["DF-OGD"], 3.4) == ["DF-OGD"]
