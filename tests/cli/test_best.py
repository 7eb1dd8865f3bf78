"""`odfl best`: the ranking of a sweep."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from support.finished_runs import change_summary, write_failed, write_finished
from support.synthetic_runs import harmonic, write_sweep

from odfl_cli.cli.best import main
from odfl_cli.core.errors import UserError
from odfl_cli.core.time_series import path_mean

LEVELS = {0.1: {0: 0.5, 1: 0.7, 2: 0.9}, 1.0: {0: 0.4, 1: 0.5, 2: 0.9}, 10.0: {0: 0.9, 7: 0.9}}


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    runs = [
        write_finished(
            tmp_path / "runs" / f"pf_ogd-{eta}", "pf_ogd", levels, config={"algo.eta": eta}
        )
        for eta, levels in LEVELS.items()
    ]
    for eta, run in zip(LEVELS, runs, strict=True):
        change_summary(run, overrides=["algo=pf_ogd", f"algo.eta={eta}", "seeds=9", "sweep=grid"])
    return write_sweep(tmp_path / "sweeps" / "grid", runs)


def ranked(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict]:
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_ranking_and_paired_differences(sweep: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second, third = ranked(capsys, str(sweep))
    assert [row["differs"]["algo.eta"] for row in (first, second, third)] == [1.0, 0.1, 10.0]
    offset = harmonic(100) / 100
    assert first["mean"] == pytest.approx(0.6 + offset)
    low, high = stats.t.interval(0.95, 2, loc=0.6 + offset, scale=stats.sem([0.4, 0.5, 0.9]))
    assert first["ci95"] == pytest.approx((high - low) / 2)
    gaps = np.array([0.1, 0.2, 0.0])
    assert second["behind"]["seeds"] == 3
    assert second["behind"]["mean"] == pytest.approx(gaps.mean())
    assert second["behind"]["ci95"] == pytest.approx(stats.t.ppf(0.975, 2) * stats.sem(gaps))
    assert third["behind"] == {"seeds": 1, "mean": pytest.approx(0.5), "ci95": None}


def test_the_largest_may_be_best(sweep: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (first,) = ranked(capsys, str(sweep), "--by", "mse", "--max", "--top", "1")
    assert first["differs"] == {"algo.eta": 10.0}
    assert first["mean"] == pytest.approx(1.8)


def test_text_ends_with_the_winners_command(
    sweep: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(sweep)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "average cost" in lines[0]  # what is ranked
    assert "algo.eta=1.0" in lines[1]
    assert "+0.1000 ± 0.2484 (3 shared)" in lines[2]
    assert lines[-1] == "odfl run algo=pf_ogd algo.eta=1.0 seeds=3"


def test_jobs_that_differ_in_seeds_are_pooled(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, levels in {"a": {0: 0.2, 1: 0.4}, "b": {1: 0.4, 2: 0.6}}.items():
        write_finished(tmp_path / name, levels=levels, rounds=1)
    (only,) = ranked(capsys, str(tmp_path))
    assert only["seeds"] == [0, 1, 2]
    assert only["mean"] == pytest.approx(0.4 + 1)


def test_what_is_not_finished_is_left_out_and_told(
    sweep: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_failed(tmp_path / "runs" / "pf_ogd-x")
    (tmp_path / "runs" / "pf_ogd-1.0" / "seed-0.csv").write_text("t\n")
    change_summary(tmp_path / "runs" / "pf_ogd-10.0", format=99)
    assert main([str(tmp_path / "runs")]) == 0
    shown = capsys.readouterr()
    assert "pf_ogd" in shown.out
    assert "1 damaged, 1 newer, 1 failed" in shown.err
    assert len(shown.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("column", "hint"),
    [("avg_cots", "did you mean avg_cost"), ("regrets", "did you mean regret"), ("xyz", "there are avg_cost")],
)  # fmt: skip
def test_an_unknown_column(sweep: Path, column: str, hint: str) -> None:
    with pytest.raises(UserError, match=f"--by {column}: no run has such a column; {hint}"):
        main([str(sweep), "--by", column])


def test_nothing_finished(tmp_path: Path) -> None:
    write_failed(tmp_path / "a")
    with pytest.raises(UserError, match=r"no finished run in .* \(1 failed\)"):
        main([str(tmp_path)])


def test_what_a_sweep_asked_for_is_enough(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two jobs of a sweep share a run; a third seed of it, which neither wants, is damaged."""
    run = write_finished(tmp_path / "runs" / "a", levels={0: 0.2, 1: 0.4, 2: 0.9}, rounds=1)
    (run / "seed-2.csv").write_text("t\n")
    sweep = write_sweep(tmp_path / "sweep", [run, run])
    index = json.loads((sweep / "index.json").read_text())
    for seed, job in enumerate(index["jobs"]):
        job["seeds"] = [seed]
    (sweep / "index.json").write_text(json.dumps(index))
    (only,) = ranked(capsys, str(sweep))
    assert only["seeds"] == [0, 1]
    assert only["mean"] == pytest.approx(0.3 + 1)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("top", ["0", "-1", "x"])
