"""What the page holds: thinned curves, comparisons, recoveries, sizes."""

import base64
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.finished_runs import write_finished
from support.pages import content_of
from support.synthetic_runs import seal, write_sweep

from odfl_cli.report.content import document, split_experiment
from odfl_cli.report.numbers import Arrays, recoveries, thin
from odfl_cli.report.page import page
from odfl_cli.report.sources import experiments
from odfl_cli.results.grouping import Group


def test_arrays_come_back_and_equal_ones_are_stored_once() -> None:
    arrays = Arrays()
    values = np.random.default_rng(0).normal(size=50)
    first, second = arrays.add(values), arrays.add(np.arange(3))
    assert arrays.add(values) == first
    planes = zlib.decompress(base64.b64decode(arrays.pack()))
    back = np.frombuffer(planes, np.uint8).reshape(4, -1).T.copy().view("<f4").ravel()
    assert len(back) == 53
    for (offset, length), given in ((first, values), (second, np.arange(3))):
        assert np.array_equal(back[offset : offset + length], np.float32(given))


@pytest.mark.parametrize("count", [1, 2, 239, 240, 241, 5000])
def test_thinning_keeps_the_ends_and_the_order(count: int) -> None:
    places = thin(count, 240)
    assert (places[0], places[-1]) == (0, count - 1)
    assert (np.diff(places) > 0).all()
    assert len(places) == min(count, 240)


@pytest.mark.parametrize("length", [0, 17, 60])
def test_recovery_is_the_length_of_the_trouble_and_the_window(length: int) -> None:
    """Regret 1 a round, 11 for `length` rounds after the switch at round 101, then 1 again."""
    per_round = np.ones(200)
    per_round[100 : 100 + length] = 11
    rows = pd.DataFrame({"t": np.arange(1, 201), "seed": 0, "regret": per_round.cumsum()})
    group = Group(Path(), "a", {}, 200, rows)
    assert recoveries(group, [101]) == [{"mark": 101, "rounds": length + 10}]


def test_no_recovery_before_the_next_switch() -> None:
    per_round = np.where(np.arange(300) < 100, 1.0, 11.0)
    rows = pd.DataFrame({"t": np.arange(1, 301), "seed": 0, "regret": per_round.cumsum()})
    found = recoveries(Group(Path(), "a", {}, 300, rows), [101, 201])
    assert found == [{"mark": 101, "rounds": None}, {"mark": 201, "rounds": 10}]


def test_algorithms_are_compared_within_a_comparison(tmp_path: Path) -> None:
    runs = [
        write_finished(tmp_path / f"{algo}-{gamma}-{eta}", algo, config={"data.gamma": gamma, "algo.eta": eta})
        for gamma in (0.0, 1.0) for algo, eta in (("df_ogd", 1.0), ("df_ogd", 2.0), ("spo", 1.0))
    ]  # fmt: skip
    (experiment,) = experiments([write_sweep(tmp_path / "sweep", runs)])
    comparisons = split_experiment(experiment)
    assert [comparison.name for comparison in comparisons] == ["sweep: γ = 0", "sweep: γ = 1"]
    assert [len(comparison.groups) for comparison in comparisons] == [3, 3]


def test_a_job_that_was_never_begun_is_decided(tmp_path: Path) -> None:
    run = write_finished(tmp_path / "runs" / "df_ogd-1")
    sweep = write_sweep(tmp_path / "sweep", [run, tmp_path / "runs" / "spo-2"])
    (experiment,) = experiments([sweep])
    assert [facts["state"] for facts in experiment.runs] == ["finished", "not begun"]


def test_a_damaged_seed_is_left_out_and_told(tmp_path: Path) -> None:
    run = write_finished(tmp_path / "df_ogd-1")
    (run / "seed-1.csv").write_text((run / "seed-1.csv").read_text()[:-9])
    (experiment,) = experiments([run])
    (facts,) = experiment.runs
    assert (facts["state"], facts["seeds"]) == ("damaged", [0, 2])
    assert "seed-1.csv" in facts["reason"]


def test_of_sweeps_and_folders_with_one_name_every_experiment_has_its_own(tmp_path: Path) -> None:
    """A sweep called `same` twice, and a folder `same` of runs that belong to none."""
    run = write_finished(tmp_path / "runs" / "spo", "spo")
    sweeps = [write_sweep(tmp_path / place / "same", [run]) for place in "ab"]
    write_finished(tmp_path / "c" / "same" / "rls", "rls")
    found = experiments([*sweeps, tmp_path / "c" / "same"])
    assert [one.name for one in found] == ["same", "same-2", "same-3"]


@pytest.mark.slow
def test_ten_by_ten_by_ten_is_below_a_megabyte(tmp_path: Path) -> None:
    """Noise compresses badly: real curves are smaller."""
    rng = np.random.default_rng(0)
    sweeps = []
    for experiment in range(10):
        runs = [
            write_finished(
                tmp_path / "runs" / f"algo{algo}-{experiment}", f"algo{algo}",
                dict(enumerate(rng.normal(size=10))), rounds=500, thin=1,
            )
            for algo in range(10)
        ]  # fmt: skip
        sweeps.append(write_sweep(tmp_path / "sweeps" / f"experiment{experiment}", runs))
    for path in (tmp_path / "runs").glob("*/seed-*.csv"):
        table = pd.read_csv(path)
        table[["cost", "mse", "avg_cost", "avg_mse"]] += rng.normal(size=(500, 4))
        table.to_csv(path, index=False, lineterminator="\n")
    for run in (tmp_path / "runs").iterdir():
        seal(run)
    text = page(document(experiments(sweeps), []))
    assert len(content_of(text)["groups"]) == 100
    assert all(len(group["final"]["avg_cost"]) == 10 for group in content_of(text)["groups"])
    assert len(text.encode()) < 1_000_000


def test_the_same_runs_give_the_same_bytes(tmp_path: Path) -> None:
    run = write_finished(tmp_path / "df_ogd-1")
    first, second = (page(document(experiments([run]), [])) for _ in range(2))
    assert first == second
