"""verdict.json and tuned.json, as `best`, the report and `load` show it."""

import json

import pytest
from support.synthetic_runs import write_run, write_sweep

from odfl_cli import load
from odfl_cli.cli import best, report
from odfl_cli.core.errors import UserError
from odfl_cli.results.verdicts import LOOKED

PAIR = {"problem": "data.gamma=1", "first": "df_ogd", "second": "pf_ogd", "runs": ["a", "b"],
        "difference": -0.0021, "interval": [-0.004, -0.0002], "seeds": "0-2", "verdict": "less"}  # fmt: skip
SENTENCE = "data.gamma=1: DF-OGD has less average cost than PF-OGD: −0.0021 in [−0.004, −0.0002], seeds 0-2."


@pytest.fixture
def sweep(tmp_path):
    runs = [write_run(tmp_path / "runs" / algo, algo) for algo in ("df_ogd", "pf_ogd")]
    sweep = write_sweep(tmp_path / "sweeps" / "two", runs)
    content = {"column": "avg_cost", "margin": 0.001, "error": 0.05, "most": 2000, "pairs": [PAIR]}
    (sweep / "verdict.json").write_text(json.dumps(content))
    job = {"job": "algo=pf_ogd", "chosen": {"algo.eta": "1.0"}, "edge": ["algo.eta"]}
    tuned = {"objective": "avg_cost", "seeds": "1000-1019", "jobs": [job]}
    (sweep / "tuned.json").write_text(json.dumps(tuned))
    return sweep


CHOICE = "algo=pf_ogd: algo.eta=1.0, by avg_cost on seeds 1000-1019, with algo.eta at the edge of the grid."


def test_every_reader_shows_what_was_decided_and_chosen(sweep, tmp_path, capsys):
    assert load(sweep).verdicts == [SENTENCE, LOOKED]
    assert best.main([str(sweep)]) == 0
    assert capsys.readouterr().out.endswith(
        f"verdict: {SENTENCE}\nverdict: {LOOKED}\nchosen: {CHOICE}\n"
    )
    page = tmp_path / "page.html"
    assert report.main([str(sweep), "-o", str(page)]) == 0
    assert f"<li>{SENTENCE}</li><li>{LOOKED}</li>" in page.read_text()
    assert f"<li>{CHOICE}</li>" in page.read_text()


@pytest.mark.parametrize("name", ["verdict.json", "tuned.json"])
@pytest.mark.parametrize("text", ["[]", "{", '{"pairs": [], "jobs": 3}'])
def test_a_record_of_others_is_refused_in_one_line(sweep, name, text):
    (sweep / name).write_text(text)
    with pytest.raises(UserError, match=name):
        best.main([str(sweep)])
