"""From runs with known numbers to verdicts, without running anything."""

import json
import math

import pytest
from support.commands import odfl
from support.synthetic_runs import write_run

from odfl_cli.claims.comparisons import SWEEPS, comparisons
from odfl_cli.claims.evidence import pick
from odfl_cli.claims.measures import (
    difference,
    difference_of_gaps,
    largest_share_of_bound,
    slope,
)
from odfl_cli.claims.table import Row, as_json, as_markdown
from odfl_cli.claims.verdict import Estimate, above, at_most
from odfl_cli.core.errors import UserError
from odfl_cli.results.grouping import group_runs
from odfl_cli.results.tables import read_runs

UNCLEAR = "not distinguishable at this sample size"


@pytest.mark.parametrize(
    ("value", "ci95", "verdict"),
    [
        (0.5, 0.4, "holds"),
        (0.5, 0.6, UNCLEAR),
        (-0.5, 0.6, UNCLEAR),
        (-0.5, 0.4, "does not hold"),
        (0.1, math.nan, "holds"),
        (-0.1, math.nan, "does not hold"),
        (math.nan, math.nan, "no measurement"),
        (math.nan, 0.1, "no measurement"),
    ],
)
def test_an_interval_across_the_limit_settles_nothing(value, ci95, verdict):
    assert above(0.0).judge(Estimate(value, ci95, 10)) == verdict
    assert at_most(0.0).judge(Estimate(-value, ci95, 10)) == verdict


def test_a_share_of_exactly_one_is_within_the_bound():
    assert at_most(1.0).judge(Estimate(1.0, math.nan, 5)) == "holds"


@pytest.fixture
def groups(tmp_path):
    for gamma in (0.75, 1):
        for algo, level in (("pf_ogd", 0.7), ("df_ogd", 0.7 - 0.1 * gamma)):
            write_run(
                tmp_path / f"{algo}{gamma}",
                algo,
                {0: level, 1: level + 0.1, 2: level},
                rounds=400,
                thin=1,
                config={"data.gamma": gamma},
                exponent=-0.25 if algo == "df_ogd" else -0.1,
            )
    return group_runs(read_runs([tmp_path], print))


def test_measures_of_runs_in_closed_form(groups):
    late = [pick(groups, algo, data__gamma=1) for algo in ("pf_ogd", "df_ogd")]
    early = [pick(groups, algo, data__gamma=0.75) for algo in ("pf_ogd", "df_ogd")]
    assert difference(*late, "avg_cost") == pytest.approx((0.1, 0.0, 3), abs=1e-9)
    assert difference_of_gaps(tuple(late), tuple(early)) == pytest.approx((0.025, 0.0, 3), abs=1e-9)
    assert slope(late[1], "avg_dynamic_regret") == pytest.approx((-0.25, 0.0, 3), abs=1e-6)
    share = largest_share_of_bound(late[1], "avg_dynamic_regret", "avg_bound")
    assert share.value == pytest.approx(0.5)


def test_picking_none_or_several_is_told(groups):
    for settings in ({"data__gamma": 0.3}, {}):
        with pytest.raises(UserError, match="one is needed"):
            pick(groups, "df_ogd", **settings)


def test_every_comparison_names_a_sweep_and_itself():
    listed = list(comparisons())
    assert len({claim.name for claim in listed}) == len(listed) > 30
    assert {claim.sweep for claim in listed} == set(SWEEPS)


def test_table_and_json_tell_the_same():
    rows = [
        Row("a", "A beats B", "Figure 1", Estimate(0.0123, 0.004, 30), above(0.0)),
        Row("b", "a lemma", "Lemma", Estimate(2.0, math.nan, 100), at_most(1.0)),
    ]
    shown, told = as_markdown(rows), json.loads(as_json(rows))
    assert "0.0123 ± 0.0040" in shown
    assert shown.count("\n") == 3
    assert [one["verdict"] for one in told] == ["holds", "does not hold"]
    assert told[1]["ci95"] is None
    assert told[0]["value"] == 0.0123


def test_what_could_not_be_measured_is_null_and_says_so():
    rows = [Row("a", "A beats B", "Figure 1", Estimate(math.nan, math.nan, 0), above(0.0))]
    (told,) = json.loads(as_json(rows), parse_constant=pytest.fail)
    assert told["value"] is told["ci95"] is None
    assert told["verdict"] == "no measurement"
    assert "nan" not in as_markdown(rows)


def test_the_command_runs_what_is_missing_and_prints_verdicts(tmp_path):
    done = odfl("claims", "--only", "main/slope", "--share", "0.07", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout, parse_constant=pytest.fail)
    assert {one["name"] for one in told} == {"main/slope/df_ogd", "main/slope/df_ftpl"}
    for one in told:
        rule = {"above": above, "below": at_most}[one["claimed"]["side"]](one["claimed"]["limit"])
        assert one["verdict"] == rule.judge(Estimate(one["value"], one["ci95"], one["count"]))
        assert one["count"] >= 2
