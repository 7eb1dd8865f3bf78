"""until=decided: seeds are added until each pair has a verdict, and a kill changes nothing."""

import json
import os
import signal
import time
from pathlib import Path

import pytest
from support.attempts import csvs
from support.commands import complaints, odfl
from support.processes import LIMIT, ODFL
from support.samples import some_of

from odfl_cli.core.errors import UserError
from odfl_cli.results.verdicts import read_verdicts
from odfl_cli.runs.sweep.until import Decided

WORDS = ("run", "-m", "horizon.rounds=4", "until=decided", "sweep=mine")


def sweep(root: Path) -> Path:
    return root / "outputs" / "sweeps" / "mine"


def jobs(root: Path) -> list[dict]:
    return json.loads((sweep(root) / "index.json").read_text())["jobs"]


def test_looks_grow_to_the_most():
    assert Decided(first=50, most=100).looks() == [50, 63, 79, 99, 100]
    assert Decided(first=50, most=30).looks() == [30]


@pytest.mark.thorough
def test_whoever_knows_the_law_costs_less_than_whoever_does_not(tmp_path):
    words = ("algo=clairvoyant,uniform", "data.rho=0,0.5", "seeds=7-9", "until.by=avg_cost")
    words += ("data.gamma=0", "data.noise_std=0", "data.drift_weight=0")
    done = odfl(*WORDS, *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    verdicts = read_verdicts(sweep(tmp_path))
    assert verdicts is not None
    pairs = verdicts["pairs"]
    assert [(pair["problem"], pair["first"], pair["second"]) for pair in pairs] == [
        ("data.rho=0", "clairvoyant", "uniform"),
        ("data.rho=0.5", "clairvoyant", "uniform"),
    ]
    assert {pair["verdict"] for pair in pairs} == {"less"}
    assert {pair["seeds"] for pair in pairs} == {"7-56"}
    for pair in pairs:
        low, high = pair["interval"]
        assert low < pair["difference"] < high < 0
    assert [job["seeds"] for job in jobs(tmp_path)] == 4 * [list(range(7, 57))]
    assert "Clairvoyant has less average cost than Uniform" in done.stdout


@pytest.mark.thorough
def test_undecided_says_by_how_much_and_more_seeds_continue(tmp_path):
    words = ("algo=pf_ogd,spo", "until.first=20")
    done = odfl(*WORDS, *words, "until.most=22", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert complaints(done) == [
        "odfl: until=decided: compares avg_mean_cost; until.by=… names another column"
    ]
    looks, *_, row, _ = done.stdout.splitlines()
    assert looks.startswith("20 seeds, 0 of 1 pairs decided; pf_ogd − spo ")
    assert row.startswith("PF-OGD and SPO+ are undecided in ")
    assert "more would decide it" in row
    more = odfl(*WORDS, *words, "until.most=26", "until.margin=1", cwd=tmp_path)
    assert "have the same average expected cost within 1" in more.stdout
    assert [len(job["seeds"]) for job in jobs(tmp_path)] == [22, 22]
    (pair,) = json.loads((sweep(tmp_path) / "verdict.json").read_text())["pairs"]
    assert (pair["seeds"], pair["verdict"]) == ("0-19", "equal")  # as if it had been asked at once


@pytest.mark.parametrize(
    ("words", "line"),
    some_of(
        [
            (["algo=uniform"], "until=decided: nothing to compare"),
            (["algo=uniform,spo", "until.by=avg_cots"], "until.by=avg_cots: there is no such column"),
            (["algo=uniform,spo", "until.baseline=pf_ogd"], "until.baseline=pf_ogd: there are uniform"),
            (["algo=uniform,spo", "until.most=0"], "until.most=0: should be greater than or equal to 1"),
            (["algo=uniform,spo", "force=true"], "until=decided: computes what is missing; leave out"),
        ],
        2,
    ),
)  # fmt: skip
def test_refusals_before_the_first_job(tmp_path, words, line):
    done = odfl(*WORDS, *words, cwd=tmp_path)
    assert done.returncode == 2
    assert complaints(done)[-1].startswith(f"odfl: {line}")
    assert not (tmp_path / "outputs").exists()


def test_recorded_rounds_are_no_repetitions(tmp_path):
    rows = [f"{t},{item},0.{t}{item},1" for t in range(3) for item in range(2)]
    (tmp_path / "mine.csv").write_text("\n".join(["round,item,cost,x", *rows, ""]))
    words = (*WORDS[:2], *WORDS[3:], "algo=uniform,spo", "data=replay", "data.file=mine.csv")
    done = odfl(*words, cwd=tmp_path)
    assert complaints(done)[-1].startswith("odfl: until=decided: seeds of recorded data are no rep")
    assert done.returncode == 2


def test_it_needs_a_sweep_and_its_keys_need_it(tmp_path):
    alone = odfl("run", "algo=uniform", "until=decided", cwd=tmp_path)
    assert complaints(alone) == ["odfl: until: it is for the jobs of a sweep; add -m"]
    keys = odfl("run", "-m", "algo=uniform,spo", "until.most=3", cwd=tmp_path)
    assert complaints(keys) == ["odfl: until.most: it needs until=decided"]


@pytest.mark.thorough
def test_a_kill_changes_no_verdict(tmp_path, start):
    words = (*WORDS, "algo=pf_ogd,spo,uniform", "until.first=20", "until.most=60", "until.by=cost")
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    whole.mkdir()
    killed.mkdir()
    assert odfl(*words, cwd=whole).returncode == 0
    for looks in (1, 3):
        process = start(*ODFL, *words, cwd=killed)
        while process.poll() is None:
            verdict = sweep(killed) / "verdict.json"
            done = json.loads(verdict.read_text())["pairs"] if verdict.exists() else []
            if done and int(done[0]["seeds"].partition("-")[2]) >= 20 * looks - 1:
                os.killpg(process.pid, signal.SIGKILL)
                break
            time.sleep(0.01)
        process.communicate(timeout=LIMIT)
    again = odfl(*words, cwd=killed)
    assert again.returncode == 0, again.stderr
    assert csvs(killed) == csvs(whole)
    assert read_verdicts(sweep(killed)) == read_verdicts(sweep(whole))
    assert len(jobs(killed)[0]["seeds"]) == len(jobs(whole)[0]["seeds"])


def test_a_file_that_odfl_did_not_write_is_refused(tmp_path):
    assert read_verdicts(tmp_path) is None
    (tmp_path / "verdict.json").write_text('{"pairs": 3}')
    with pytest.raises(UserError, match=r"verdict\.json: it is not what odfl writes"):
        read_verdicts(tmp_path)
