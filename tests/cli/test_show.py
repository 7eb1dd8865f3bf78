"""`odfl show`: one run, and the command that computes it again."""

import json
import re
import shlex
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.commands import odfl, run_directories
from support.documents import FILES
from support.finished_runs import write_failed, write_finished
from support.samples import marked
from support.synthetic_runs import change_summary, write_sweep

from odfl_cli.cli.show import main
from odfl_cli.core.errors import UserError
from odfl_cli.core.seeds import seeds_word
from odfl_cli.results.runs import repeating_words

SMALL = ("horizon=smoke", "seeds=2")


def bytes_of(run: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in run.glob("seed-*.csv")}


def repeat(run: Path, cwd: Path, fresh: Path) -> tuple[list[str], Path]:
    """Runs the command that `odfl show` prints for a run in a fresh folder."""
    shown = odfl("show", str(run), cwd=cwd)
    assert shown.returncode == 0, shown.stderr
    verb, *words = shlex.split(shown.stdout.splitlines()[-1])
    assert verb == "odfl"
    fresh.mkdir()
    done = odfl(*words, f"outputs={fresh}", cwd=cwd)
    assert done.returncode == 0, done.stderr
    (again,) = run_directories(fresh)
    return words, again


@pytest.mark.thorough
def test_the_jobs_of_an_experiment_repeat(tmp_path: Path) -> None:
    done = odfl("run", "experiment=knapsack", "algo=pf_ogd,uniform", *SMALL, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    runs = run_directories(tmp_path / "outputs" / "runs")
    assert len(runs) == 2
    for run in runs:
        words, again = repeat(run, tmp_path, tmp_path / f"fresh-{run.name}")
        assert again.name == run.name
        assert bytes_of(again) == bytes_of(run)
        assert len([word for word in words if word.startswith("algo=")]) == 1


@pytest.mark.parametrize(
    "overrides",
    [
        ["algo=pf_ogd", "seeds=[7,3]", "data.theta_star_norm=2.5", "theta_radius=1e-3"],
        *marked(
            [
                ["algo=df_ftpl", "oracle.lr=0.05", "seeds=[7,3]", "data.theta_star_norm=2.5"],
                ["algo=uniform", "polytope=knapsack", "polytope.weights=[1,2,1,2.5,1]",
                 "data.clip=false", "regularizer=log_barrier", "seeds=2", "theta_radius=1e-3"],
                ["algo=uniform", "data.gamma=0.1", "horizon.rounds=70", "horizon.rows=9",
                 "~data.rho", "tuned/algo_oracle=df_ftpl_sgd", "seeds=2"],
            ],
            lambda _: False,
        ),
    ],
    ids=lambda overrides: overrides[0],
)  # fmt: skip
def test_values_of_every_kind_repeat(tmp_path: Path, overrides: list[str]) -> None:
    done = odfl("run", "horizon=smoke", *overrides, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (run,) = run_directories(tmp_path)
    _, again = repeat(run, tmp_path, tmp_path / "fresh")
    assert again.name == run.name
    assert bytes_of(again) == bytes_of(run)


@pytest.mark.parametrize(
    "typed_by_hand", marked([[], ["data.items=2"]], bool), ids=["found", "typed"]
)
def test_a_replay_finds_its_number_of_items_itself(
    tmp_path: Path, typed_by_hand: list[str]
) -> None:
    rows = "".join(f"{t},{item},{t % 3},{t % 2}\n" for t in range(20) for item in "ab")
    (tmp_path / "a.csv").write_text("round,item,x,cost\n" + rows)
    words = ("algo=pf_ogd", "data=replay", "data.file=a.csv", "horizon.rounds=20", "seeds=1")
    done = odfl("run", *words, *typed_by_hand, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (run,) = run_directories(tmp_path)
    shown, again = repeat(run, tmp_path, tmp_path / "fresh")
    assert [word for word in shown if word.startswith("data.items")] == typed_by_hand
    assert again.name == run.name
    assert bytes_of(again) == bytes_of(run)


@pytest.mark.thorough
def test_a_users_own_component_repeats(tmp_path: Path) -> None:
    for name, content in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    typed = ("--config-dir", "my_conf", "algo=mine", "algo.rate=0.01")
    assert odfl("run", *typed, *SMALL, cwd=tmp_path).returncode == 0
    (run,) = run_directories(tmp_path)
    words, again = repeat(run, tmp_path, tmp_path / "fresh")
    assert words == ["run", *typed, *SMALL]
    assert bytes_of(again) == bytes_of(run)


def test_a_command_is_for_the_seeds_that_were_asked_for_last(tmp_path: Path) -> None:
    given_words = ["algo=uniform", "horizon=smoke", "seeds=1"]
    assert odfl("run", *given_words, cwd=tmp_path).returncode == 0
    more = odfl("run", *given_words[:2], "seeds=[4]", cwd=tmp_path)
    assert "holds 1 more seeds; averages are over the 1 asked for" in more.stderr
    (run,) = run_directories(tmp_path)
    shown = json.loads(odfl("show", run.name, "--json", cwd=tmp_path).stdout)
    assert shown["command"] == "odfl run algo=uniform horizon=smoke 'seeds=[4]'"
    final = shown["summary"]["final"]["avg_cost"]["per_seed"]
    assert more.stdout.split()[-5:-4] == [f"{final[1]:.4f}"]


WORDS = st.sampled_from(["algo", "data.gamma", "seeds", "outputs", "sweep", "+x", "hydra.mode"])


@given(st.lists(st.tuples(WORDS, st.integers(0, 3))))
def test_the_last_of_equal_keys_counts_and_bookkeeping_does_not(pairs: list) -> None:
    words = repeating_words([f"{key}={value}" for key, value in pairs], [])
    kept = {key: value for key, value in pairs if key in ("algo", "data.gamma", "+x")}
    assert words == [f"{key}={value}" for key, value in kept.items()]


@pytest.mark.parametrize(
    ("seeds", "word"),
    [([0, 1, 2], "seeds=3"), ([7, 3], "seeds=[3,7]"), ([1], "seeds=[1]"), ([7, 8], "seeds=7-8")],
)
def test_seeds_are_a_count_a_range_or_a_list(seeds: list[int], word: str) -> None:
    assert seeds_word(seeds) == word


def test_what_a_failed_run_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = write_failed(tmp_path / "a", "pf_ogd", error="ValueError: no")
    assert main([str(run)]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"{run}: failed (ValueError: no), 0 s old")
    assert "algo=pf_ogd" in shown


def test_figures_versions_and_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = write_finished(
        tmp_path / "a", levels={0: 0.5, 1: 0.7, 5: 0.6}, version="0.0.1", exponent=0.5
    )
    assert main([str(run)]) == 0
    shown = capsys.readouterr().out
    assert "\nstatic_regret " in shown
    assert "100 rounds, seeds 0-1,5" in shown
    assert re.search(r"\nbest_cost +0.2500 ± 0.0000\n", shown)
    assert "odfl 0.0.1; this is odfl " in shown
    assert "seed-0.csv seed-1.csv seed-5.csv summary.json" in shown
    assert "    gamma: 1.0" in shown


def test_a_run_of_a_newer_version(tmp_path: Path) -> None:
    run = write_finished(tmp_path / "a")
    change_summary(run, format=99)
    with pytest.raises(UserError, match=r"format 99.*newer version"):
        main([str(run)])


@pytest.mark.parametrize("name", ["nowhere", "."])
def test_not_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=r"no such directory|not the directory of a run"):
        main([name])


def test_a_sweep_shows_its_jobs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [write_finished(tmp_path / "runs" / f"df_ogd-{name}") for name in ("ab12", "cd34")]
    sweep = write_sweep(tmp_path / "sweeps" / "two", runs)
    assert main([str(sweep)]) == 0
    shown = capsys.readouterr().out
    assert "df_ogd-ab12" in shown
    assert "df_ogd-cd34" in shown
    assert main([str(sweep), "--json"]) == 0
    jobs = json.loads(capsys.readouterr().out)
    assert [Path(job["directory"]).name for job in jobs] == ["df_ogd-ab12", "df_ogd-cd34"]
