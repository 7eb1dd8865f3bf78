"""The journal of a sweep: every attempt has its own, and no line can end the display."""

import re
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from support.processes import LIMIT, ODFL, Start

from odfl_cli.core.bar import Bar
from odfl_cli.runs.sweep.progress import (
    Entry,
    Reader,
    SweepProgress,
    add,
    jobs_line,
    journal,
    remove_old_journals,
)

DONE = Entry(0, "run", "done", 0.5, "told")


def test_what_is_added_is_read_once(tmp_path: Path) -> None:
    file = journal(tmp_path, "a")
    reader = Reader(file)
    assert reader.news() == []
    add(file, DONE)
    assert reader.news() == [DONE]
    assert reader.news() == []


def test_half_a_line_waits_and_a_broken_one_is_passed_over(tmp_path: Path) -> None:
    file = journal(tmp_path, "a")
    reader = Reader(file)
    add(file, DONE)
    whole = file.read_bytes()
    file.write_bytes(whole[:9])
    assert reader.news() == []
    file.write_bytes(whole + b'{"job": 1, "ru\n' + b"[1]\n" + b'{"other": 1}\n' + whole)
    assert reader.news() == [DONE, DONE]


def test_only_journals_of_killed_attempts_are_forgotten(tmp_path: Path) -> None:
    killed, running = journal(tmp_path, "0" * 12), journal(tmp_path, "1" * 12)
    reader = Reader(running)
    for file in (killed, running):
        add(file, DONE)
    remove_old_journals(tmp_path)
    assert not killed.exists()
    assert reader.news() == [DONE]
    reader.close()
    assert not running.exists()


@pytest.mark.thorough
def test_two_identical_sweeps_at_once_both_tell_all_their_jobs(
    tmp_path: Path, start: Start
) -> None:
    words = ("run", "-m", "algo=uniform", "data.gamma=0,1", "horizon=smoke", "seeds=1")
    attempts = [start(*ODFL, *words, cwd=tmp_path) for _ in range(2)]
    for attempt in attempts:
        told, complaints = attempt.communicate(timeout=LIMIT)
        assert attempt.returncode == 0, complaints
        assert "Traceback" not in complaints
        assert [f"[{place}/2]" in told for place in (1, 2)] == [True] * 2
        assert "2 jobs: " in told
        assert "0 failed, 0 unfinished" in told
    assert not list(tmp_path.rglob(".journal*"))


def test_a_reader_that_leaves_ends_no_display(tmp_path: Path, monkeypatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr("odfl_cli.runs.sweep.progress.print", refuse, raising=False)
    progress = SweepProgress(journal(tmp_path, "a"), {"run": "algo=spo"}, [], brief=False)
    for job in range(2):
        add(journal(tmp_path, "a"), replace(DONE, job=job))
    assert len(progress.stop()) == 2


def test_the_bar_shows_both_times_and_the_running_jobs_in_eighty_columns() -> None:
    console = Console(file=StringIO(), force_terminal=True, width=80, color_system=None)
    entries = [
        Entry(0, "df_ogd-0a", "done"),
        Entry(1, "df_ftpl-1b", "playing", played=0.2),
        Entry(2, "pf_ogd-2c", "playing", played=0.66),
    ]
    bar = Bar(12, console)
    bar.show(1.86, jobs_line(12, entries))
    bar.close()
    shown = console.file.getvalue()
    assert re.search(r"\d:\d\d:\d\d spent [-\d]:[-\d]{2}:[-\d]{2} left 1/12 jobs, 0 failed", shown)
    assert jobs_line(12, entries).endswith("; running: df_ftpl 20%, pf_ogd 66%")
