"""What README.md and docs/ show is what happens."""

import importlib
import inspect
import json
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from types import FrameType

import cells
import keys
import numpy as np
import pandas as pd
import pytest
import render
import streams
import streams_tables
import yaml
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import IntervalSweep
from scipy.optimize import linprog
from support.commands import REPOSITORY, odfl, run_directories
from support.problems import finite_difference
from support.samples import marked

import odfl_cli
from odfl_cli.cli.parser import Parser
from odfl_cli.config.compose import compose_job
from odfl_cli.config.schema import TopLevel
from odfl_cli.environments import Replay

PAGES = {page.relative_to(REPOSITORY).as_posix(): page.read_text() for page in render.PAGES}
ALL = "\n".join(PAGES.values())
FILES = dict(re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```", ALL, re.DOTALL))
PARTS = (
    "my_algorithm.py",
    "my_follower.py",
    "my_environment.py",
    "my_polytope.py",
    "my_predictor.py",
)


def commands() -> list[tuple[str, ...]]:
    """The arguments of every `odfl …` in a block or in a line, without those that are cut short.

    A verb without arguments, in a line, is a name (`odfl best`, `odfl data check`).
    """
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", ALL, re.DOTALL | re.MULTILINE)
    typed = "\n".join(block for language, block in blocks if not language)
    shown = re.findall(r"^odfl (.*)$", typed, re.MULTILINE)
    shown += re.findall(r"(?<!`)`odfl (?!data \w+`)(\w+ [^`\n]*)`", ALL)
    whole = [line for line in dict.fromkeys(shown) if "…" not in line and "<" not in line]
    return [tuple(shlex.split(line, comments=True)) for line in whole]


RUNS = [command[1:] for command in commands() if command[0] == "run"]
WITH_OWN_PARTS = [command for command in RUNS if "--config-dir" in command]
OTHERS = [command for command in commands() if command[0] != "run"]


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with all files of the guides, where Python looks for modules too."""
    for name, content in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in [Path(part).stem for part in PARTS]:
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


# Tables


@pytest.mark.parametrize("page", PAGES)
def test_tables_are_those_of_the_data(page: str) -> None:
    assert render.rendered(PAGES[page]) == PAGES[page], "run make documents"


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
        "claims",
        "limits",
        "speed",
        "terrain_constant",
        "df_moments",
        "df_moments_ablation",
        "df_moments_ranking",
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
        changed = {page for page in pages if render.rendered(PAGES[page]) != PAGES[page]}
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
    assert cells.gap(wide)[1] == "not distinguishable from 0"
    assert cells.gap(narrow)[1] == "positive"
    assert cells.gap(-narrow)[1] == "negative"


def test_the_best_of_many_learners_needs_a_clearer_difference_than_one() -> None:
    assert streams_tables.read_off(-1.0, 0.9, 1) == "the learner pays less"
    assert streams_tables.read_off(-1.0, 0.9, 10) == "not distinguishable"
    assert streams_tables.read_off(2.0, 0.9, 10) == "the naive policy pays less"


def test_the_irish_market_becomes_rounds(written: Path) -> None:
    """Two days of half-hours, one row twice and one price missing."""
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
    subprocess.run([sys.executable, "irish_market.py", "prices.csv"], check=True)
    columns = {"round": "day", "item": "slot", "cost": "SMPEP2"}
    data = Replay(file="irish_market.csv", columns=columns, on_missing="last")
    costs = data.rounds((0,), 0, 2).costs[0]
    expected = np.array([[day * 100 + slot for slot in range(48)] for day in (1, 2)], dtype=float)
    expected[1, 2] = 102.0
    np.testing.assert_array_equal(costs, expected)
    assert data.feature_names[-1] == "SMPEA"


# Configuration


def test_every_group_and_choice_is_named() -> None:
    page = PAGES["docs/configuration.md"].split("<!-- results:keys -->")[0]
    conf = REPOSITORY / "conf"
    for choice in conf.glob("*/**/*.yaml"):
        group = choice.parent.relative_to(conf).as_posix()
        if not group.startswith(("tuned/", "solver", "belief")) and not group.endswith("_for"):
            assert f"`{group}`" in page
            assert f"`{choice.stem}`" in page


def test_every_key_has_a_meaning() -> None:
    rows = [row for row in keys.keys().splitlines() if row.startswith("| `")]
    assert len(rows) > 50
    assert [row for row in rows if row.endswith("|  |")] == []
    meanings = [row.removesuffix(" |").rpartition(" | ")[2] for row in rows]
    fragments = ("of ", "on ", "as ", "or ", "from ", "between ", "needs ", "null:", "true:")
    assert [text for text in meanings if text.startswith(fragments)] == []
    assert {f"| `{name}` " for name in TopLevel.model_fields} <= {
        row[: row.index("|", 2)] for row in rows
    }


def test_ranges_are_those_of_the_settings() -> None:
    table = keys.keys()
    assert (
        "| `algo.delta` | `null` (`df_ogd`), `1.0` (`df_ogd_endpoint`) | number ≥ 0, ≤ 1 or null |"
        in table
    )
    assert "| `data.gamma` | `1.0` (`sin4`) | number ≥ 0, ≤ 1 |" in table


# Links and names


@pytest.mark.parametrize("page", [*PAGES, "CHANGELOG.md", "CONTRIBUTING.md", "outputs/README.md"])
def test_every_link_leads_somewhere(page: str) -> None:
    path = REPOSITORY / page
    for link in re.findall(r"\]\((?!http)([^)\s]+)\)", path.read_text()):
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        assert target.exists(), link
        if target.suffix == ".png":
            assert target.read_bytes().startswith(b"\x89PNG"), link
        if anchor:
            assert anchor in anchors(target.read_text()), link


def anchors(text: str) -> set[str]:
    """The anchors that headings get on the usual hosts."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_df_ogd_is_found_from_the_readme() -> None:
    links = set(re.findall(r"\]\(([^)#\s]+)\)", PAGES["README.md"]))
    assert {
        "odfl_cli/algorithms/df_ogd.py",
        "odfl_cli/engine/kernels/df_ogd.py",
        "tests/algorithms",
        "conf/algo/df_ogd.yaml",
    } <= links


def test_the_page_on_design_names_all_that_a_run_executes(tmp_path: Path) -> None:
    package, executed = REPOSITORY / "odfl_cli", set()

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if (
            event == "call"
            and code.co_flags & inspect.CO_OPTIMIZED
            and code.co_filename.startswith(str(package))
        ):
            executed.add(Path(code.co_filename).relative_to(package))

    sys.setprofile(note)
    try:
        assert odfl("run", "algo=df_ogd", "horizon=smoke", "seeds=1", cwd=tmp_path).returncode == 0
    finally:
        sys.setprofile(None)
    walk = (
        (REPOSITORY / "docs/design.md").read_text().split("## One run")[1].split("A sweep goes")[0]
    )
    read = set(re.findall(r"odfl_cli/([a-z_0-9/]+\.py)\)", walk))
    assert len(read) <= 30
    assert {Path(module) for module in read} - executed <= {
        Path("engine/torch_engine.py"),
        Path("metrics/regret.py"),
    }
    for module in sorted(executed):
        assert module.parts[0] == "core" or module.name in walk, module
    assert all((package / module).is_file() for module in read)


def test_the_readme_is_short() -> None:
    assert len(PAGES["README.md"].splitlines()) <= 170


def test_every_page_is_linked_and_says_what_it_is_for() -> None:
    for page, text in PAGES.items():
        if page != "README.md":
            assert f"]({page})" in PAGES["README.md"]
            assert text.split("\n\n")[1].startswith("After reading this page you ")


def test_no_internal_path_outside_the_page_on_design() -> None:
    for page, text in PAGES.items():
        if page != "docs/design.md":
            assert re.findall(r"odfl_cli\.\w+", text) == [], page


def test_what_the_pages_import_can_be_imported() -> None:
    imported = {
        name.strip()
        for names in re.findall(
            r"^from odfl_cli import (.*)$", "\n".join(FILES.values()), re.MULTILINE
        )
        for name in names.split(",")
    }
    assert [name for name in sorted(imported) if not hasattr(odfl_cli, name)] == []


def test_the_citation_is_of_this_version() -> None:
    citation = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text())
    assert citation["version"] == odfl_cli.__version__
    assert f"## {odfl_cli.__version__}" in (REPOSITORY / "CHANGELOG.md").read_text()


# Commands


def test_make_lists_every_target() -> None:
    targets = re.findall(
        r"^\.PHONY: ((?:.*\\\n)*.*)$", (REPOSITORY / "Makefile").read_text(), re.MULTILINE
    )
    names = set(" ".join(targets).replace("\\", " ").split()) - {"help"}
    listed = subprocess.run(["make", "help"], cwd=REPOSITORY, capture_output=True, text=True).stdout
    assert {line.split()[0] for line in listed.splitlines() if line.startswith("  ")} == names
    shown = re.findall(r"`make ([a-z-]+)`|^make ([a-z-]+)", ALL, re.MULTILINE)
    assert {name for pair in shown for name in pair if name} <= names


@pytest.mark.parametrize("command", [c for c in RUNS if c not in WITH_OWN_PARTS], ids=" ".join)
def test_every_run_is_composed(command: tuple[str, ...]) -> None:
    words = [word for word in command if not word.startswith("-") and word != "job"]
    compose_job([first_of(word) for word in words if not of_a_plugin(word)])


def first_of(word: str) -> str:
    """An override with the first of the values that it sweeps over."""
    override = OverridesParser.create().parse_override(word)
    if not override.is_sweep_override():
        return word
    value = override.value()
    first = (
        value.start if isinstance(value, IntervalSweep) else next(override.sweep_string_iterator())
    )
    return f"{override.get_key_element()}={first}"


def of_a_plugin(word: str) -> bool:
    """Whether an override chooses or sets a plugin of Hydra; a choice must have its file."""
    key, _, value = word.partition("=")
    if key.startswith("hydra/"):
        assert (REPOSITORY / "conf" / key / f"{value}.yaml").exists()
    return key.startswith(("hydra/", "hydra."))


class ParsedError(Exception):
    """The command line was understood."""


@pytest.mark.parametrize("command", OTHERS, ids=" ".join)
def test_every_other_command_is_parsed(command: tuple[str, ...], monkeypatch) -> None:
    for name in ("parse_args", "parse_intermixed_args"):
        monkeypatch.setattr(Parser, name, parsed(getattr(Parser, name)))
    verb, *arguments = command
    if verb == "completion":
        assert arguments in (["bash"], ["zsh"])
        return
    with pytest.raises(ParsedError):
        importlib.import_module(f"odfl_cli.cli.{verb}").main(arguments)


def parsed(parse):
    def stop(self, *arguments):
        parse(self, *arguments)
        raise ParsedError

    return stop


def test_the_first_commands_of_the_readme_run(tmp_path: Path) -> None:
    block = PAGES["README.md"].split("## Six commands to type")[1].split("```")[1]
    shown = [shlex.split(line, comments=True)[1:] for line in block.strip().splitlines()]
    assert len(shown) == 6
    for command in shown[:2]:
        done = odfl(*command, "horizon=smoke", "seeds=2", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    assert len(run_directories(tmp_path)) == 6
    done = odfl(*shown[3], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "outputs/figures/gap.png").exists()
    done = odfl(shown[5][0], cwd=tmp_path)  # of the newest sweep
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "report.html").exists()


# Guides


def test_parts_of_your_own_are_short() -> None:
    for name in PARTS:
        assert len(FILES[name].splitlines()) <= 25


def test_parts_of_your_own_run(written: Path) -> None:
    assert len(WITH_OWN_PARTS) == 3
    for command in WITH_OWN_PARTS:
        done = odfl("run", *command, "horizon=smoke", "seeds=2", cwd=written)
        assert done.returncode == 0, done.stderr
    summaries = [json.loads((run / "summary.json").read_text()) for run in run_directories(written)]
    by_algorithm = {summary["choices"]["algo"]: summary for summary in summaries}
    assert set(by_algorithm) == {"mine", "follower", "df_ogd"}
    assert by_algorithm["follower"]["choices"]["oracle"] == "multistart"
    assert by_algorithm["mine"]["config"]["algo"]["rate"] == 0.005
    chosen = by_algorithm["df_ogd"]["choices"]
    assert (chosen["data"], chosen["polytope"], chosen["predictor"]) == (
        "hills",
        "at_least",
        "softsign",
    )
    assert {summary["engine"] for summary in summaries} == {"torch"}


def test_the_set_in_a_file_runs(written: Path) -> None:
    (command,) = (command for command in RUNS if "polytope.file=my_set.yaml" in command)
    done = odfl("run", *command, "horizon=smoke", "seeds=1", cwd=written)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "script",
    [
        "first.py",
        "notebook.py",
        "mixed.py",
        "gammas.py",
        "own_parts.py",
        "with_a_module.py",
        "learnt.py",
    ],
)
def test_scripts_run(script: str, written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(written / script))
    assert capsys.readouterr().out


