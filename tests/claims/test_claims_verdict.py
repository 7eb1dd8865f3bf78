"""From runs with known numbers to verdicts, without running anything."""

import json
import math
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.synthetic_runs import write_run

from odfl_cli.core.errors import UserError
from odfl_cli.results.grouping import Group, group_runs
from odfl_cli.results.tables import read_runs
from reproduce.claims.claim import (
    SAMPLE,
    Claim,
    Estimate,
    Rule,
    control_discoveries,
    discoveries,
    two_sided_p,
)
from reproduce.claims.comparisons import comparisons
from reproduce.claims.evidence import FIRST_SEED, SWEEPS, Sweep, pick
from reproduce.claims.measures import (
    change_of_lead,
    excess,
    exponent,
    exponent_beside_path,
    exponent_of_mean,
    lead,
    share_of_bound,
    share_of_rises,
    slope,
    slope_of_path,
)
from reproduce.claims.statements import statements
from reproduce.claims.table import as_json, as_markdown

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
    assert Rule("above", 0.0).judge(Estimate(value, ci95, 10)) == verdict
    for rule in (Rule("at most", 0.0), Rule("below", 0.0)):
        assert rule.judge(Estimate(-value, ci95, 10)) == verdict


def test_a_share_of_exactly_one_is_within_the_bound_and_what_is_constant_does_not_fall():
    assert Rule("at most", 1.0).judge(Estimate(1.0, math.nan, 5)) == "holds"
    assert Rule("below", 0.0).judge(Estimate(0.0, math.nan, 5)) == "does not hold"
    assert Rule("above", 0.0).judge(Estimate(0.0, 0.0, 5)) == "does not hold"


@pytest.mark.parametrize(
    ("value", "controls", "verdict"),
    [
        (0.5, [], "holds"),
        (0.5, [-0.5, 0.0], "holds"),
        (0.5, [-0.5, 0.3], "without power"),
        (0.05, [0.3], UNCLEAR),
        (-0.5, [0.3], "does not hold"),
    ],
)
def test_what_a_control_passes_too_is_without_power(value, controls, verdict):
    """Intervals of ± 0.1: a control that is not distinguishable has not passed."""
    named = {str(place): control for place, control in enumerate(controls)}
    assert claim_on("a", Rule("above", 0.0), value, 0.1, named).verdict == verdict


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
    late, early = {"data.gamma": 1}, {"data.gamma": 0.75}
    assert lead(groups, "df_ogd", "pf_ogd", "avg_cost", late) == pytest.approx((0.1, 0, 3))
    rise = partial(change_of_lead, over="pf_ogd", column="avg_cost", ends=(early, late))
    assert rise(groups, "df_ogd") == pytest.approx((0.025, 0.0, 3))
    assert rise(groups, "pf_ogd") == pytest.approx((0.0, 0.0, 3))
    ours = [pick(groups, "df_ogd", late), pick(groups, "pf_ogd", late)]
    assert excess(ours, "pf_ogd", "df_ogd", "avg_cost") == pytest.approx((0.1, 0, 3))
    assert slope(ours, "df_ogd", "avg_dynamic_regret") == pytest.approx((-0.25, 0.0, 3), abs=0.03)
    assert slope(ours, "pf_ogd", "avg_dynamic_regret").value == pytest.approx(-0.1, abs=0.03)
    share = share_of_bound(ours, "df_ogd", "avg_dynamic_regret", "df_ogd")
    assert share.value == pytest.approx(0.5)


def test_a_player_may_have_settings_of_its_own(groups):
    tuned = ("df_ogd", {"data.gamma": 0.75})
    assert lead(groups, ("df_ogd", {"data.gamma": 1}), tuned, "avg_cost").value == pytest.approx(
        0.025
    )


def group(rounds: int, columns: dict[str, np.ndarray], **settings: float) -> Group:
    """Two seeds of DF-OGD with the same columns [rounds]."""
    rows = pd.DataFrame({"t": np.arange(1, rounds + 1), **columns})
    both = pd.concat([rows.assign(seed=0), rows.assign(seed=1)])
    return Group(Path(), "df_ogd", {"horizon.rounds": rounds, **settings}, rounds, both)


