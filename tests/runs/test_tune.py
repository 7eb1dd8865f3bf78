"""tune=grid: constants are chosen on some seeds, and the winners run on others."""

import json
from pathlib import Path

import numpy as np
import pytest
from support.commands import complaints, odfl
from support.problems import composed_job
from support.samples import some_of

from odfl_cli import load
from odfl_cli.core.errors import UserError
from odfl_cli.runs.prepare import unused_keys
from odfl_cli.runs.simulate import simulate
from odfl_cli.runs.sweep.tune import Contest, Tune

WORDS = [
    "run",
    "-m",
    "horizon.rounds=60",
    "seeds=2",
    "sweep=mine",
    "tune=grid",
    "tune.seeds=1000-1002",
]
ETAS = "tune.grids.pf_ogd.algo.eta=[0.01,0.1,1,1e300]"


def read(root: Path, sweep: str, name: str) -> dict:
    return json.loads((root / "outputs" / "sweeps" / sweep / name).read_text())


@pytest.mark.thorough
def test_the_winner_is_the_least_on_its_seeds_and_runs_on_others(tmp_path):
    words = ("algo=pf_ogd,uniform", "data.gamma=0,1", ETAS)
    done = odfl(*WORDS, *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    record = read(tmp_path, "mine", "tuned.json")
    facts = [record[name] for name in ("seeds", "objective", "sweep")]
    assert facts == ["1000-1002", "avg_cost", "mine-tune"]
    jobs = read(tmp_path, "mine", "index.json")["jobs"]
    assert [job["seeds"] for job in jobs] == [[0, 1]] * 4
    with pytest.warns(UserWarning, match="stopped being finite"):  # η = 1e300, which loses
        tried = load(tmp_path / "outputs" / "sweeps" / "mine-tune", seeds="1000-1002")
    assert {seed for run in tried.runs for seed in run.seeds} == {1000, 1001, 1002}
    for chosen in record["jobs"]:
        gamma = float(chosen["job"].rpartition("=")[2])
        means = {
            run.settings["algo.eta"]: run.final("avg_cost").mean()
            for run in tried.runs
            if run.algorithm == "pf_ogd" and run.settings["data.gamma"] == gamma
        }
        best = min(means, key=means.__getitem__)
        assert float(chosen["chosen"]["algo.eta"]) == best
        assert chosen["mean"] == pytest.approx(means[best])
        assert chosen["edge"] == (["algo.eta"] if best in (0.01, 1e300) else [])
        assert f"algo.eta={chosen['chosen']['algo.eta']}" in str(jobs)
    assert len(record["jobs"]) == 2  # uniform has no constants
    again = odfl(*WORDS, *words, cwd=tmp_path)
    assert "4 jobs: 0 done, 4 skipped" in again.stdout


@pytest.mark.parametrize(
    ("words", "line"),
    some_of(
        [
            (["algo=pf_ogd", "algo.eta=0.1"], "tune: no job has constants to choose"),
            (["algo=pf_ogd", "theta_radius=auto"], "tune: no job has constants to choose"),
            (["algo=pf_ogd", "tune.seeds=1-3"], "tune.seeds: seed 1 is reported, too"),
            (["algo=pf_ogd", "tune.seeds=x"], "tune.seeds x: should be a count"),
            (
                ["algo=pf_ogd", "tune.grids.pf_ogd.algo.eta=3"],
                "tune.grids.pf_ogd.algo.eta=3: should be",
            ),
            (["algo=pf_ogd", "until=decided"], "until and tune: one at a time"),
            (["algo=pf_ogd", "objective=avg_cots"], "objective=avg_cots: there is no such column"),
        ],
        2,
    ),
)
def test_refusals_before_the_first_job(tmp_path, words, line):
    done = odfl(*WORDS, *words, cwd=tmp_path)
    assert done.returncode == 2
    assert complaints(done)[-1].startswith(f"odfl: {line}")
    assert not (tmp_path / "outputs").exists()


def test_it_needs_a_sweep(tmp_path):
    alone = odfl("run", "algo=pf_ogd", "tune=grid", cwd=tmp_path)
    assert complaints(alone) == ["odfl: tune: it is for the jobs of a sweep; add -m"]


def test_constants_that_a_job_sets_are_not_tried():
    tune = Tune(seeds=3, grids={"spo": {"algo": {"eta": [1, 2]}, "data": {"target": None}}})
    assert tune.grid_of("spo", ("algo=spo",)) == {"algo.eta": [1, 2]}
    assert tune.grid_of("spo", ("algo=spo", "algo.eta=3")) == {}
    assert tune.grid_of("uniform", ()) == {}


@pytest.mark.parametrize("words", [[], ["theta_radius=auto"], ["algo.step=adaptive"]])
def test_step_sizes_without_effect_are_not_tried(words):
    """They are those that leave a run as it is."""
    first, second = (
        simulate(composed_job("algo=ogd", "horizon.rounds=20", *words, eta))
        for eta in ("algo.c_eta=0.1", "algo.c_eta=1")
    )
    job = composed_job("algo=ogd", *words)
    same = np.array_equal(first.state.theta, second.state.theta)
    assert ("algo.c_eta" in unused_keys(job.algorithm)) == same == bool(words)


def test_candidates_that_failed_lose_and_ends_are_named():
    contest = Contest(("algo=spo",), "algo=spo", {"algo.eta": [0.1, 1.0, 10.0]})
    first, second, third = contest.propose()
    contest.judge(first, [])
    contest.judge(second, [2.0, 4.0])
    contest.judge(third, [2.0, 3.0])
    assert contest.winner() == third == ("algo.eta=10.0",)
    found = [contest.describe()[name] for name in ("edge", "tried", "failed", "mean")]
    assert found == [["algo.eta"], 3, 1, 2.5]
    for words in (second, third):
        contest.judge(words, [])
    with pytest.raises(UserError, match="every candidate failed"):
        contest.winner()


def test_optuna_proposes_numbers_between_the_ends():
    optuna = pytest.importorskip("optuna")
    contest = Contest((), "spo", {"algo.eta": [0.01, 0.1, 1.0], "data.target": ["raw", "rank"]})
    contest.study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0))
    for _ in range(3):
        (words,) = contest.propose()
        eta, target = (word.partition("=")[2] for word in words)
        assert 0.01 <= float(eta) <= 1.0
        assert target in ("'raw'", "'rank'")
        contest.judge(words, [float(eta)])
    assert len(contest.study.trials) == 3
