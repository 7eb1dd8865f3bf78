"""Pages name what there is and lead somewhere."""

import inspect
import itertools
import re
import sys
from pathlib import Path
from types import FrameType

import keys
import pandas as pd
import pytest
import reference
import yaml
from support.commands import REPOSITORY, odfl
from support.documents import FILES, PAGES

import odfl_cli
from odfl_cli.config.schema import top_keys
from odfl_cli.engine.base import KAPPA_GAP, SOLVER_LIMITS
from odfl_cli.metrics.base import COLUMNS, MEAN_COLUMNS
from odfl_cli.metrics.columns import MEANINGS
from odfl_cli.metrics.decisions import Decisions
from odfl_cli.metrics.regret import REGRETS
from odfl_cli.metrics.theory.oracle_report import VALUES


def test_every_group_and_choice_is_named() -> None:
    page = PAGES["docs/reference/keys.md"] + PAGES["docs/reference/algorithms.md"]
    conf = REPOSITORY / "conf"
    for choice in conf.glob("*/**/*.yaml"):
        group = choice.parent.relative_to(conf).as_posix()
        if not group.startswith("tuned/") and not group.endswith("_for"):
            assert f"`{group}`" in page
            assert f"`{choice.stem}`" in page


def test_every_key_has_a_meaning() -> None:
    rows = [row for row in keys.keys().splitlines() if row.startswith("| `")]
    assert len(rows) > 50
    assert [row for row in rows if row.endswith("|  |")] == []
    meanings = [row.removesuffix(" |").rpartition(" | ")[2] for row in rows]
    fragments = ("of ", "on ", "as ", "or ", "from ", "between ", "needs ", "null:", "true:")
    assert [text for text in meanings if text.startswith(fragments)] == []
    assert {f"| `{name}` " for name in top_keys()} <= {row[: row.index("|", 2)] for row in rows}


def test_ranges_are_those_of_the_settings() -> None:
    table = keys.keys()
    assert "| `algo.delta` | `null` (`df_ogd`) | number ≥ 0, ≤ 1 or null |" in table
    assert "| `data.gamma` | `1.0` (`sin4`) | number ≥ 0, ≤ 1 |" in table


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
        "tests/algorithms/test_algorithms.py",
        "conf/algo/df_ogd.yaml",
    } <= links


@pytest.mark.thorough
def test_a_run_executes_what_the_page_on_design_follows(tmp_path: Path) -> None:
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
    assert len(read) > 5
    assert {Path(module) for module in read} <= executed


def test_the_readme_is_short() -> None:
    assert len(PAGES["README.md"].splitlines()) <= 170


def test_every_page_is_linked_from_the_readme() -> None:
    for page in PAGES:
        assert page == "README.md" or f"]({page})" in PAGES["README.md"]


def test_no_internal_path_outside_the_page_on_design() -> None:
    for page, text in PAGES.items():
        if page != "docs/design.md" and not page.startswith("docs/reference/"):
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


def test_every_test_that_the_page_on_checks_names_exists() -> None:
    named = pd.read_csv(REPOSITORY / "docs/data/checks.csv")["test"]
    assert len(named) > 30
    for path, _, test in named.str.partition("::").itertuples(index=False):
        assert f"def {test}(" in (REPOSITORY / path).read_text(), f"{path}::{test}"


def test_every_column_has_a_meaning() -> None:
    """Columns come from the metrics, the notes of algorithms and the reports of a problem's parts."""
    explained = {name for names in MEANINGS.values() for name in names}
    noted = {name for algo in keys.choices("algo") for name in reference.class_of(algo).noted}
    written = {*COLUMNS, *MEAN_COLUMNS, *REGRETS, *VALUES, *noted, *Decisions.adds}
    written |= {"bound", "theta_norm", KAPPA_GAP, SOLVER_LIMITS, "avg_NAME", "waiting"}
    assert explained == written


def test_every_promise_names_a_test_that_there_is() -> None:
    promises = (REPOSITORY / "docs/trust.md").read_text().partition("|---|---|\n")[2]
    rows = [line for line in promises.splitlines() if line.startswith("|")]
    named = [re.findall(r"`([\w/]+\.py)::(\w+)`", row) for row in rows]
    assert all(named)
    for file, test in itertools.chain(*named):
        assert f"def {test}(" in (REPOSITORY / "tests" / file).read_text(), test