def test_what_does_not_learn_has_no_slope_whatever_round_1_was():
    t = np.arange(1, 101)
    regret = {"regret": (0.3 * t + 0.5) / t}  # 0.8 in round 1, then 0.3
    estimate = slope([group(100, regret)], "df_ogd", "regret")
    assert estimate.value == pytest.approx(0.0, abs=1e-12)
    assert Rule("below", 0.0).judge(estimate) != "holds"


def test_the_path_of_a_random_walk_vanishes_and_a_steady_one_does_not():
    t = np.arange(1.0, 101.0)
    for path, exponent_of_t in ((t**0.5, -0.5), (0.057 * t, 0.0)):
        found = slope_of_path([group(100, {"path_length": path})], False, "df_ogd")
        assert found.value == pytest.approx(exponent_of_t)


def test_few_of_many_settled_claims_are_so_by_chance():
    """Benjamini and Hochberg by hand: 0.03 ≤ 0.05·3/4 takes the smaller two with it, 0.2 is left."""
    assert discoveries([0.03, 0.029, 0.2, 0.001]) == [True, True, False, True]
    assert discoveries([0.03, 0.04, 0.2]) == [False] * 3
    assert two_sided_p(1.0, 1.0, 8) == pytest.approx(0.05)
    ahead = claim_on("a", Rule("above", 0.0), 1.0, 0.98, {})
    assert ahead.verdict == "holds"
    among = control_discoveries([ahead, *[claim_on("b", Rule("above", 0.0), 0.1, 1.0, {})] * 9])
    assert [row.verdict for row in among] == [UNCLEAR] * 10


def test_what_the_paper_does_not_claim_is_measured():
    row = claim_on("a", Rule("measured", 0.0), 0.5, 0.1, {"control": 0.5})
    assert row.verdict == "measured"
    assert math.isnan(row.p_value)


def test_exponents_in_closed_form():
    """regret = T^(−1/2), P = T^(1/2) − 1: over ((1 + P)/T)^(1/4) it is T^(−1/2 + 1/8)."""
    groups = [
        group(T, {"regret": np.full(T, T**-0.5), "path_length": np.full(T, T**0.5 - 1)})
        for T in (10, 100, 1000)
    ]
    horizons = "horizon.rounds"
    assert exponent(groups, "df_ogd", "regret", horizons).value == pytest.approx(-0.5)
    per_log = exponent(groups, "df_ogd", "regret", horizons, lambda T: T**0.25)
    assert per_log.value == pytest.approx(-0.75)
    beside = exponent_beside_path(groups, "df_ogd", "regret", horizons, "df_ogd", 0.25)
    assert beside.value == pytest.approx(-0.375)
    twice = exponent_of_mean(groups, {"regret": 3.0, "path_length": 0.0}, "df_ogd", horizons)
    assert twice.value == pytest.approx(-0.5)


def test_rises_are_counted_and_a_path_walked_backwards_rises():
    """P_t = √t − 1 slows down: (1 + P_t)/t falls throughout. Backwards it gets faster."""
    t = np.arange(1, 401)
    rises = partial(share_of_rises, player="df_ogd")
    slowing = [group(400, {"path_length": np.sqrt(t) - 1})]
    assert rises(slowing, 1).value == 0.0
    assert rises(slowing, -1).value > 0.2
    jump = [group(4, {"path_length": np.array([0.0, 0.0, 4.0, 4.0])})]
    assert rises(jump, 1).value == pytest.approx(1 / 3)


def test_picking_none_or_several_is_told(groups):
    for settings in ({"data.gamma": 0.3}, {}):
        with pytest.raises(UserError, match="one is needed"):
            pick(groups, "df_ogd", settings)


def test_seeds_are_those_on_which_nothing_was_chosen():
    sweep = Sweep("one", 30, ["algo=df_ogd", "algo=uniform"])
    assert sweep.seeds(0.1) == [FIRST_SEED, FIRST_SEED + 1, FIRST_SEED + 2]
    assert len(sweep.commands(1.0)) == 2
    assert FIRST_SEED >= 10_000  # seeds from 1000 on choose constants


def test_every_claim_names_its_evidence_and_itself():
    listed = [*comparisons(), *statements()]
    assert len({claim.name for claim in listed}) == len(listed) > 90
    assert {claim.evidence for claim in listed} == {*SWEEPS, SAMPLE}


