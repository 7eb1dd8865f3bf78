"""Tables in README.md and docs/ are those of docs/data."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import cells
import note
import numpy as np
import pandas as pd
import pytest
import render
import streams
import streams_tables
from support.commands import REPOSITORY
from support.documents import ALL, PAGES
from support.samples import marked

from odfl_cli.environments.replay.environment import Replay


@pytest.mark.parametrize("page", PAGES)
def test_tables_are_those_of_the_data(page: str) -> None:
    assert render.render_blocks(PAGES[page]) == PAGES[page], "run make documents"


@pytest.mark.thorough
def test_tables_in_files_are_those_of_the_data_and_are_linked() -> None:
    files = render.table_files()
    assert set((render.DOCS / "tables").iterdir()) == set(files)
    for path, text in files.items():
        assert path.read_text() == text, "run make documents"
        assert f"tables/{path.name})" in ALL, path


def test_a_table_becomes_a_csv_file_and_an_html_page() -> None:
    rows = cells.rows_of(
        "| `a` | ‖w*‖₁ |\n|---|---|\n| **1 ± 2** | *`b`* |\n|  | x, y |\n\n*ten seeds*"
    )
    assert rows == [["a", "‖w*‖₁"], ["1 ± 2", "b"], ["", "x, y"]]
    assert cells.as_csv(rows) == 'a,‖w*‖₁\n1 ± 2,b\n,"x, y"\n'
    assert "<tr><td>1 ± 2</td><td>b</td></tr>" in cells.as_html(rows, "A < B")


def test_every_table_and_every_data_file_is_shown() -> None:
    shown = [name for text in PAGES.values() for _, name, _ in render.BLOCK.findall(text)]
    assert set(shown) == set(render.TABLES)
    assert len(re.findall(r"<!-- results:", ALL)) == len(shown)
    data = {file.stem for file in render.DATA.iterdir()}
    assert data == {
        *render.SWEEPS,
        "hindsight",
        *(f"stream_{name}" for name in streams.STREAMS),
        "bound",
        "checks",
        "claims",
        "claims_mean_cost",
        "equal",
        "feedback_tune",  # behind constants in conf/algo
        "foreign",
        "limits",
        "sets",
        "speed",
        "terrain_constant",
        "df_moments",
        "df_moments_ablation",
        "df_moments_ranking",
        "df_moments_robust",
        "feedback",
        "rankings",
        *(f"note_{name}" for name in note.MEASURED),
        "verdict",
    }


SOME_PAGES = ["README.md", "docs/results.md", "docs/configuration.md"]


@pytest.mark.parametrize(
    "pages", marked([SOME_PAGES, list(PAGES)], SOME_PAGES.__eq__), ids=["some", "all"]
)
def test_a_changed_number_in_the_data_changes_a_table(pages, tmp_path, monkeypatch) -> None:
    folder = tmp_path / "data"
    shutil.copytree(render.DATA, folder)
    table = render.read("knapsack").copy()
    table.loc[0, "avg_cost"] += 1.0
    table.to_csv(folder / "knapsack.csv", index=False)
    monkeypatch.setattr(render, "DATA", folder)
    render.read.cache_clear()
    try:
        changed = {page for page in pages if render.render_blocks(PAGES[page]) != PAGES[page]}
    finally:
        render.read.cache_clear()
    assert changed == {"README.md", "docs/results.md"}


@pytest.mark.parametrize(
    ("mean", "ci95", "shown"),
    [
        (0.43461, 0.00253, "0.4346 ± 0.0025"),
        (-8.5301, 0.2608, "−8.53 ± 0.26"),
        (344.6, 59.5, "345 ± 60"),
        (-0.0002, 0.0101, "0.000 ± 0.010"),
        (0.0, 0.0, "0"),
        (-1.07729, float("nan"), "−1.077"),
        (9.5e-7, float("nan"), "9.5e−07"),
        (float("nan"), float("nan"), "–"),
    ],
)
def test_numbers_have_the_digits_that_their_interval_allows(mean, ci95, shown) -> None:
    assert cells.plus_minus(mean, ci95) == shown


def test_an_interval_that_contains_zero_is_no_difference() -> None:
    wide, narrow = pd.Series([-1.0, 0.0, 2.0]), pd.Series([1.0, 1.1, 1.2])
    assert cells.gap(wide, 0 * wide)[1] == "not distinguishable from 0"
    assert cells.gap(narrow, 0 * narrow)[1] == "positive"
    assert cells.gap(0 * narrow, narrow)[1] == "negative"


def test_the_best_of_many_learners_needs_a_clearer_difference_than_one() -> None:
    assert streams_tables.read_off(-1.0, 0.9, 1) == "the learner pays less"
    assert streams_tables.read_off(-1.0, 0.9, 10) == "not distinguishable"
    assert streams_tables.read_off(2.0, 0.9, 10) == "the naive policy pays less"


def test_the_irish_market_becomes_rounds(tmp_path: Path, monkeypatch) -> None:
    """Two days of half-hours, one row twice and one price missing."""
    monkeypatch.chdir(tmp_path)
    names = ["Year", "Month", "Day", "PeriodOfDay", "HolidayFlag", "DayOfWeek"]
    forecasts = ["ForecastWindProduction", "SystemLoadEA", "SMPEA", "SMPEP2"]
    rows = [
        [2011, 11, day, slot, 0, day, *[day * 100 + slot] * 4]
        for day in (1, 2)
        for slot in range(48)
    ]
    table = pd.DataFrame([*rows, rows[7]], columns=[*names, *forecasts]).astype(object)
    table.loc[50, "SMPEP2"] = "?"
    table.to_csv("prices.csv", index=False)
    script = REPOSITORY / "reproduce" / "irish_market.py"
    subprocess.run([sys.executable, str(script), "prices.csv"], check=True)
    columns = {"round": "day", "item": "slot", "cost": "SMPEP2"}
    data = Replay(file="irish_market.csv", columns=columns, on_missing="last")
    costs = data.rounds((0,), 0, 2).costs[0]
    expected = np.array([[day * 100 + slot for slot in range(48)] for day in (1, 2)], dtype=float)
    expected[1, 2] = 102.0
    np.testing.assert_array_equal(costs, expected)
    assert data.feature_names[-1] == "SMPEA"
