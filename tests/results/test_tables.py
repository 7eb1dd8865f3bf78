"""Runs are found wherever they are, and files that lie are named and left out."""

import os

import numpy as np
import pandas as pd
import pytest
from support.finished_runs import write_hydra
from support.synthetic_runs import (
    BEST_COST,
    change_summary,
    harmonic,
    seal,
    seed_table,
    write_run,
    write_sweep,
)

from odfl_cli.core.errors import UserError
from odfl_cli.core.reading import flatten
from odfl_cli.results.finding import newest
from odfl_cli.results.tables import read_runs


@pytest.fixture
def warnings() -> list[str]:
    return []


def cut_last_row(path):
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))


def replace_cell(text):
    def spoil(path):
        table = pd.read_csv(path).astype(object)
        table.loc[1, "avg_cost"] = text
        table.to_csv(path, index=False)

    return spoil


SPOILT = {
    "truncated": cut_last_row,
    "empty": lambda path: path.write_text(""),
    "header only": lambda path: path.write_text("t,cost\n"),
    "foreign": lambda path: path.write_text("name,age\nAda,36\n"),
    "binary": lambda path: path.write_bytes(bytes(range(256)) * 4),
    "words": replace_cell("much"),
    "NaN": replace_cell(""),
    "infinite": replace_cell("inf"),
    "backwards": lambda path: seed_table(1.0, 100)[::-1].to_csv(path, index=False),
    "gone": lambda path: path.unlink(),
}


def test_seeds_are_read_together_as_they_are_alone(tmp_path, warnings):
    run = write_run(tmp_path / "run", levels={seed: 1 / (seed + 3) for seed in range(45)})
    other = pd.read_csv(run / "seed-7.csv").drop(index=1, columns="regret")  # rounds and columns
    other.to_csv(run / "seed-7.csv", index=False)
    seal(run)
    (read,) = read_runs([tmp_path], warnings.append)
    assert read.seeds == list(range(45))
    assert not warnings
    for seed in read.seeds:
        alone = pd.read_csv(run / f"seed-{seed}.csv")
        together = read.rows[read.rows["seed"] == seed].reset_index(drop=True)
        pd.testing.assert_frame_equal(together[alone.columns], alone, check_exact=True)


@pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT)
def test_a_spoilt_csv_is_named_and_skipped(tmp_path, warnings, spoil):
    run = write_run(tmp_path / "run")
    spoil(run / "seed-1.csv")
    if (run / "seed-1.csv").exists():
        seal(run)
    (read,) = read_runs([tmp_path], warnings.append)
    assert read.seeds == [0, 2]
    (line,) = warnings
    assert str(run / "seed-1.csv") in line
    assert "\n" not in line


def test_what_is_damaged_newer_or_unfinished_is_named_and_skipped(tmp_path, warnings):
    """`test_runs.py` has every way to be damaged."""
    write_run(tmp_path / "good", algo="pf_ogd")
    for name in ("damaged", "newer", "unfinished"):
        write_run(tmp_path / name)
        write_hydra(tmp_path / name)
    (tmp_path / "damaged" / "summary.json").write_text('{"choices": {"al')
    change_summary(tmp_path / "newer", format=99)
    (tmp_path / "unfinished" / "summary.json").unlink()
    assert [run.algorithm for run in read_runs([tmp_path], warnings.append)] == ["pf_ogd"]
    damaged, newer, unfinished = warnings
    assert f"{tmp_path / 'damaged'}: damaged, summary.json" in damaged
    assert "format 99" in newer
    assert f"{tmp_path / 'unfinished'}: unfinished" in unfinished


def test_a_seed_that_the_summary_does_not_name_is_foreign(tmp_path, warnings):
    run = write_run(tmp_path / "run")
    (run / "seed-9.csv").write_bytes((run / "seed-0.csv").read_bytes())
    assert read_runs([run], warnings.append)[0].seeds == [0, 1, 2]
    assert "seed-9.csv" in warnings[0]


def test_nothing_left_is_an_error(tmp_path, warnings):
    run = write_run(tmp_path / "run", levels={0: 1.0})
    cut_last_row(run / "seed-0.csv")
    with pytest.raises(UserError, match="no run there could be read"):
        read_runs([run], warnings.append)
    assert any("seed-0.csv" in line for line in warnings)


def test_a_directory_without_runs_and_one_that_is_not_there_are_errors(tmp_path, warnings):
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match=r"empty.*holds a run"):
        read_runs([tmp_path / "empty"], warnings.append)
    with pytest.raises(UserError, match="nowhere: no such directory"):
        read_runs([tmp_path / "nowhere"], warnings.append)


def test_a_sweep_and_a_search_find_each_run_once(tmp_path, warnings):
    runs = [write_run(tmp_path / "runs" / name, algo=name) for name in ("df_ogd", "pf_ogd", "spo")]
    sweep = write_sweep(tmp_path / "sweeps" / "main", runs[:2])
    found = read_runs([sweep], warnings.append)
    assert [run.algorithm for run in found] == ["df_ogd", "pf_ogd"]
    assert found[0].directory == runs[0]
    assert len(read_runs([tmp_path, sweep, runs[0]], warnings.append)) == 3
    assert warnings == []


def test_a_job_of_a_sweep_that_never_ran_is_named(tmp_path, warnings):
    run = write_run(tmp_path / "runs" / "there")
    sweep = write_sweep(tmp_path / "sweep", [run, tmp_path / "runs" / "missing"])
    assert len(read_runs([sweep], warnings.append)) == 1
    assert "missing" in warnings[0]


def age(path, seconds):
    os.utime(path, (1e9 + seconds, 1e9 + seconds))


def test_newest_is_what_finished_last(tmp_path):
    old, swept = (write_run(tmp_path / "runs" / name) for name in ("old", "swept"))
    sweep = write_sweep(tmp_path / "sweeps" / "main", [swept])
    age(sweep / "index.json", 0)  # written when the sweep began
    age(old / "summary.json", 1)
    age(swept / "summary.json", 2)
    assert newest(tmp_path) == sweep
    age(old / "summary.json", 3)
    assert newest(tmp_path) == old


def test_newest_without_any_run_says_so(tmp_path):
    with pytest.raises(UserError, match="odfl run"):
        newest(tmp_path)


def test_final_rows_and_thinned_regret_count_every_round(tmp_path, warnings):
    rounds, levels = 100, {3: 0.5, 7: 0.75}
    (run,) = read_runs([write_run(tmp_path / "run", levels=levels)], warnings.append)
    assert len(run.rows) < 2 * rounds
    assert run.seeds == run.final("regret").index.tolist() == [3, 7]
    above = np.array([0.5, 0.75]) - BEST_COST + harmonic(rounds) / rounds
    np.testing.assert_allclose(run.final("avg_regret"), above)
    np.testing.assert_allclose(run.final("regret"), rounds * above)


def test_extra_columns_are_kept_and_the_regret_column_may_be_absent(tmp_path, warnings):
    run = write_run(tmp_path / "run", levels={0: 1.0})
    table = pd.read_csv(run / "seed-0.csv").drop(columns="regret").assign(path_length=1.5, note="x")
    table.to_csv(run / "seed-0.csv", index=False)
    seal(run)
    (read,) = read_runs([run], warnings.append)
    assert (read.rows["path_length"] == 1.5).all()
    assert not {"note", "avg_regret"}.intersection(read.rows)


def test_flatten_makes_dotted_keys():
    assert flatten({"a": {"b": {"c": 1}, "d": [2]}, "e": None}) == {
        "a.b.c": 1,
        "a.d": [2],
        "e": None,
    }
