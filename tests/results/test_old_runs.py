"""Runs that odfl 0.2.0 wrote are listed, shown, plotted, ranked, exported and cleaned."""

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from odfl_cli.cli import main

WRITTEN = Path(__file__).parent / "written_by_0_2_0"
SINGLE, FAILED = "df_ogd-27b08921656e", "pf_ogd-7c5964c01e84"
SWEPT = {"pf_ogd-4fb38484e07c": 0, "pf_ogd-564224e9edea": 1}


@pytest.fixture
def outputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(WRITTEN, tmp_path / "outputs")
    return tmp_path / "outputs"


def print_all(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(list(arguments)) == 0
    return capsys.readouterr().out


def average_cost(run: Path) -> float:
    finals = [pd.read_csv(file)["avg_cost"].iloc[-1] for file in run.glob("seed-*.csv")]
    return float(sum(finals) / len(finals))


def test_list(outputs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    listed = json.loads(print_all(capsys, "list", "--json"))
    runs = {Path(run["directory"]).name: run for run in listed}
    assert {name: run["state"] for name, run in runs.items()} == {
        SINGLE: "finished",
        FAILED: "failed",
        **dict.fromkeys(SWEPT, "finished"),
    }
    for name in (SINGLE, *SWEPT):
        assert runs[name]["seeds"] == [0, 1]
        assert runs[name]["avg_cost"]["mean"] == pytest.approx(
            average_cost(outputs / "runs" / name)
        )
        assert runs[name]["version"] == "0.2.0"
    assert "stopped being finite" in runs[FAILED]["error"]
    assert runs[FAILED]["algorithm"] == "pf_ogd"
    swept = json.loads(print_all(capsys, "list", "outputs/sweeps/gammas", "--json"))
    assert [run["differs"]["data.gamma"] for run in swept] == [0, 1]


@pytest.mark.parametrize(
    ("name", "command"),
    [
        (SINGLE, "algo=df_ogd horizon=smoke horizon.rounds=6 metrics=regret seeds=2"),
        (FAILED, "algo=pf_ogd algo.eta=1e200 predictor=mlp horizon=smoke horizon.rounds=40"),
        ("pf_ogd-564224e9edea",
         "algo=pf_ogd data.gamma=1 horizon=smoke horizon.rounds=6 seeds=2"),
    ],
)  # fmt: skip
def test_show(outputs: Path, capsys: pytest.CaptureFixture[str], name: str, command: str) -> None:
    assert print_all(capsys, "show", name).splitlines()[-1] == f"  odfl run {command}"


@pytest.mark.thorough
@pytest.mark.usefixtures("unrendered")
def test_plot(outputs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = print_all(capsys, "plot", f"outputs/runs/{SINGLE}", "--out", "figures")
    assert line.startswith(f"figures/{SINGLE}: overview, ")
    assert "rates" in line
    print_all(capsys, "plot", "outputs/sweeps/gammas", "--x", "data.gamma")
    drawn = pd.read_csv("outputs/figures/gammas/x_data.gamma.csv")
    assert drawn["data.gamma"].tolist() == list(SWEPT.values())
    costs = [average_cost(outputs / "runs" / name) for name in SWEPT]
    assert drawn["mean"].tolist() == pytest.approx(costs)


def test_best(outputs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ranked = json.loads(print_all(capsys, "best", "gammas", "--json"))
    costs = sorted(average_cost(outputs / "runs" / name) for name in SWEPT)
    assert [one["mean"] for one in ranked] == pytest.approx(costs)


def test_export(outputs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    print_all(capsys, "export", "gammas", "-o", "table.csv")
    table = pd.read_csv("table.csv")
    assert table.groupby("run")["data.gamma"].first().to_dict() == SWEPT
    assert len(table) == sum(
        len(pd.read_csv(file)) for name in SWEPT for file in outputs.glob(f"runs/{name}/*.csv")
    )
