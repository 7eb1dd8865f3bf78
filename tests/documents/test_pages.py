"""Pages name what there is, lead somewhere and say what they are for."""

import inspect
import re
import sys
from pathlib import Path
from types import FrameType

import keys
import pytest
import yaml
from support.commands import REPOSITORY, odfl
from support.documents import FILES, PAGES

import odfl_cli
from odfl_cli.config.schema import TopLevel


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
        Path("engine/rounds.py"),
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


def test_every_test_that_the_page_on_checks_names_exists() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGES["docs/checks.md"])
    assert len(named) > 30
    for path, test in named:
        assert f"def {test}(" in (REPOSITORY / path).read_text(), f"{path}::{test}"
