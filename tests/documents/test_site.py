"""The site is built without a complaint, from files of its own alone, and can be searched."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from support.browser import Browser, why_not
from support.commands import REPOSITORY
from support.documents import PAGES

pytest.importorskip("material", reason="needs the extra docs")


def build(folder: Path, site: Path) -> subprocess.CompletedProcess[str]:
    """`mkdocs build --strict`; with --quiet it would count no warning."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site; --strict makes an error of every link, anchor and page that leads nowhere."""
    folder = tmp_path_factory.mktemp("site")
    done = build(REPOSITORY, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.mark.thorough
def test_every_page_is_built_and_asks_for_nothing_elsewhere(site: Path) -> None:
    names = {page.removeprefix("docs/").removesuffix(".md") for page in PAGES} - {"README"}
    for name in {*names, "index", "changelog", "contributing"}:
        assert (site / f"{name}.html").is_file(), name
    for page in site.rglob("*.html"):
        assert not re.findall(r'(?:src|rel="stylesheet" href)="(?:https?:)?//', page.read_text())


@pytest.mark.thorough
@pytest.mark.parametrize("link", ["#none", "none.md", "other.md#none", "../none.md"])
def test_a_link_that_leads_nowhere_is_an_error(link: str, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text(f"# Here\n\n[There]({link})\n")
    (tmp_path / "docs" / "other.md").write_text("# Other\n")
    pages = {"nav": ["index.md", "other.md"], "hooks": [], "extra_css": []}
    config = {"INHERIT": str(REPOSITORY / "mkdocs.yml"), "docs_dir": "docs", **pages}
    (tmp_path / "mkdocs.yml").write_text(yaml.safe_dump(config))
    done = build(tmp_path, tmp_path / "site")
    assert done.returncode == 1
    assert done.stderr.count("WARNING") == 1
    assert link.rpartition("#")[2] in done.stderr


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    one = Browser(tmp_path_factory.mktemp("downloads"))
    yield one
    one.driver.quit()


@pytest.mark.browser
@pytest.mark.skipif(bool(why_not()), reason=why_not())
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # of the driver's sockets
@pytest.mark.parametrize("width", [1280, 400])
def test_the_site_is_searched_from_a_file(site: Path, browser: Browser, width: int) -> None:
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.cdp("Emulation.setDeviceMetricsOverride", **metrics)
    browser.load((site / "index.html").as_uri())
    assert browser.run("return document.documentElement.scrollWidth") <= width
    browser.run("document.querySelector('[data-md-toggle=search]').click()")
    browser.driver.find_element("css selector", "input.md-search__input").send_keys("theta_radius")
    browser.wait(lambda: "Choices and keys" in browser.texts(".md-search-result__item h1"))
    assert browser.complaints() == []
    assert all(url.startswith(("file:", "data:", "about:")) for url in browser.requests())
