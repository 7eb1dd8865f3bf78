"""The page in a real browser without a network."""

import base64
import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.browser import Browser, why_not
from support.commands import REPOSITORY
from support.finished_runs import write_failed, write_finished
from support.synthetic_runs import change_summary, seal, write_sweep

from odfl_cli.cli import main
from odfl_cli.core.text import tell
from odfl_cli.results.finding import find_runs
from odfl_cli.results.leaderboard import board

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(why_not()), reason=why_not()),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # of the driver's sockets
    pytest.mark.xdist_group("browser"),
]
LEVELS = {
    "df_ogd": {0: 0.50, 1: 0.52, 2: 0.56},
    "pf_ogd": {0: 0.60, 1: 0.63, 2: 0.65},
    "spo": {0: 0.51, 1: 0.51, 2: 0.57},
    "uniform": {0: 0.90, 1: 0.91, 2: 0.92},
}


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    one = Browser(tmp_path_factory.mktemp("downloads"))
    yield one
    one.driver.quit()


@pytest.fixture(scope="module")
def sweeps(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two sweeps; in the second one the environment switches, and a run failed."""
    root = tmp_path_factory.mktemp("outputs")
    first = [
        write_finished(root / "runs" / f"{algo}-1", algo, levels, rounds=300)
        for algo, levels in LEVELS.items()
    ]
    second = [
        write_finished(
            root / "runs" / f"{algo}-2", algo, {seed: 2 * x for seed, x in levels.items()},
            rounds=300, marks=(101, 201), config={"data.gamma": 0.5}, exponent=-0.5,
        )
        for algo, levels in LEVELS.items()
    ]  # fmt: skip
    failed = write_failed(root / "runs" / "restart-3", "restart", "no luck")
    return [
        write_sweep(root / "sweeps" / "first", first),
        write_sweep(root / "sweeps" / "second", [*second, failed]),
    ]


@pytest.fixture(scope="module")
def report(sweeps: list[Path]) -> Path:
    path = sweeps[0].parent / "report.html"
    assert main(["report", *map(str, sweeps), "-o", str(path)]) == 0
    return path


def rows_of(sweep: Path, algo: str, seed: int) -> pd.DataFrame:
    number = 1 if sweep.name == "first" else 2
    return pd.read_csv(sweep.parents[1] / "runs" / f"{algo}-{number}" / f"seed-{seed}.csv")


def shown_numbers(text: str) -> list[float]:
    return [float(number.replace("−", "-")) for number in re.findall(r"−?\d+\.?\d*", text)]


def test_asks_for_nothing_and_complains_of_nothing(browser: Browser, report: Path) -> None:
    browser.open(report)
    browser.click("#leaderboard button.sort", "first")
    browser.click("#leaderboard button.cell")
    assert browser.requests() == [report.resolve().as_uri()]
    assert browser.complaints() == []


def test_the_policy_stops_what_is_not_the_page(browser: Browser, report: Path) -> None:
    browser.open(report)
    browser.run(
        "const s = document.createElement('script'); s.textContent = 'window.stranger = 1';"
        "document.body.append(s);"
        "const i = document.createElement('img'); i.src = 'file:///etc/hostname';"
        "document.body.append(i)"
    )
    assert browser.run("return window.stranger") is None
    assert any("Content Security Policy" in line for line in browser.complaints())


def test_the_leaderboard_sorts(browser: Browser, report: Path) -> None:
    browser.open(report)
    names = "#leaderboard tbody th"
    browser.click("#leaderboard button.sort", "first")
    means = {algo: np.mean(list(levels.values())) for algo, levels in LEVELS.items()}
    words = {"df_ogd": "DF-OGD", "pf_ogd": "PF-OGD", "spo": "SPO+", "uniform": "Uniform reference"}
    ascending = [words[algo] for algo in sorted(means, key=means.__getitem__)]
    assert browser.texts(names) == ascending
    browser.click("#leaderboard button.sort", "first")
    assert browser.texts(names) == ascending[::-1]
    assert browser.run(
        "return document.querySelector('#leaderboard thead th:nth-child(2)').ariaSort"
    ) == "descending"  # fmt: skip


def test_the_gap_to_the_chosen_baseline_is_paired(browser: Browser, report: Path) -> None:
    browser.open(report, "base=spo&sort=name")
    (cell,) = list(browser.texts("#leaderboard tbody tr:first-child td:nth-child(2) small"))
    gaps = [LEVELS["df_ogd"][seed] - LEVELS["spo"][seed] for seed in range(3)]
    half = 4.302652729749464 * np.std(gaps, ddof=1) / np.sqrt(3)
    assert cell.startswith("≈")
    assert shown_numbers(cell) == pytest.approx([np.mean(gaps), half], abs=5e-4)


def test_shows_the_figures_of_odfl_best(browser: Browser, report: Path, sweeps: list[Path]) -> None:
    browser.open(report, "sort=name")
    browser.click("#leaderboard button", "CSV")
    saved = pd.read_csv(io.StringIO(browser.read_download("leaderboard_avg_cost.csv")))
    for sweep in sweeps:
        runs = [run for run in find_runs([sweep], tell) if run.is_whole]
        for one in board({"": runs}, "avg_cost").cells.values():
            row = saved[
                (saved["algorithm"] == one.run.algorithm) & (saved["comparison"] == sweep.name)
            ]
            assert row[["mean", "ci95"]].to_numpy()[0] == pytest.approx(list(one.figure.values()))


def test_a_grid_is_one_column_and_many_bands_are_bars(browser: Browser, tmp_path: Path) -> None:
    """Six values of γ: their mean by seed, so that other experiments stay on the screen."""
    gammas = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
    runs = [
        write_finished(
            tmp_path / "runs" / f"{algo}-{gamma}", algo, {0: level + gamma, 1: level - gamma},
            config={"data.gamma": gamma},
        )
        for gamma in gammas
        for algo, level in {"df_ogd": 0.3, "pf_ogd": 0.5, "spo": 0.6, "rls": 0.7, "uniform": 0.1}.items()
    ]  # fmt: skip
    sweep = write_sweep(tmp_path / "sweeps" / "gammas", runs)
    page = tmp_path / "page.html"
    assert main(["report", str(sweep), "-o", str(page)]) == 0
    browser.open(page)
    assert len(browser.texts("#leaderboard thead th")) == 2
    board = browser.run(
        "return leaderboard().rows.map(row => [row.algorithm, row.cells[0].mean, row.cells[0].n])"
    )
    offset = sum(1 / t for t in range(1, 101)) / 100
    assert board[0] == ["df_ogd", pytest.approx(0.3 + offset), 2]
    assert board[-1][0] == "uniform"  # a reference, though it pays least
    assert browser.run("return document.querySelectorAll('#curves .band').length") == 0
    assert browser.run("return document.querySelectorAll('#curves .bars line').length") > 0


def test_shows_every_number_of_the_readme(browser: Browser, tmp_path: Path) -> None:
    """In the report of runs that end with the values of docs/data, from which the table is made."""
    names = {
        "K = 80": "high_dimension",
        "K = 5": "main",
        "knapsack": "knapsack",
        "5×5 paths": "shortest_path",
    }
    columns = {"cost": "avg_cost", "MSE": "avg_mse", "dynamic regret": "avg_dynamic_regret"}
    sweeps = [runs_of_the_documents(tmp_path, sweep) for sweep in names.values()]
    page = tmp_path / "page.html"
    assert main(["report", *map(str, sweeps), "-o", str(page)]) == 0
    readme = (REPOSITORY / "README.md").read_text()
    (block,) = re.findall(r"<!-- results:headline -->(.*?)<!-- /results", readme, re.DOTALL)
    head, _, *rows = [line.strip("| ").split(" | ") for line in block.strip().splitlines()]
    shown = 0
    for by in columns.values():
        browser.open(page, f"by={by}")
        board = browser.run(
            "return Object.fromEntries(leaderboard().rows.map(row => [row.algorithm, Object.fromEntries("
            "row.cells.map((cell, i) => [page.content.comparisons[i].name, cell && plusMinus(cell.mean, cell.ci95)]))]))"
        )
        visible = browser.texts("#leaderboard .figure")
        for place, words in enumerate(head[1:], start=1):
            sweep, column = words.split(": ")
            for row in rows if columns[column] == by else []:
                figure = row[place].strip() if place < len(row) else ""
                if figure:
                    assert board[row[0].strip("`")][names[sweep]] == figure
                    assert figure in visible
                    shown += 1
    assert shown > 30


def runs_of_the_documents(root: Path, sweep: str) -> Path:
    """A sweep whose runs end with the values in docs/data."""
    data = pd.read_csv(REPOSITORY / "docs" / "data" / f"{sweep}.csv")
    runs = []
    for algo, rows in data.groupby("algo"):
        rounds = int(rows["t"].iloc[0])
        levels = dict.fromkeys(map(int, rows["seed"]), 0.5)
        run = write_finished(
            root / "runs" / f"{algo}-{sweep}", str(algo), levels, rounds=rounds, thin=rounds
        )
        for row in rows.to_dict("records"):
            path = run / f"seed-{row['seed']}.csv"
            table = pd.read_csv(path)
            for column in {"avg_cost", "avg_mse", "dynamic_regret"} & set(row):
                table[column] = row[column]
            table.to_csv(path, index=False, lineterminator="\n")
        seal(run)
        runs.append(run)
    return write_sweep(root / "sweeps" / sweep, runs)


def test_a_click_opens_the_curves_of_that_comparison(browser: Browser, report: Path) -> None:
    browser.open(report)
    browser.run("document.querySelectorAll('#leaderboard tbody tr:first-child .cell')[1].click()")
    assert browser.run("return document.querySelector('#curves select').value") == "second"
    assert browser.run("return document.activeElement.id") == "curves-heading"
    assert len(browser.texts("#curves .mark")) == 2 * len(browser.texts("#curves svg.chart"))


def test_hover_shows_the_value_of_the_csv(
    browser: Browser, report: Path, sweeps: list[Path]
) -> None:
    browser.open(report, "seeds=true&columns=avg_cost,regret")
    box = browser.run(
        "const svg = document.querySelector('#curves svg.chart'); svg.scrollIntoView();"
        "const r = svg.getBoundingClientRect(); return [r.left, r.top, r.width, r.height]"
    )
    place = {"x": box[0] + 0.6 * box[2], "y": box[1] + box[3] / 2}
    browser.cdp("Input.dispatchMouseEvent", type="mouseMoved", **place)
    browser.wait(lambda: browser.run("return document.querySelector('.cursor line') !== null"))
    rows = browser.run(
        "return [...document.querySelectorAll('#readout tbody tr')]"
        ".map(r => [...r.children].map(c => c.textContent.trim()))"
    )
    assert len(rows) == 3 * len(LEVELS)
    for name, t, avg_cost, regret in rows:
        algo = {"DF-OGD": "df_ogd", "PF-OGD": "pf_ogd", "SPO+": "spo", "Uniform": "uniform"}
        words, seed = name.split(", seed ")
        table = rows_of(sweeps[0], algo[words], int(seed)).set_index("t")
        assert 1 < int(t) < 300
        expected = table.loc[int(t), ["avg_cost", "regret"]]
        assert [float(avg_cost), float(regret)] == pytest.approx(list(expected), rel=1e-6)


def test_the_keyboard_moves_the_cursor_and_zooms(browser: Browser, report: Path) -> None:
    browser.open(report)
    browser.run("document.querySelector('#curves svg.chart').focus()")
    for key in ("Home", "ArrowRight", "+"):
        browser.run(
            "document.activeElement.dispatchEvent("
            "new KeyboardEvent('keydown', {key: arguments[0], bubbles: true}))",
            key,
        )
    assert browser.run("return document.activeElement.tagName") == "svg"
    assert "from=" in browser.run("return location.hash")
    ticks = browser.texts("#curves svg.chart text[text-anchor=middle]")
    assert "300" not in ticks


def test_a_drag_zooms_all_panels(browser: Browser, report: Path) -> None:
    browser.open(report)
    left, top, width, height = browser.run(
        "const svg = document.querySelector('#curves svg.chart'); svg.scrollIntoView();"
        "const r = svg.getBoundingClientRect(); return [r.left, r.top, r.width, r.height]"
    )
    y = top + height / 2
    for kind, share in (("mousePressed", 0.4), ("mouseMoved", 0.6), ("mouseReleased", 0.7)):
        where = {"x": left + share * width, "y": y}
        browser.cdp("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **where)
    browser.wait(lambda: "from=" in browser.run("return location.hash"))
    assert not browser.run("return [...document.querySelectorAll('#curves button')]"
                           ".find(b => b.textContent === 'Reset zoom').disabled")  # fmt: skip


def test_downloads_equal_the_csv(browser: Browser, report: Path, sweeps: list[Path]) -> None:
    browser.open(report, "comparison=second&seeds=true&columns=avg_cost,dynamic_regret")
    browser.click("#curves button", "CSV")
    saved = pd.read_csv(io.StringIO(browser.read_download("curves_second.csv")))
    assert set(saved["column"]) == {"avg_cost", "dynamic_regret"}
    for (column, algo, seed), rows in saved.groupby(["column", "algorithm", "seed"]):
        table = rows_of(sweeps[1], str(algo), int(seed)).set_index("t")[str(column)].dropna()
        assert list(rows["t"]) == list(table.index)  # so few rows are not thin_rounds
        assert rows["value"].to_numpy() == pytest.approx(table.to_numpy(), rel=1e-6)


def test_the_mean_and_its_interval_are_those_of_the_seeds(
    browser: Browser, report: Path, sweeps: list[Path]
) -> None:
    browser.open(report, "columns=avg_cost")
    browser.click("#curves button", "CSV")
    saved = pd.read_csv(io.StringIO(browser.read_download("curves_first.csv")))
    rows = saved[saved["algorithm"] == "spo"]
    tables = np.array([rows_of(sweeps[0], "spo", seed)["avg_cost"] for seed in range(3)])
    assert rows["mean"].to_numpy() == pytest.approx(tables.mean(axis=0), rel=1e-6)
    half = 4.302652729749464 * tables.std(axis=0, ddof=1) / np.sqrt(3)
    assert rows["ci95"].to_numpy() == pytest.approx(half, rel=1e-5)


def test_saves_figures_and_tables(browser: Browser, report: Path) -> None:
    browser.open(report)
    browser.click("#curves button", "SVG")
    svg = browser.read_download("curves_first.svg")
    assert svg.startswith("<svg")
    assert "DF-OGD" in svg
    assert "http://www.w3.org/2000/svg" in svg
    browser.click("#leaderboard button", "LaTeX")
    latex = browser.read_download("leaderboard_avg_cost.tex")
    assert "\\toprule" in latex
    assert "\\textbf{" in latex
    assert latex.count("\\\\\n") == 1 + len(LEVELS)
    browser.click("#leaderboard button", "CSV")
    board = list(csv.DictReader(io.StringIO(browser.read_download("leaderboard_avg_cost.csv"))))
    assert len(board) == 2 * len(LEVELS)


def test_the_fragment_restores_the_view(browser: Browser, report: Path) -> None:
    browser.open(report)
    browser.click("#leaderboard button.sort", "second")
    browser.run("document.querySelectorAll('#leaderboard tbody .cell')[1].click()")
    browser.click("#curves button.entry", "SPO+")
    browser.click("#curves label.tick", "log t")
    fragment = browser.run("return location.hash")[1:]
    picture = "return document.querySelector('#curves .panels').innerHTML.replace(/clip-\\d+/g, '')"
    board = browser.texts("#leaderboard tbody th")
    before = browser.run(picture)
    browser.open(report, fragment)
    assert browser.run(picture) == before
    assert browser.texts("#leaderboard tbody th") == board
    assert browser.run("return location.hash")[1:] == fragment


def test_failed_runs_are_told(browser: Browser, report: Path) -> None:
    browser.open(report)
    assert browser.texts("#alerts p")[0].startswith("Not all runs have results: 1 failed")
    (row,) = browser.texts("#trouble tbody tr")
    assert "restart-3" in row
    assert "no luck" in row
    assert len(browser.texts("#runs .runs > details")) == 9


def test_theory_and_recovery(browser: Browser, report: Path) -> None:
    browser.open(report, "comparison=second")
    table = " ".join(browser.texts("#theory tbody tr:first-child td"))
    assert "−0.50" in table  # the exponent that the runs were written with
    assert "0.5 (dynamic regret)" in table  # their bound is twice the regret
    heads = browser.texts("#curves h3 + .scroll thead th")
    assert heads[1:] == ["101", "201"]


def test_a_run_shows_its_command(browser: Browser, report: Path) -> None:
    browser.open(report, "run=spo-1")
    (summary,) = browser.texts("#runs .runs > details > summary")
    assert "SPO+" in summary
    browser.click("#runs summary")
    browser.wait(lambda: browser.texts("#runs .again code"))
    assert browser.texts("#runs .again code")[0].startswith("odfl run algo=spo")


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_fits_the_screen(browser: Browser, report: Path, width: int, scheme: str) -> None:
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    scheme_feature = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.cdp("Emulation.setDeviceMetricsOverride", **metrics)
    browser.cdp("Emulation.setEmulatedMedia", features=scheme_feature)
    browser.open(report)
    assert browser.run("return document.documentElement.scrollWidth") <= width
    paper = browser.run("return getComputedStyle(document.documentElement).backgroundColor")
    lightness = np.mean([int(part) for part in re.findall(r"\d+", paper)])
    assert (lightness > 128) == (scheme == "light")
    browser.cdp("Emulation.clearDeviceMetricsOverride")
    browser.cdp("Emulation.setEmulatedMedia", features=[])


def test_prints(browser: Browser, report: Path) -> None:
    browser.open(report)
    printed = base64.b64decode(browser.cdp("Page.printToPDF", printBackground=True)["data"])
    assert printed.startswith(b"%PDF")
    assert len(printed) > 20_000


def test_names_for_screen_readers(browser: Browser, report: Path) -> None:
    browser.open(report)
    tree = browser.cdp("Accessibility.getFullAXTree")["nodes"]
    roles = ("button", "combobox", "checkbox", "image", "searchbox")
    asked = [node for node in tree if node.get("role", {}).get("value") in roles]
    assert len(asked) > 30
    assert [node for node in asked if not node.get("name", {}).get("value")] == []


def test_hostile_names_do_nothing(browser: Browser, tmp_path: Path) -> None:
    name = (
        "<img src=x onerror=window.hacked=1>\"'&</script><script>window.hacked=1</script>\x1b[31m"
    )
    for algo in (name, "spo"):
        folder = f"{algo.replace('/', '')}-1"
        run = write_finished(tmp_path / "runs" / folder, algo, config={f"data.{name}": name})
        change_summary(run, broken_assumptions=[name], versions={name: name}, seconds={name: 1.0})
    write_failed(tmp_path / "runs" / "bad-1", name, name)
    assert main(["report", str(tmp_path / "runs"), "-o", str(tmp_path / "page.html")]) == 0
    browser.open(tmp_path / "page.html", f"comparison={name}&columns={name}&base={name}")
    browser.run("document.querySelectorAll('#runs summary').forEach(node => node.click())")
    browser.wait(lambda: browser.texts("#runs .facts"))
    assert browser.run("return window.hacked") is None
    assert browser.run("return document.querySelectorAll('main img').length") == 0
    assert any("onerror" in text for text in browser.texts("#leaderboard tbody th"))
    assert browser.requests()[1:] == []
    assert browser.complaints() == []