def test_claims_about_learning_are_measured_on_those_who_learn_nothing():
    for claim in comparisons():
        if isinstance(claim.subject, str) and not claim.name.endswith("avg_bound"):
            # who learns nothing predicts worse, and its gap rises, by construction
            learns = "/avg_mse/" in claim.name or "/rise/" in claim.name
            controls = {"RLS"} if learns else {"uniform", "frozen"}
            assert {*claim.controls} == controls, claim.name
        played = " ".join(SWEEPS[claim.evidence].parts)
        if "uniform" in claim.controls:
            assert "uniform,frozen" in played


def test_every_claim_has_a_control_that_is_run():
    for claim in [*comparisons(), *statements()]:
        assert claim.controls, claim.name
        if "df_ftpl" in claim.controls.values():
            assert "df_ftpl" in SWEEPS[claim.evidence].parts[0]


def claim_on(name: str, rule: Rule, value: float, ci95: float, controls: dict[str, float]):
    """A claim whose evidence is {subject: value}."""
    claim = Claim(
        name=name, text=f"claim {name}", where="Figure 1", evidence=SAMPLE, rule=rule,
        measure=lambda values, subject: Estimate(values[subject], ci95, 30),
        subject="subject", controls={name: name for name in controls},
    )  # fmt: skip
    return claim.judge({"subject": value, **controls})


def test_table_and_json_tell_the_same():
    rows = [
        claim_on("a", Rule("above", 0.0), 0.0123, 0.004, {"uniform": -0.01}),
        claim_on("b", Rule("at most", 1.0), 2.0, math.nan, {}),
        claim_on("c", Rule("above", 0.0), 0.0123, 0.004, {"uniform": 0.02}),
    ]
    shown, told = as_markdown(rows), json.loads(as_json(rows))
    assert "0.0123 ± 0.0040" in shown
    assert "uniform −0.0100 ± 0.0040" in shown
    assert shown.count("\n") == 4
    assert [one["verdict"] for one in told] == ["holds", "does not hold", "without power"]
    assert told[1]["ci95"] is None
    assert told[0]["value"] == 0.0123
    assert told[2]["controls"]["uniform"] == {"value": 0.02, "ci95": 0.004, "verdict": "holds"}


def test_what_could_not_be_measured_is_null_and_says_so():
    rows = [claim_on("a", Rule("above", 0.0), math.nan, math.nan, {})]
    (told,) = json.loads(as_json(rows), parse_constant=pytest.fail)
    assert told["value"] is told["ci95"] is None
    assert told["verdict"] == "no measurement"
    assert "nan" not in as_markdown(rows)


def claims(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "reproduce.claims", *arguments]
    path = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    return subprocess.run(command, cwd=cwd, env=path, capture_output=True, text=True)


@pytest.mark.thorough
def test_the_command_runs_what_is_missing_and_prints_verdicts(tmp_path):
    done = claims("--only", "grid/", "--share", "0.02", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout, parse_constant=pytest.fail)
    assert len(told) == 4
    p_values = [
        two_sided_p(one["value"] - one["claimed"]["limit"], one["ci95"], one["count"])
        for one in told
    ]
    for one, is_discovery in zip(told, discoveries(p_values), strict=True):
        rule = Rule(**one["claimed"])
        verdict, *others = (
            rule.judge(Estimate(x["value"], x["ci95"], one["count"]))
            for x in (one, *one["controls"].values())
        )
        if verdict in ("holds", "does not hold") and not is_discovery:
            verdict = UNCLEAR
        assert one["verdict"] == ("without power" if verdict == "holds" in others else verdict)
        assert {*one["controls"]} == {"uniform", "frozen"}
        assert one["count"] == len(SWEEPS["grid"].seeds(0.02)) == 4


@pytest.mark.thorough
def test_an_unknown_claim_is_answered_with_how_names_begin_and_where_they_are(tmp_path):
    done = claims("--only", "nonsense", cwd=tmp_path)
    assert done.returncode == 2
    assert "names begin with main, high_dimension" in done.stderr
    assert "convexity_gap" in done.stderr
    listed = claims("--list", "--only", "rates/", cwd=tmp_path)
    assert listed.returncode == 0, listed.stderr
    assert listed.stdout.splitlines() == ["rates/df_ogd", "rates/df_ftpl", "rates/path"]
    assert not [*tmp_path.iterdir()]
