"""`odfl plot` from the command line to the files."""

import io
import json
import os
import re
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib import image
from support.pictures import colours
from support.synthetic_runs import harmonic, write_gamma_sweep, write_run, write_sweep

from odfl_cli.cli.plot import main
from odfl_cli.core.errors import UserError
from odfl_cli.plotting.figure_files import Sheet
from odfl_cli.plotting.request import Request

ALGORITHMS = ("df_ogd", "df_ftpl", "pf_ogd", "uniform")


FIGURES = {"overview", "forest"}


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
    return out / "runs", printed.getvalue()


def draw_elsewhere(place: Path, out: Path) -> list[str]:
    """The same by another process, and which heavy packages it imported."""
    program = """if True:
        import json, sys
        from odfl_cli.cli.plot import main
        main(sys.argv[1:])
        roots = {name.partition(".")[0] for name in sys.modules}
        print(json.dumps(sorted(roots & {"torch", "hydra", "omegaconf", "numba", "seaborn"})))"""
    words = [str(write_runs(place / "runs")), "--out", str(out), "--size", "double"]
    command = [sys.executable, "-c", program, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def files(directory) -> set[str]:
    return {path.name for path in directory.iterdir()}


@pytest.mark.thorough
def test_curves_are_written_as_png_pdf_and_csv(drawn):
    out, printed = drawn
    expected = {f"{stem}.{ending}" for stem in FIGURES for ending in ("png", "pdf", "csv")}
    assert files(out) == expected | {"summary.csv"}
    assert printed == f"{out}: overview, forest, summary\n"


@pytest.mark.thorough
def test_pictures_are_real_and_of_the_size_of_a_column(drawn, runs, tmp_path):
    main([str(runs), "--out", str(tmp_path / "single"), "--size", "single"])
    for out, inches in ((tmp_path / "single" / "runs", 3.4), (drawn[0], 6.9)):
        for stem in FIGURES:
            picture = image.imread(out / f"{stem}.png")  # [rows, columns, RGBA]
            assert picture.shape[1] == round(200 * inches)
            assert 200 < picture.shape[0] < 1400
            assert colours(picture) > 50


@pytest.mark.thorough
def test_pdfs_embed_truetype_fonts_and_are_reproducible(drawn, tmp_path):
    content = (drawn[0] / "forest.pdf").read_bytes()
    assert content.startswith(b"%PDF")
    assert b"/FontFile2" in content
    assert b"/Type3" not in content
    assert draw_elsewhere(tmp_path, tmp_path / "out") == []
    assert content == (tmp_path / "out" / "runs" / "forest.pdf").read_bytes()


def test_a_table_has_no_rounding_errors():
    numbers = pd.DataFrame(
        {"algorithm": ["a", "b"], "regret": [68.5, 1.2e-12], "cost": [1e-13, -2e-13]}
    )
    (content,) = Sheet("summary", None, numbers).contents(())
    assert content.decode().split() == ["algorithm,regret,cost", "a,68.5,1e-13", "b,0,-2e-13"]


@pytest.mark.usefixtures("unrendered")
def test_numbers_beside_the_figures(runs, tmp_path):
    """They have six significant digits: more would differ from machine to machine."""
    assert main([str(runs), "--out", str(tmp_path / "out")]) == 0
    out = tmp_path / "out" / "runs"
    overview = pd.read_csv(out / "overview.csv")
    cost = overview.query("algorithm == 'df_ogd' and column == 'avg_cost'")
    expected = [0.601 + harmonic(t) / t for t in cost["t"]]
    np.testing.assert_allclose(cost["mean"], expected, rtol=1e-5)
    assert set(overview["column"]) == {"avg_cost", "avg_mse"}
    summary = pd.read_csv(out / "summary.csv").set_index("algorithm")
    assert set(summary.index) == set(ALGORITHMS)
    assert summary.loc["df_ftpl", "avg_mse_mean"] == pytest.approx(2 * 0.611, rel=1e-5)
    assert summary.loc["df_ftpl", ["seeds", "rounds"]].tolist() == [3, 100]
    assert summary["avg_cost_ci95"].gt(0).all()
    for table in out.glob("*.csv"):
        for cell in re.findall(r"-?[0-9]+\.[0-9]+", table.read_text()):
            assert len(cell.strip("-").replace(".", "").lstrip("0")) <= 6, (table, cell)


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
    main(["--x", "algo"])
    assert "x_algo.png" in files(tmp_path / "outputs" / "figures" / "two")


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
    (line,) = capsys.readouterr().err.splitlines()
    assert "seed-1.csv" in line
    summary = pd.read_csv(tmp_path / "out" / "runs" / "summary.csv").set_index("algorithm")
    assert summary.loc["df_ogd", "seeds"] == 2


REFUSED = {
    "no such directory": (["nowhere"], "nowhere: no such directory"),
    "unknown key": (["runs", "--x", "data.gama"], "did you mean data.gamma"),
    "a panel of no key": (["runs", "--col", "data.gama"], "--col data.gama: no run has this key"),
    "unknown column": (["runs", "--x", "algo", "--y", "kost"], "--y kost"),
    "slopes without --x": (["runs", "--loglog"], "--loglog needs one key"),
    "three keys": (["runs", "--x", "a,b,c"], "one key, or two"),
    "a heatmap over one value": (["runs", "--x", "algo,data.gamma"], "all runs have the value 1.0"),
    "panels of points": (["runs", "--panels", "--x", "data.gamma"], "--panels draws a column"),
    "no such value": (["runs", "--gap", "data.gamma=7:1"], "no run of '7'; there are 1.0"),
    "no width": (["runs", "--width", "100"], "--width 100"),
    "no style": (["runs", "--style", "nowhere"], "--style nowhere"),
    "a label without a name": (["runs", "--label", "mine"], "ALGORITHM=TEXT"),
    "a label of nobody": (["runs", "--label", "df_odg=A"], "did you mean df_ogd?"),
    "a key that was not swept": (
        ["runs", "--x", "data.gamma"],
        "all runs have the value 1.0; they",
    ),
    "a format of others": (
        ["runs", "--out", "fig.jpg"],
        "--out fig.jpg: figures are png, pdf or svg",
    ),
    "an absent figure": (
        ["runs", "--figures", "bounds"],
        "--figures bounds: this figure is gone; --y avg_bound,avg_dynamic_regret draws both",
    ),
    "no seeds": (["runs", "--seeds"], "--each-seed draws a line for each"),
    "no runs": (
        ["runs/../empty"],
        "nothing to plot in runs/../empty: no directory there holds a run",
    ),
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
    (runs.parent / "empty").mkdir()
    with pytest.raises(UserError) as refusal:
        main(arguments)
    assert reason in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert files(runs.parent) == {"runs", "empty"}


@pytest.mark.usefixtures("unrendered")
def test_an_out_that_cannot_be_written_is_refused(runs, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"file/runs: cannot write there"):
        main([str(runs), "--out", str(tmp_path / "file")])
    (tmp_path / "out" / "runs" / "forest.png").mkdir(parents=True)
    with pytest.raises(UserError, match=r"forest\.png"):
        main([str(runs), "--out", str(tmp_path / "out")])
    assert not [name for name in files(tmp_path / "out" / "runs") if name.startswith(".")]


@pytest.mark.usefixtures("unrendered")
def test_every_sweep_has_a_folder_of_its_own(runs, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        write_sweep(tmp_path / "outputs" / "sweeps" / name, [runs / "df_ogd", runs / "pf_ogd"])
        assert main([name, "--x", "algo", "--format", "png"]) == 0
    assert files(tmp_path / "outputs" / "figures") == {"one", "two"}
    assert capsys.readouterr().out.splitlines() == [
        f"outputs/figures/{name}: x_algo, summary" for name in ("one", "two")
    ]
    assert main([str(runs / "df_ogd"), "--figures", "cost", "--format", "png"]) == 0
    assert files(tmp_path / "outputs" / "figures" / "df_ogd") == {
        "cost.png",
        "cost.csv",
        "summary.csv",
    }


@pytest.mark.thorough
def test_one_file_of_any_format_and_width(runs, tmp_path, capsys):
    options = ["--y", "avg_mse", "--title", "", "--width", "5", "--label", "df_ogd=Mine"]
    for ending in ("svg", "pdf", "png"):
        main([str(runs), "--out", str(tmp_path / f"a.{ending}"), *options, "--each-seed"])
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
def test_a_file_may_be_drawn_again_with_other_columns_but_not_once_it_was_edited(runs, tmp_path):
    out = tmp_path / "a.png"
    main([str(runs), "--x", "algo", "--out", str(out)])
    main([str(runs), "--gap", "pf_ogd:df_ogd", "--out", str(out)])
    table = tmp_path / "a.csv"
    table.write_text("gap,mine\n1,2\n")
    with pytest.raises(UserError, match=r"a\.csv: it exists and odfl did not write it"):
        main([str(runs), "--x", "algo", "--out", str(out)])
