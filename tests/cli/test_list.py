"""`odfl list`: what each run is and what became of it."""

import fcntl
import json
from pathlib import Path

import pytest
from support.finished_runs import write_failed, write_finished, write_unfinished
from support.synthetic_runs import change_summary, harmonic, write_sweep

from odfl_cli.cli.list import main
from odfl_cli.core.errors import UserError


def list_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict]:
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_every_state(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_finished(tmp_path / "a")
    write_failed(tmp_path / "b", error="KeyError: 'x'")
    write_unfinished(tmp_path / "c")
    write_finished(tmp_path / "d")
    (tmp_path / "d" / "seed-1.csv").write_text("t,cost\n")
    change_summary(write_finished(tmp_path / "e"), format=99)
    write_unfinished(tmp_path / "f")
    with (tmp_path / "f" / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        runs = list_json(capsys, str(tmp_path))
    states = {Path(run["directory"]).name: run["state"] for run in runs}
    assert states == {
        "a": "finished",
        "b": "failed",
        "c": "unfinished",
        "d": "damaged",
        "e": "newer",
        "f": "running",
    }
    assert runs[1]["error"] == "KeyError: 'x'"
    assert runs[2]["algorithm"] == "df_ogd"


def test_the_figures_of_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = write_finished(tmp_path / "a", levels={0: 0.5, 1: 0.7}, rounds=100, age=7200)
    (entry,) = list_json(capsys, str(tmp_path))
    assert entry["seeds"] == [0, 1]
    assert entry["avg_cost"]["mean"] == pytest.approx(0.6 + harmonic(100) / 100)
    assert entry["avg_cost"]["ci95"] == pytest.approx(12.7062 * 0.1, rel=1e-4)
    assert entry["bytes"] == sum(path.stat().st_size for path in run.iterdir())
    assert entry["age_seconds"] == pytest.approx(7200, abs=100)


def test_only_what_differs_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for gamma in (0.0, 0.5):
        write_finished(tmp_path / f"df_ogd-{gamma}", config={"data.gamma": gamma})
    assert [run["differs"] for run in list_json(capsys, str(tmp_path))] == [
        {"data.gamma": 0.0},
        {"data.gamma": 0.5},
    ]


def test_what_was_typed_is_never_cut_in_a_pipe_and_folded_on_a_screen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [f"data.some_rather_long_key_{number}=1" for number in range(5)]
    run = write_finished(tmp_path / "clairvoyant-123456789ab1", algo="clairvoyant")
    change_summary(run, overrides=["algo=clairvoyant", *words, "seeds=3"])
    assert main([str(tmp_path)]) == 0
    assert " ".join(words) in capsys.readouterr().out.splitlines()[1]
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "120")
    assert main([str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 5
    assert all(len(line) <= 120 for line in lines)
    assert [word for line in lines for word in line.split() if "=" in word] == words


@pytest.mark.parametrize("columns", [60, 40, 20])
def test_a_narrow_screen_folds_and_loses_nothing(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    columns: int,
) -> None:
    run = write_finished(tmp_path / "clairvoyant-123456789ab1", algo="clairvoyant")
    change_summary(run, overrides=["algo=clairvoyant", "data.items=8", "data.gamma=0.5"])
    assert main([str(tmp_path)]) == 0
    wide = capsys.readouterr().out
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(columns))
    assert main([str(tmp_path)]) == 0
    narrow = capsys.readouterr().out.partition("\n\n")[0]
    assert all(len(line) <= columns for line in narrow.splitlines())
    words = wide.partition("\n\n")[0].split()
    assert sorted("".join(narrow.split())) == sorted("".join(words))
    if columns == 60:  # words stay whole where there is room
        assert sorted(narrow.split()) == sorted(words)


def test_names_prefixes_and_conditions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs are found by name, by the beginning of a hash and by their settings."""
    monkeypatch.chdir(tmp_path)
    for gamma, name in ((0.0, "ab12"), (0.5, "ab99"), (1.0, "cd34")):
        write_finished(Path("outputs/runs") / f"df_ogd-{name}", config={"data.gamma": gamma})
    write_sweep(
        Path("outputs/sweeps/two"), [Path(f"outputs/runs/df_ogd-{n}") for n in ("ab12", "cd34")]
    )

    def found(*arguments: str) -> list[str]:
        return [run["directory"][-4:] for run in list_json(capsys, *arguments)]

    assert found("two") == found("tw") == ["ab12", "cd34"]
    assert found("cd") == found("df_ogd-cd34") == found("outputs/runs/df_ogd-cd34") == ["cd34"]
    assert found("--where", "data.gamma=0,1.00") == ["ab12", "cd34"]
    assert found("two", "--where", "data.gamma=1", "algo=df_ogd,pf_ogd") == ["cd34"]
    for words, refusal in (
        (["ab"], "ab: 2 runs begin like that: df_ogd-ab12, df_ogd-ab99"),
        (["twoo"], "twoo: no such directory, .*; did you mean two"),
        (["no", "nor"], "no: no such directory.*; nor: no such directory"),
        (["--where", "data.gama=1"], "no run has this key; did you mean data.gamma"),
        (["--where", "data.gamma=7"], "no run has it; there are 0.0, 0.5, 1.0"),
        (["--where", "gamma"], "should be KEY=VALUE"),
    ):
        with pytest.raises(UserError, match=refusal):
            main(words)


def test_a_sweep_lists_its_jobs_and_their_seeds_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = write_finished(tmp_path / "runs" / "a", levels={0: 0.5, 1: 0.7})
    write_finished(tmp_path / "runs" / "b")
    sweep = write_sweep(tmp_path / "sweeps" / "s", [wanted, tmp_path / "runs" / "never_begun"])
    index = json.loads((sweep / "index.json").read_text())
    index["jobs"][0]["seeds"] = [1]
    (sweep / "index.json").write_text(json.dumps(index))
    (entry,) = list_json(capsys, str(sweep))
    assert Path(entry["directory"]).resolve() == wanted
    assert entry["seeds"] == [1]
    assert entry["avg_cost"]["mean"] == pytest.approx(0.7 + harmonic(100) / 100)


def test_other_folders_are_not_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "other" / ".hydra").mkdir(parents=True)
    (tmp_path / "other" / ".hydra" / "hydra.yaml").write_text("hydra: {job: {name: training}}\n")
    (tmp_path / "json").mkdir()
    (tmp_path / "json" / "summary.json").write_text('{"accuracy": 1}')
    assert main([str(tmp_path)]) == 0
    assert "no runs there" in capsys.readouterr().out
