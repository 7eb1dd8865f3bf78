"""`odfl export`: one tidy table."""

from pathlib import Path

import pandas as pd
import pytest
from support.finished_runs import write_failed, write_finished
from support.synthetic_runs import write_sweep

from odfl_cli.cli import export
from odfl_cli.cli.export import main
from odfl_cli.core.errors import UserError


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    runs = [
        write_finished(tmp_path / "runs" / "df_ogd-1", config={"data.gamma": 0.5}),
        write_finished(
            tmp_path / "runs" / "pf_ogd-2", "pf_ogd", {4: 0.3}, config={"data.gamma": 1}
        ),
    ]
    return write_sweep(tmp_path / "sweeps" / "s", runs)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_every_row_of_every_file(sweep: Path, tmp_path: Path, suffix: str) -> None:
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
    output = tmp_path / f"results.{suffix}"
    assert main([str(sweep), "-o", str(output)]) == 0
    table = pd.read_csv(output) if suffix == "csv" else pd.read_parquet(output)
    assert list(table.columns[:5]) == ["run", "algo", "data.gamma", "seed", "t"]
    runs = sweep.parent.parent / "runs"
    files = sorted(runs.glob("*/seed-*.csv"))
    assert len(files) == 4
    assert len(table) == sum(len(pd.read_csv(file)) for file in files)
    for file in files:
        original = pd.read_csv(file)
        seed = int(file.stem.removeprefix("seed-"))
        rows = table[(table["run"] == file.parent.name) & (table["seed"] == seed)]
        pd.testing.assert_frame_equal(
            rows[original.columns].reset_index(drop=True), original, rtol=1e-15
        )
    assert set(table.loc[table["algo"] == "pf_ogd", "data.gamma"]) == {1.0}


def test_values_of_several_types_are_texts(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    for name, value in {"a": None, "b": [1, 2], "c": 0.5}.items():
        write_finished(tmp_path / "runs" / name, config={"data.weights": value})
    assert main([str(tmp_path / "runs"), "-o", str(tmp_path / "x.parquet")]) == 0
    table = pd.read_parquet(tmp_path / "x.parquet")
    told = table.groupby("run")["data.weights"].first()
    assert told["b"] == "[1, 2]"
    assert told["c"] == "0.5"
    assert table.loc[table["run"] == "a", "data.weights"].isna().all()


def test_unfinished_runs_are_left_out_and_told(
    sweep: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_failed(tmp_path / "runs" / "z")
    assert main([str(tmp_path / "runs"), "-o", str(tmp_path / "x.csv")]) == 0
    assert "1 failed" in capsys.readouterr().err
    assert set(pd.read_csv(tmp_path / "x.csv")["run"]) == {"df_ogd-1", "pf_ogd-2"}


@pytest.mark.parametrize(
    ("output", "line"),
    [("x.xlsx", "should end in .csv or .parquet"), ("no/x.csv", "there is no directory no")],
)
def test_where_it_cannot_go(
    sweep: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output: str, line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=line):
        main([str(sweep), "-o", output])


def test_parquet_without_pyarrow(
    sweep: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"pip install -e '\.\[parquet\]'"):
        main([str(sweep), "-o", str(tmp_path / "x.parquet")])


def test_an_interrupted_export_leaves_the_old_file(
    sweep: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "x.csv"
    output.write_text("old")

    def interrupt(self: pd.DataFrame, file: object, **_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(pd.DataFrame, "to_csv", interrupt)
    with pytest.raises(KeyboardInterrupt):
        main([str(sweep), "-o", str(output), "--force"])
    assert output.read_text() == "old"
    assert list(tmp_path.glob(".*")) == []
