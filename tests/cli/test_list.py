"""`odfl list`: what each run is and what became of it."""

import fcntl
import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.finished_runs import change_summary, write_failed, write_finished, write_unfinished
from support.synthetic_runs import harmonic, write_sweep

from odfl_cli.cli.list import main
from odfl_cli.core.errors import UserError


def listed(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict]:
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
        runs = listed(capsys, str(tmp_path))
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
    (entry,) = listed(capsys, str(tmp_path))
    assert entry["seeds"] == [0, 1]
    assert entry["avg_cost"]["mean"] == pytest.approx(0.6 + harmonic(100) / 100)
    assert entry["avg_cost"]["ci95"] == pytest.approx(12.7062 * 0.1, rel=1e-4)
    assert entry["bytes"] == sum(path.stat().st_size for path in run.iterdir())
    assert entry["age_seconds"] == pytest.approx(7200, abs=100)


def test_only_what_differs_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for gamma in (0.0, 0.5):
        write_finished(tmp_path / f"df_ogd-{gamma}", config={"data.gamma": gamma})
    assert [run["differs"] for run in listed(capsys, str(tmp_path))] == [
        {"data.gamma": 0.0},
        {"data.gamma": 0.5},
    ]


def test_a_line_fits_100_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keys = [f"data.some_rather_long_key_{number}" for number in range(5)]
    for value in (1, 2):
        write_finished(
            tmp_path / f"clairvoyant-123456789ab{value}",
            algo="clairvoyant",
            config=dict.fromkeys(keys, value),
        )
    assert main([str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line) <= 100 for line in lines[:3])
    assert "clairvoyant-123456789ab2" in lines[2]
    assert "some_rather" in lines[2]
    assert "…" in lines[2]


def test_a_sweep_lists_its_jobs_and_their_seeds_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = write_finished(tmp_path / "runs" / "a", levels={0: 0.5, 1: 0.7})
    write_finished(tmp_path / "runs" / "b")
    sweep = write_sweep(tmp_path / "sweeps" / "s", [wanted, tmp_path / "runs" / "never_begun"])
    index = json.loads((sweep / "index.json").read_text())
    index["jobs"][0]["seeds"] = [1]
    (sweep / "index.json").write_text(json.dumps(index))
    (entry,) = listed(capsys, str(sweep))
    assert Path(entry["directory"]).resolve() == wanted
    assert entry["seeds"] == [1]
    assert entry["avg_cost"]["mean"] == pytest.approx(0.7 + harmonic(100) / 100)


@pytest.mark.parametrize(
    "content",
    ["[", "[]", '{"jobs": 3}', '{"jobs": [{"overrides": []}]}', '{"jobs": [{"directory": 5}]}'],
)
def test_an_index_edited_by_hand(tmp_path: Path, content: str) -> None:
    (tmp_path / "index.json").write_text(content)
    with pytest.raises(UserError, match=r"index\.json: it does not list the jobs") as refused:
        main([str(tmp_path)])
    assert "\n" not in str(refused.value)


def test_other_folders_are_not_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "other" / ".hydra").mkdir(parents=True)
    (tmp_path / "other" / ".hydra" / "hydra.yaml").write_text("hydra: {job: {name: training}}\n")
    (tmp_path / "json").mkdir()
    (tmp_path / "json" / "summary.json").write_text('{"accuracy": 1}')
    assert main([str(tmp_path)]) == 0
    assert "no runs there" in capsys.readouterr().out


def test_no_such_directory() -> None:
    with pytest.raises(UserError, match="nowhere: no such directory"):
        main(["nowhere"])


@pytest.mark.parametrize(
    "verb", ["list", "show", "best", "clean", "export", "plot", "claims", "completion"]
)
def test_help_has_an_example_and_is_light(verb: str) -> None:
    script = (
        f"import sys; from odfl_cli.cli import main\n"
        f"try: main(['{verb}', '--help'])\n"
        f"except SystemExit as end: assert not end.code\n"
        f"heavy = {{'torch', 'hydra', 'numba', 'pandas', 'seaborn', 'matplotlib'}} & set(sys.modules)\n"
        f"sys.exit(f'imported {{heavy}}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "examples:" in done.stdout
    assert f"odfl {verb} " in done.stdout


def test_listing_needs_no_pandas(tmp_path: Path) -> None:
    write_finished(tmp_path / "a")
    script = (
        f"import sys; from odfl_cli.cli import main; code = main(['list', {str(tmp_path)!r}])\n"
        "heavy = {'torch', 'hydra', 'numba', 'pandas', 'omegaconf'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else code)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
