"""`odfl clean` removes what odfl wrote and nothing else, whatever lies in an outputs folder."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from support.finished_runs import (
    HYDRA_YAML,
    change_summary,
    content,
    write_failed,
    write_finished,
    write_unfinished,
)
from support.synthetic_runs import write_sweep

from odfl_cli.cli.clean import main, removals, remove
from odfl_cli.cli.list import main as list_runs
from odfl_cli.core.errors import UserError
from odfl_cli.core.locks import LOCK

ALL = ["--older-than", "0s", "--yes"]


def test_clean_leaves_a_run_whose_lock_is_a_link(outputs: Path, canary: Path, capsys) -> None:
    before = content(canary)
    lock = write_failed(outputs / "run") / LOCK
    lock.unlink()
    lock.symlink_to(canary / "precious")
    assert main([str(outputs), *ALL]) == 0
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert (outputs / "run" / "failed.json").exists()
    assert content(canary) == before


def hostile_index(sweep: Path, directory: str) -> Path:
    sweep.mkdir(parents=True)
    (sweep / "index.json").write_text(json.dumps({"jobs": [{"directory": directory}]}))
    return sweep


@pytest.mark.parametrize("place", ["sweeps/main", "elsewhere"])
@pytest.mark.parametrize("is_absolute", [True, False])
def test_clean_stays_in_the_outputs_folder_of_a_sweep(
    outputs: Path, canary: Path, place: str, is_absolute: bool, capsys
) -> None:
    before, victim = content(canary), canary / "victim"
    directory = str(victim) if is_absolute else os.path.relpath(victim, outputs / place)
    assert main([str(hostile_index(outputs / place, directory)), *ALL]) == 0
    assert content(canary) == before
    told = capsys.readouterr()
    assert "lies outside" in told.err
    assert told.out == "nothing to remove\n"


def test_clean_removes_the_runs_of_a_sweep_beside_it(outputs: Path) -> None:
    run = write_failed(outputs / "runs" / "run")
    assert main([str(write_sweep(outputs / "sweeps" / "main", [run])), *ALL]) == 0
    assert not run.exists()


@pytest.mark.parametrize("directory", ["../../runs/link", "../../link/victim"])
def test_clean_of_a_sweep_crosses_no_link(outputs: Path, canary: Path, directory: str) -> None:
    before = content(canary)
    (outputs / "runs").mkdir()
    (outputs / "runs" / "link").symlink_to(canary / "victim")
    (outputs / "link").symlink_to(canary)
    assert main([str(hostile_index(outputs / "sweeps" / "main", directory)), *ALL]) == 0
    assert content(canary) == before


def test_clean_of_a_link_to_a_run_leaves_it(outputs: Path, canary: Path) -> None:
    before = content(canary)
    (outputs / "link").symlink_to(canary / "victim")
    assert main([str(outputs / "link"), str(outputs), *ALL]) == 0
    assert content(canary) == before


def test_clean_of_an_outputs_folder_on_another_disk(outputs: Path, tmp_path: Path) -> None:
    write_failed(outputs / "runs" / "run")
    (tmp_path / "link").symlink_to(outputs)
    assert main([str(tmp_path / "link"), *ALL]) == 0
    assert not (outputs / "runs" / "run").exists()


def test_clean_leaves_what_links_inside_a_run_point_to(outputs: Path, canary: Path) -> None:
    (canary / "hydra.yaml").write_text(HYDRA_YAML)
    before = content(canary)
    run = write_finished(outputs / "run")
    (run / ".hydra").symlink_to(canary)
    (run / "run.log").symlink_to(canary / "run.log")
    (run / "failed.json").symlink_to(canary / "victim" / "failed.json")
    assert main([str(outputs), *ALL]) == 0
    assert content(canary) == before
    assert {path.name for path in run.iterdir()} == {".hydra", "run.log", "failed.json"}


def test_a_directory_that_becomes_a_link_before_it_is_removed(outputs: Path, canary: Path) -> None:
    before = content(canary)
    run = write_failed(outputs / "run")
    (found,) = removals([outputs])
    run.rename(outputs / "moved")
    run.symlink_to(canary / "victim")
    with pytest.raises(UserError, match="is a link"):
        remove(found)
    assert content(canary) == before


@pytest.mark.parametrize(
    "text", ["", "[]", "3", "{}", '{"error": "no"}', '{"versions": {"odfl": "1"}}', "[" * 99999]
)
@pytest.mark.parametrize("name", ["failed.json", "summary.json"])
def test_a_folder_of_others_is_no_run(outputs: Path, name: str, text: str, capsys) -> None:
    (outputs / name).write_text(text)
    (outputs / "run.log").write_text("mine\n")
    before = content(outputs)
    assert main([str(outputs), *ALL]) == 0
    assert content(outputs) == before
    assert capsys.readouterr().out == "nothing to remove\n"
    assert list_runs([str(outputs)]) == 0


@pytest.mark.parametrize("make", [write_finished, write_failed, write_unfinished])
def test_clean_removes_only_listed_files(outputs: Path, make: Callable[[Path], Path]) -> None:
    run = make(outputs / "run")
    mine = {"seed-77.csv", ".keep.part", ".movie.part", ".odfl-00112233-movie.mp4.part",
            ".odfl-xyz-seed-1.csv.part", ".x.00112233.part"}  # fmt: skip
    for name in mine:
        (run / name).write_text("mine\n")
    (run / ".odfl-00112233-seed-1.csv.part").write_text("t,co")
    assert main([str(outputs), *ALL]) == 0
    assert {path.name for path in run.iterdir()} == mine
    assert {(run / name).read_text() for name in mine} == {"mine\n"}


def test_a_summary_cannot_list_other_files_than_seeds(outputs: Path, canary: Path) -> None:
    before = content(canary)
    run = write_finished(outputs / "run")
    (run / "thesis.tex").write_text("mine\n")
    names = ["thesis.tex", "../../canary/precious", str(canary / "precious"), "seed-1.csv/../x"]
    change_summary(run, files={name: {"odfl": "1"} for name in names})
    assert main([str(outputs), *ALL]) == 0
    assert (run / "thesis.tex").exists()
    assert content(canary) == before