def test_a_sweep_is_read_back(written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (command,) = (command for command in RUNS if "sweep=first" in command)
    done = odfl("run", *command, cwd=written)
    assert done.returncode == 0, done.stderr
    runpy.run_path(str(written / "reading.py"))
    assert "avg_cost" in capsys.readouterr().out


def test_the_polytope_of_the_guide_is_right(written: Path) -> None:
    polytope = importlib.import_module("my_polytope").AtLeast(dimension=5, k=2)
    A, b = polytope.faces()
    for costs in np.random.default_rng(0).normal(size=(50, 5)):
        w = polytope.minimise(costs)
        best = linprog(costs, A, b, bounds=(None, None)).fun
        assert polytope.contains(w)
        assert costs @ w == pytest.approx(best, abs=1e-9)


def test_the_predictor_of_the_guide_is_right(written: Path) -> None:
    predictor = importlib.import_module("my_predictor").Softsign()
    rng = np.random.default_rng(0)
    theta, X, v = rng.normal(size=3), rng.normal(size=(4, 3)), rng.normal(size=4)
    numeric = finite_difference(lambda at: float(v @ predictor.predict(at, X)), theta)
    np.testing.assert_allclose(predictor.vjp(theta, X, v), numeric, atol=1e-8)


def test_every_test_that_the_page_on_checks_names_exists() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGES["docs/checks.md"])
    assert len(named) > 30
    for path, test in named:
        assert f"def {test}(" in (REPOSITORY / path).read_text(), f"{path}::{test}"
