"""A report of many runs: seconds to write it, its size, and seconds until a browser has drawn it."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from support.browser import Browser, why_not
from support.finished_runs import write_finished
from support.synthetic_runs import write_sweep

from benchmarks.report import Row, Section
from benchmarks.timing import seconds
from odfl_cli.report.content import document
from odfl_cli.report.page import page
from odfl_cli.report.sources import experiments

RUNS = 2000
ALGORITHMS = ("df_ogd", "df_ftpl", "pf_ogd", "spo", "uniform")


def sections() -> Iterator[Section]:
    """One sweep of 2,000 runs, each with two seeds and settings of its own."""
    with tempfile.TemporaryDirectory() as folder:
        sweep = _sweep(Path(folder))
        path = Path(folder, "page.html")
        written = seconds(lambda: path.write_text(page(document(experiments([sweep]), []))))
        size = path.stat().st_size / 1e6
        rows = [Row(f"read, and written as {size:.2f} MB", written), _open_page(path, Path(folder))]
    yield Section(f"odfl report of {RUNS:,} runs", rows)


def _sweep(folder: Path) -> Path:
    runs = [
        write_finished(
            folder / "runs" / f"run-{number}", ALGORITHMS[number % len(ALGORITHMS)],
            {0: 0.5 + number / RUNS, 1: 0.6 + number / RUNS}, rounds=200,
            config={"algo.eta": number // len(ALGORITHMS)},
        )
        for number in range(RUNS)
    ]  # fmt: skip
    return write_sweep(folder / "sweeps" / "many", runs)


def _open_page(path: Path, downloads: Path) -> Row:
    """The time from the start of the navigation until every section is drawn and responds."""
    if reason := why_not():
        return Row(f"opened in Chromium: not measured, {reason}")
    browser = Browser(downloads)
    try:
        drawn = min(_draw_seconds(browser, path) for _ in range(3))
    finally:
        browser.driver.quit()
    return Row("interactive in Chromium", drawn / 1000, at_most_seconds=1.0)


def _draw_seconds(browser: Browser, path: Path) -> float:
    browser.open(path)
    return float(browser.run("return document.documentElement.dataset.drawn"))
