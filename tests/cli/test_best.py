"""`odfl best`: the leaderboard of sweeps."""

import io
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support.finished_runs import write_failed, write_finished
from support.synthetic_runs import change_summary, harmonic, write_sweep

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


def rank(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict]:
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_ranking_and_paired_differences(sweep: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second, third = rank(capsys, str(sweep))
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
    (first,) = rank(capsys, str(sweep), "--by", "mse", "--max", "--top", "1")
    assert first["differs"] == {"algo.eta": 10.0}
    assert first["mean"] == pytest.approx(1.8)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("--by avg_dynamic_regret", "--value avg_dynamic_regret: no run has it; run with metrics=regret"),
        ("--by avg_cots", "--value avg_cots: no run has such a column; did you mean avg_cost"),
        ("--value xyz", "--value xyz: no run has such a column; there are avg_cost"),
        ("--top=0", "--top 0: should be a whole number"),
        ("--top=x", "--top x: should be a whole number"),
        ("--cols algo.etta", "algo.etta: the runs do not differ in it; did you mean algo.eta"),
        ("--gap df_odg", "--gap df_odg: no run of it; did you mean pf_ogd"),
        ("--over rounds --by regret", "--value is avg_cost or avg_mse, not regret"),
        ("--over rounds", "of 100 rounds; run with horizon.rows=100 to log them all"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line(sweep: Path, words: str, line: str) -> None:
    with pytest.raises(UserError) as refused:
        main([str(sweep), *words.split()])
    assert line in str(refused.value)


def test_text_ends_with_the_winners_command(
    sweep: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(sweep)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "average cost" in lines[0]  # what is ranked
    assert lines[1].startswith("PF-OGD, η = 1 ")
    assert "+0.10 ± 0.25 (3 shared)" in lines[2]
    assert lines[-1] == "odfl run algo=pf_ogd algo.eta=1.0 seeds=3"


def test_jobs_that_differ_in_seeds_are_pooled(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, levels in {"a": {0: 0.2, 1: 0.4}, "b": {1: 0.4, 2: 0.6}}.items():
        write_finished(tmp_path / name, levels=levels, rounds=1)
    (only,) = rank(capsys, str(tmp_path))
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
    assert "PF-OGD" in shown.out
    assert "1 damaged, 1 newer, 1 failed" in shown.err
    assert len(shown.err.splitlines()) == 1


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
    (only,) = rank(capsys, str(sweep))
    assert only["seeds"] == [0, 1]
    assert only["mean"] == pytest.approx(0.3 + 1)
    assert capsys.readouterr().err == ""


def gamma_sweep(place: Path) -> Path:
    """Three problems; pf_ogd's directories were first typed without γ = 1, the default."""
    runs = []
    for gamma in (0.0, 0.5, 1.0):
        for algo, level in {"pf_ogd": 0.7, "df_ogd": 0.7 - 0.1 * gamma, "uniform": 0.1}.items():
            late = level + 0.03 * gamma if algo == "df_ogd" else level
            levels = {0: level, 1: level + 0.1 * gamma, 2: late}
            run = write_finished(
                place / "runs" / f"{algo}-{gamma}", algo, levels, config={"data.gamma": gamma}
            )
            change_summary(
                run, overrides=[f"algo={algo}"] if gamma == 1 else [f"data.gamma={gamma}"]
            )
            runs.append(run)
    return write_sweep(place / "sweeps" / "gammas", runs)


def test_problems_are_columns_and_never_ranked_against_each_other(tmp_path, capsys) -> None:
    sweep = str(gamma_sweep(tmp_path))
    behind = {
        row["problem"]["data.gamma"]: row["behind"]["mean"]
        for row in rank(capsys, sweep)
        if row["algorithm"] == "pf_ogd"
    }
    assert behind == pytest.approx({0.0: 0.0, 0.5: 0.045, 1.0: 0.09})
    assert main([sweep, "--top", "1"]) == 0
    heading, first, *_ = capsys.readouterr().out.splitlines()
    assert re.split(r"\s{2,}", heading) == ["algorithm", "γ = 0", "γ = 0.5", "γ = 1"]
    assert first.startswith("DF-OGD ")


def test_references_stand_below_and_are_never_marked(tmp_path, capsys) -> None:
    """Uniform pays least of all here."""
    assert main([str(gamma_sweep(tmp_path)), "--markdown"]) == 0
    *_, last = capsys.readouterr().out.splitlines()
    assert last.startswith("| Uniform (reference) |")
    assert "**" not in last


def test_a_table_for_a_paper(tmp_path, capsys) -> None:
    sweep = str(gamma_sweep(tmp_path))
    assert (
        main([sweep, "--rows", "algo", "--cols", "data.gamma", "--gap", "pf_ogd", "--latex"]) == 0
    )
    lines = capsys.readouterr().out.splitlines()
    assert lines[2] == r"algorithm & $\gamma$ = 0 & $\gamma$ = 0.5 & $\gamma$ = 1 \\"
    assert lines[-4:-2] == [r"\midrule", lines[-3]]
    assert lines[-3].startswith("Uniform &")
    (row,) = [line for line in lines if line.startswith("DF-OGD")]
    assert r"& \textbf{$-$0.045 $\pm$ 0.022} & \textbf{$-$0.090 $\pm$ 0.043} \\" in row
    assert main([sweep, "--rows", "data.gamma", "--csv"]) == 0
    table = pd.read_csv(io.StringIO(capsys.readouterr().out), dtype={"data.gamma": str})
    assert list(table)[:2] == ["algo", "data.gamma"]
    assert set(table["data.gamma"]) == {"0", "0.5", "1"}
    expected = table[table["algo"] == "df_ogd"].set_index("data.gamma")["mean"]
    assert expected["0.5"] == pytest.approx(0.65 + 0.065 / 3 + harmonic(100) / 100, rel=1e-5)
    with pytest.raises(UserError, match=r"data\.gamma: the runs differ in it too"):
        main([sweep, "--rows", "algo", "--cols", "algo"])


def test_not_distinguishable_from_the_best(tmp_path, capsys) -> None:
    """0.1 ± 0.5 behind over three seeds is nothing; 0.4 in every one of them is much."""
    levels = {
        "df_ogd": {0: 0.2, 1: 0.4, 2: 0.6},
        "pf_ogd": {0: 0.5, 1: 0.4, 2: 0.6},
        "spo": {0: 0.6, 1: 0.8, 2: 1.0},
    }
    for algo, by_seed in levels.items():
        write_finished(tmp_path / algo, algo, by_seed)
    assert [(row["best"], row["tied"]) for row in rank(capsys, str(tmp_path))] == [
        (True, False), (False, True), (False, False),
    ]  # fmt: skip


def test_of_several_problems_the_best_settings_count(tmp_path, capsys) -> None:
    runs = [
        write_finished(
            tmp_path / "runs" / f"{gamma}-{eta}", "pf_ogd", {0: abs(eta - best), 1: abs(eta - best)},
            config={"data.gamma": gamma, "algo.eta": eta},
        )
        for gamma, best in {0.0: 0.1, 1.0: 0.3}.items()
        for eta in (0.1, 0.2, 0.3)
    ]  # fmt: skip
    sweep = str(write_sweep(tmp_path / "sweep", runs))
    rows = rank(capsys, sweep)
    assert [(row["differs"]["algo.eta"], row["tried"]) for row in rows] == [(0.1, 3), (0.3, 3)]
    assert main([sweep, "--latex"]) == 0
    assert "best of several settings, chosen on these seeds: PF-OGD (3)" in capsys.readouterr().err
    assert len(rank(capsys, sweep, "--rows", "algo,algo.eta")) == 6
    assert "several settings" not in capsys.readouterr().err
    assert len(rank(capsys, sweep, "--where", "data.gamma=0")) == 3  # a calibration


def test_several_sweeps_make_one_table(tmp_path, capsys) -> None:
    levels = {"a": {"df_ogd": 0.4, "pf_ogd": 0.6}, "b": {"pf_ogd": 0.3, "df_ogd": 0.5, "spo": 0.9}}
    sweeps = []
    for name, costs in levels.items():
        runs = [
            write_finished(tmp_path / "runs" / f"{algo}-{name}", algo, {0: cost, 1: cost})
            for algo, cost in costs.items()
        ]
        sweeps.append(str(write_sweep(tmp_path / "sweeps" / name, runs)))
    assert main([*sweeps, "--markdown"]) == 0
    heading, _, *rows = capsys.readouterr().out.splitlines()
    assert heading == "| algorithm | a | b |"
    cells = {row.split(" | ")[0].strip("| "): row.rstrip(" |").split(" | ")[1:] for row in rows}
    offset = harmonic(100) / 100
    assert cells["DF-OGD"] == [f"**{0.4 + offset:.4f} ± 0**", f"{0.5 + offset:.4f} ± 0"]
    assert cells["SPO+"][0] == "–"
    assert list(cells) == ["DF-OGD", "PF-OGD", "SPO+"]
    assert len(rank(capsys, *sweeps)) == 5
    assert main([*sweeps, "nowhere", "--latex"]) == 0
    assert "left out: nowhere" in capsys.readouterr().err
    assert main([*sweeps, "--where", "algo=spo"]) == 0
    assert "left out: --where algo=spo" in capsys.readouterr().err
    with pytest.raises(UserError, match=r"^nowhere: no such.*; neither: no such"):
        main(["nowhere", "neither"])


def test_averages_of_what_accumulates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_finished(tmp_path / "a", levels={0: 0.5})
    ((of_sum,), (of_average,)) = (
        rank(capsys, str(tmp_path), "--by", column) for column in ("regret", "avg_regret")
    )
    assert of_average["mean"] == pytest.approx(of_sum["mean"] / 100)
    assert of_average["overrides"] == ["algo=df_ogd"]


def test_intervals_over_the_rounds_of_one_path(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Seed 0 pays level + 1/t: the level is in the paired difference, the 1/t is not."""
    for algo, level in {"spo": 0.2, "pf_ogd": 0.5}.items():
        write_finished(tmp_path / algo, algo, {0: level}, thin=1)
    first, second = rank(capsys, str(tmp_path), "--over", "rounds")
    assert first["ci95"] == pytest.approx(path_mean(0.2 + 1 / np.arange(1, 101)).ci95)
    assert second["behind"]["seeds"] == 1
    assert second["behind"]["mean"] == pytest.approx(0.3)
    assert second["behind"]["ci95"] == pytest.approx(0.0, abs=1e-12)