def test_top_should_count(sweep: Path, top: str) -> None:
    with pytest.raises(UserError, match="--top"):
        main([str(sweep), f"--top={top}"])


def test_several_sweeps_make_one_table(tmp_path, capsys) -> None:
    levels = {"a": {"df_ogd": 0.4, "pf_ogd": 0.6}, "b": {"pf_ogd": 0.3, "df_ogd": 0.5, "spo": 0.9}}
    sweeps = []
    for name, costs in levels.items():
        runs = [
            write_finished(tmp_path / "runs" / f"{algo}-{name}", algo, {0: cost, 1: cost})
            for algo, cost in costs.items()
        ]
        sweeps.append(str(write_sweep(tmp_path / "sweeps" / name, runs)))
    assert main(sweeps) == 0
    heading, _, *rows = capsys.readouterr().out.splitlines()
    assert heading == "| algorithm | a | b |"
    cells = {
        row.split("|")[1].strip(" `"): [c.strip() for c in row.split("|")[2:4]] for row in rows
    }
    offset = harmonic(100) / 100
    assert cells["df_ogd"] == [f"**{0.4 + offset:.4f} ± 0.0000**", f"{0.5 + offset:.4f} ± 0.0000"]
    assert cells["spo"][0] == ""
    assert [row.split("`")[1] for row in rows] == ["df_ogd", "pf_ogd", "spo"]
    with pytest.raises(UserError, match="one sweep"):
        main([*sweeps, "--json"])
    assert main([*sweeps, "nowhere", "--latex"]) == 0
    shown = capsys.readouterr()
    assert "left out: nowhere" in shown.err
    with pytest.raises(UserError, match=r"^nowhere: no such.*; neither: no such"):
        main(["nowhere", "neither"])
    assert (
        rf"df\_ogd & \textbf{{{0.4 + offset:.4f} $\pm$ 0.0000}} & {0.5 + offset:.4f}" in shown.out
    )
    with pytest.raises(UserError, match="elsewhere: no such directory"):
        main(["nowhere", "elsewhere"])


def test_averages_of_what_accumulates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_finished(tmp_path / "a", levels={0: 0.5})
    ((of_sum,), (of_average,)) = (
        ranked(capsys, str(tmp_path), "--by", column) for column in ("regret", "avg_regret")
    )
    assert of_average["mean"] == pytest.approx(of_sum["mean"] / 100)
    assert of_average["overrides"] == ["algo=df_ogd"]


def test_intervals_over_the_rounds_of_one_path(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Seed 0 pays level + 1/t: the level is in the paired difference, the 1/t is not."""
    for algo, level in {"spo": 0.2, "pf_ogd": 0.5}.items():
        write_finished(tmp_path / algo, algo, {0: level}, thin=1)
    first, second = ranked(capsys, str(tmp_path), "--over", "rounds")
    assert first["ci95"] == pytest.approx(path_mean(0.2 + 1 / np.arange(1, 101)).ci95)
    assert second["behind"]["seeds"] == 1
    assert second["behind"]["mean"] == pytest.approx(0.3)
    assert second["behind"]["ci95"] == pytest.approx(0.0, abs=1e-12)


def test_intervals_over_rounds_need_all_of_them(tmp_path: Path) -> None:
    write_finished(tmp_path / "run", levels={0: 0.2})
    with pytest.raises(UserError, match=r"of 100 rounds; run with horizon\.rows=100 to"):
        main([str(tmp_path), "--over", "rounds"])
    with pytest.raises(UserError, match="--by is avg_cost or avg_mse, not regret"):
        main([str(tmp_path), "--over", "rounds", "--by", "regret"])
