"""Seeds of different requests: which of them readers show, and how others are named."""

import json

import pytest
from support.commands import odfl
from support.synthetic_runs import change_summary, write_run, write_sweep

from odfl_cli import load
from odfl_cli.core.errors import UserError
from odfl_cli.core.seeds import format_seeds, parse_seeds
from odfl_cli.results.finding import Where, find_runs

TUNED, FINAL = {1000: 0.1, 1001: 0.1, 1002: 0.1}, dict.fromkeys(range(20), 0.5)


@pytest.mark.parametrize(
    ("text", "seeds"),
    [("3", (0, 1, 2)), (3, (0, 1, 2)), ("1000-1002", (1000, 1001, 1002)), ("[0-2,20]", (0, 1, 2, 20)),
     ([5, 7], (5, 7)), ("[4]", (4,))],
)  # fmt: skip
def test_seeds_as_text(text, seeds):
    assert parse_seeds(text) == seeds
    assert parse_seeds(f"[{format_seeds(seeds)}]") == seeds


@pytest.mark.parametrize(
    "text", ["", "0", "3-1", "a", "1,,2", "0-5,3", "-1", "4294967296", "0-99999999"]
)
def test_what_is_no_seed_is_refused_in_one_line(text):
    with pytest.raises(UserError, match=f"^seeds {text}: "):
        parse_seeds(text)


def test_the_last_request_is_read_and_the_others_are_named(tmp_path):
    """Tuned on 1000-1002, then run on twenty seeds: the same directory."""
    run = write_run(tmp_path / "runs" / "a", levels={**FINAL, **TUNED})
    change_summary(run, asked=list(FINAL))
    with pytest.warns(UserWarning, match=r"other requests.*--seeds 1000-1002 reads") as told:
        assert load(run).runs[0].seeds == list(FINAL)
    assert told[0].filename == __file__
    assert load(run, seeds="1000-1002").runs[0].seeds == list(TUNED)
    assert load(run, seeds=[3, 4]).runs[0].seeds == [3, 4]
    with pytest.warns(UserWarning, match=r"^--seeds 20-24: not in the run$"):
        assert load(run, seeds=25).runs[0].seeds == list(FINAL)
    (stored,) = find_runs([run], print, Where({}, (18, 19, 20)))
    assert stored.command.endswith("seeds=18-19")
    with pytest.raises(
        UserError, match="--seeds 7000: no run has one of them; there are 0-19,1000-1002"
    ):
        load(run, seeds="[7000]")


def test_two_sweeps_that_share_a_run_are_not_pooled(tmp_path):
    run = write_run(tmp_path / "runs" / "a", levels={**FINAL, **TUNED})
    change_summary(run, asked=list(FINAL))
    sweeps = []
    for name, seeds in {"tune": TUNED, "final": FINAL}.items():
        sweeps.append(write_sweep(tmp_path / "sweeps" / name, [run]))
        index = json.loads((sweeps[-1] / "index.json").read_text())
        index["jobs"][0]["seeds"] = list(seeds)
        (sweeps[-1] / "index.json").write_text(json.dumps(index))
    shown = [find_runs(paths, print)[0].seeds for paths in ([sweeps[0]], [sweeps[1]], sweeps)]
    assert [set(seeds) for seeds in shown] == [set(TUNED), set(FINAL), set(FINAL)]


@pytest.mark.thorough
def test_a_run_records_what_was_asked_for(tmp_path):
    def read_asked(*words):
        ended = odfl("run", "algo=uniform", "horizon.rounds=4", *words, cwd=tmp_path)
        assert ended.returncode == 0, ended.stderr
        (summary,) = tmp_path.glob("outputs/runs/*/summary.json")
        return json.loads(summary.read_text())["asked"]

    assert read_asked("seeds=[1000,1001]") == [1000, 1001]
    assert read_asked("seeds=3") == [0, 1, 2]
    assert read_asked("seeds=[1000,1001]") == [1000, 1001]  # computed before
    assert read_asked("-m", "seeds=2") == [0, 1]
    (run,) = find_runs([tmp_path / "outputs" / "runs"], print)
    assert run.state == "finished"
    assert run.seeds == (0, 1)
