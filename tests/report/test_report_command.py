"""`odfl report` on the command line: what it refuses, what it keeps, what hostile names do."""

import base64
import hashlib
import json
import re
from pathlib import Path

import pytest
from support.finished_runs import write_failed, write_finished, write_unfinished
from support.pages import content_of
from support.synthetic_runs import change_summary, write_sweep

from odfl_cli.cli import main

# A name in which every character has a meaning to somebody.
HOSTILE = "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1>\"'&\x1b[31m"


def report(*arguments: object) -> int:
    return main(["report", *map(str, arguments)])


def complaint(capsys: pytest.CaptureFixture[str]) -> str:
    (line,) = capsys.readouterr().err.splitlines()
    return line


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write_finished(tmp_path / "runs" / "df_ogd-1")


def test_says_where_the_page_is(run: Path, tmp_path: Path, capsys) -> None:
    assert report(run, "-o", tmp_path / "page.html") == 0
    assert capsys.readouterr().out.startswith(f"{tmp_path / 'page.html'}: ")
    assert "DF-OGD has the lowest average cost" in (tmp_path / "page.html").read_text()


def test_without_a_name_the_newest_sweep(tmp_path: Path, monkeypatch, capsys) -> None:
    old = write_finished(tmp_path / "outputs" / "runs" / "spo-1", "spo", age=1000)
    new = write_finished(tmp_path / "outputs" / "runs" / "df_ogd-1")
    write_sweep(tmp_path / "outputs" / "sweeps" / "old", [old])
    write_sweep(tmp_path / "outputs" / "sweeps" / "new", [new])
    monkeypatch.chdir(tmp_path)
    assert report() == 0
    assert "<h1>new</h1>" in (tmp_path / "report.html").read_text()
    assert report("old", "-o", "named.html") == 0
    assert "<h1>old</h1>" in (tmp_path / "named.html").read_text()
    assert report("spo-1", "-o", "run.html") == 0
    assert "<h1>spo-1</h1>" in (tmp_path / "run.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere"], "nowhere: no such directory"),
        (["empty"], "there is no run in empty"),
        (["runs", "-o", "page.txt"], "should end in .html"),
        (["runs", "-o", "gone/page.html"], "there is no directory gone"),
        (["runs", "-o", "/proc/page.html"], "cannot write there"),
        (["runs", "-o", "mine.html"], "it exists and odfl did not write it; --force replaces it"),
        (["runs", "-o", "link.html"], "it is a link"),
        (["runs", "-o", "folder.html"], "not a regular file"),
        (["runs", "--claims", "gone.json"], "No such file"),
        (["runs", "--claims", "mine.html"], "it is not what reproduce.claims --json prints"),
        (["runs", "--colour"], "unrecognized arguments: --colour"),
    ],
)
def test_refuses_in_one_line(
    run: Path, tmp_path: Path, monkeypatch, capsys, arguments: list[str], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "folder.html").mkdir()
    (tmp_path / "mine.html").write_text("my work")
    (tmp_path / "link.html").symlink_to(tmp_path / "mine.html")
    before = sorted(path.name for path in tmp_path.iterdir())
    assert report(*arguments) == 2
    assert words in complaint(capsys)
    assert (tmp_path / "mine.html").read_text() == "my work"
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_replaces_its_own_page_and_others_by_force(run: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert report(run, "-o", page, "--title", "one") == 0
    assert report(run, "-o", page, "--title", "two") == 0
    assert "<h1>two</h1>" in page.read_text()
    page.write_text("my work")
    assert report(run, "-o", page, "--force") == 0
    assert "my work" not in page.read_text()


def test_only_failed_runs_make_a_page_that_says_so(tmp_path: Path, capsys) -> None:
    write_failed(tmp_path / "runs" / "spo-1", "spo")
    write_unfinished(tmp_path / "runs" / "spo-2", "spo")
    page = tmp_path / "page.html"
    assert report(tmp_path / "runs", "-o", page) == 0
    assert complaint(capsys).endswith("the page lists runs without results: 1 failed, 1 unfinished")
    assert "No run has results that can be read." in page.read_text()


def test_the_policy_names_every_script_and_the_style(run: Path, tmp_path: Path) -> None:
    assert report(run, "-o", tmp_path / "page.html") == 0
    text = (tmp_path / "page.html").read_text()
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
    inline = re.findall(r"<script>(.*?)</script>", text, re.S)
    style = re.findall(r"<style>(.*?)</style>", text, re.S)
    hashes = {
        base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in inline + style
    }
    assert set(re.findall(r"'sha256-([^']*)'", policy)) == hashes
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert "*" not in policy
    assert set(re.findall(r"""(?:src|href)=["']([^"']*)["']""", text)) == {"#"}


def test_hostile_names_are_words(tmp_path: Path) -> None:
    name = HOSTILE.replace("/", "∕")  # no file system has a slash in a name
    run = write_finished(tmp_path / f"{name}-1", HOSTILE, config={f"data.{name}": HOSTILE})
    change_summary(run, versions={HOSTILE: HOSTILE}, broken_assumptions=[HOSTILE])
    write_failed(tmp_path / "runs" / "spo-1", HOSTILE, HOSTILE)
    assert report(run, tmp_path / "runs", "-o", tmp_path / "page.html") == 0
    visible = (tmp_path / "page.html").read_text().split('<script type="application', 1)[0]
    assert "<img" not in visible
    assert "<script" not in visible
    assert "\x1b" not in visible
    assert "&lt;img src=x" in visible


def test_claims_are_shown_as_printed(run: Path, tmp_path: Path) -> None:
    claim = {"name": "a", "claim": "It works", "where": "Theorem 1", "value": 0.5, "ci95": None,
             "count": 3, "claimed": {"side": "above", "limit": 0.0}, "verdict": "holds"}  # fmt: skip
    (tmp_path / "claims.json").write_text(json.dumps([claim]))
    page = tmp_path / "page.html"
    assert report(run, "--claims", tmp_path / "claims.json", "-o", page) == 0
    (shown,) = content_of(page.read_text())["claims"]
    assert shown == {key: value for key, value in claim.items() if key != "name"}
