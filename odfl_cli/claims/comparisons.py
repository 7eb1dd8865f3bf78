"""Claims about runs: who costs less, who predicts worse, how regret falls, what κ does."""

import math
from collections.abc import Iterator
from functools import partial
from itertools import product

from odfl_cli.claims.claim import Claim
from odfl_cli.claims.measures import (
    change_of_lead,
    excess,
    exponent,
    exponent_beside_path,
    exponent_of_mean,
    lead,
    share_of_bound,
    share_of_rises,
    shift,
    slope,
)
from odfl_cli.claims.sweeps import READINGS
from odfl_cli.claims.verdict import Rule
from odfl_cli.results.names import display_name

OURS, BASELINES = ("df_ogd", "df_ftpl"), ("pf_ogd", "spo")
NO_LEARNER = {"uniform": "uniform", "frozen": "frozen"}
"""Players in the place of the learner that learn nothing."""

EXPERIMENTS = {
    "main": ("K = 5", "Figure 1"),
    "high_dimension": ("K = 80", "Figure with 80 items"),
    "static": ("K = 5, static", "Introduction"),
    "static_high_dimension": ("K = 80, static", "Introduction"),
}
DYNAMIC = ("main", "high_dimension")
COSTS = {"avg_cost": "realised cost", "avg_dynamic_regret": "dynamic regret"}
REGRETS = {
    "df_ogd": ("avg_dynamic_regret", "average dynamic regret", "Theorem 2"),
    "df_ftpl": ("avg_static_regret", "average static regret", "Theorem 1"),
}
RANGES = {"0 to 0.75": (0.0, 0.75), "0.75 to 1": (0.75, 1.0), "0 to 1": (0.0, 1.0)}

learning = partial(Claim, controls=NO_LEARNER)


def comparisons() -> Iterator[Claim]:
    """All of them, in the order of the paper."""
    for sweep in EXPERIMENTS:
        for column, words in COSTS.items():
            yield from _against_baselines(sweep, column, words, wins=True)
    for sweep in DYNAMIC:
        yield from _against_baselines(sweep, "avg_mse", "MSE", wins=False)
    for sweep in READINGS:
        yield from _misspecification(sweep)
    for sweep in DYNAMIC:
        yield from _falling_regret(sweep)
    yield from _rates()
    yield from _sizes()
    yield from _assumptions()
    yield from _inexact_decisions()
    yield from _grid_search()


def _against_baselines(sweep: str, column: str, words: str, wins: bool) -> Iterator[Claim]:
    """DF-OGD and DF-FTPL have less of a column than each baseline, or more of it."""
    size, where = EXPERIMENTS[sweep]
    verb, measure = ("beats", lead) if wins else ("predicts worse than", excess)
    for ours in OURS:
        for theirs in BASELINES:
            pair = f"{theirs}-{ours}" if wins else f"{ours}-{theirs}"
            yield learning(
                name=f"{sweep}/{column}/{pair}",
                text=f"{display_name(ours)} {verb} {display_name(theirs)}, {size}: {words}",
                where=where,
                evidence=sweep,
                measure=partial(measure, over=theirs, column=column),
                rule=Rule("above", 0.0),
                subject=ours,
            )


def _misspecification(sweep: str) -> Iterator[Claim]:
    reading, _ = READINGS[sweep]
    on_gamma = partial(learning, where="Figure on γ", evidence=sweep, rule=Rule("above", 0.0))
    yield on_gamma(
        name=f"{sweep}/realisable",
        text=f"PF-OGD beats DF-OGD where the model is right, γ = 0 ({reading})",
        measure=partial(lead, over="df_ogd", column="avg_cost", settings={"data.gamma": 0.0}),
        subject="pf_ogd",
    )
    for theirs in BASELINES:
        yield on_gamma(
            name=f"{sweep}/misspecified/{theirs}",
            text=f"DF-OGD beats {display_name(theirs)} where the model is wrong, γ = 1 ({reading})",
            measure=partial(lead, over=theirs, column="avg_cost", settings={"data.gamma": 1.0}),
            subject="df_ogd",
        )
    for words, (sooner, later) in RANGES.items():
        ends = {"data.gamma": sooner}, {"data.gamma": later}
        yield on_gamma(
            name=f"{sweep}/rise/{words.replace(' to ', '-')}",
            text=f"the gap PF-OGD − DF-OGD rises from γ = {words} ({reading})",
            measure=partial(change_of_lead, over="pf_ogd", column="avg_cost", ends=ends),
            subject="df_ogd",
        )


def _falling_regret(sweep: str) -> Iterator[Claim]:
    size, _ = EXPERIMENTS[sweep]
    for algo, (column, words, where) in REGRETS.items():
        of = partial(learning, where=where, evidence=sweep, subject=algo)
        yield of(
            name=f"{sweep}/slope/{algo}",
            text=f"{display_name(algo)}'s {words} falls, {size}: slope",
            measure=partial(slope, column=column),
            rule=Rule("below", 0.0),
        )
        yield of(
            name=f"{sweep}/bound/{algo}",
            text=f"{display_name(algo)}'s {words} stays below the bound, {size}: largest share",
            measure=partial(share_of_bound, column=column, owner=algo),
            rule=Rule("at most", 1.0),
        )


def _rates() -> Iterator[Claim]:
    horizons = "horizon.rounds"
    for algo, (column, words, where) in REGRETS.items():
        yield learning(
            name=f"rates/{algo}",
            text=f"{display_name(algo)}'s {words} falls as T^(−1/4) or faster, K = 80: exponent",
            where=where,
            evidence="rates",
            measure=partial(exponent, column=column, key=horizons),
            rule=Rule("at most", -0.25),
            subject=algo,
        )
    yield learning(
        name="rates/path",
        text="DF-OGD's average dynamic regret over ((1 + P_T)/T)^(1/4) does not grow, K = 80: exponent in T",
        where="Theorem 2",
        evidence="rates",
        measure=partial(
            exponent_beside_path,
            column="avg_dynamic_regret",
            key=horizons,
            owner="df_ogd",
            power=0.25,
        ),
        rule=Rule("at most", 0.0),
        subject="df_ogd",
    )


def _sizes() -> Iterator[Claim]:
    """What the bound says of sizes, and what the regret does."""
    for column, words in (("avg_dynamic_regret", "dynamic regret"), ("avg_bound", "bound")):
        controls = NO_LEARNER if column == "avg_dynamic_regret" else {"DF-FTPL": "df_ftpl"}
        yield Claim(
            name=f"parameters/{column}",
            text=f"DF-OGD's average {words} does not depend on m, K = 20: exponent in m",
            where="Theorem 2",
            evidence="parameters",
            measure=partial(exponent, column=column, key="data.features"),
            rule=Rule("at most", 0.0),
            subject="df_ogd",
            controls=controls,
        )
        yield Claim(
            name=f"items/{column}",
            text=f"DF-OGD's average {words} grows as ln ln d or slower: exponent in d of the ratio",
            where="Theorem 2",
            evidence="items",
            measure=partial(
                exponent, column=column, key="data.items", unit=lambda d: math.log(math.log(d))
            ),
            rule=Rule("at most", 0.0),
            subject="df_ogd",
            controls=controls,
        )


def _assumptions() -> Iterator[Claim]:
    yield Claim(
        name="oracle/xi",
        text="the oracle's ξ falls as T^(−1/4) or faster, DF-OGD, K = 5: exponent of its mean",
        where="after Theorems 1 and 2",
        evidence="oracle",
        measure=partial(exponent_of_mean, player="df_ogd", key="horizon.rounds"),
        rule=Rule("at most", -0.25),
        subject={"xi": 1.0},
        controls={"not calling it": {"xi": 1.0, "oracle_before": 1.0, "oracle_after": -1.0}},
    )
    for sweep in DYNAMIC:
        yield Claim(
            name=f"{sweep}/path",
            text=f"(1 + P_t)/t is non-increasing, {EXPERIMENTS[sweep][0]}: share of the steps in which it rises",
            where="Theorem 2",
            evidence=sweep,
            measure=partial(share_of_rises, player="df_ogd"),
            rule=Rule("at most", 0.0),
            subject=1,
            controls={"backwards": -1},
        )


def _inexact_decisions() -> Iterator[Claim]:
    data = (
        ("kappa", "sin⁴ data", 0.01),
        ("kappa", "sin⁴ data", 0.1),
        ("kappa_polynomial", "polynomial data", 0.1),
    )
    for (sweep, words, kappa), algo, (column, name) in product(data, OURS, COSTS.items()):
        yield Claim(
            name=f"{sweep}/{kappa:g}/{column}/{algo}",
            text=f"decisions within κ = {kappa:g} of the best shift {display_name(algo)}'s "
            f"{name} by at most κ, {words}",
            where="Proposition on approximate optima",
            evidence=sweep,
            measure=partial(shift, player=algo, column=column, kappa=kappa),
            rule=Rule("at most", kappa),
            subject=1,
            controls={"within 10 κ": 10},
        )


def _grid_search() -> Iterator[Claim]:
    for eta in (0.001, 0.01, 0.1, 1.0):
        yield learning(
            name=f"grid/{eta:g}",
            text=f"PF-OGD with η = 10 costs less than with η = {eta:g}, K = 5",
            where="Appendix on the experiments",
            evidence="grid",
            measure=partial(lead, over=("pf_ogd", {"algo.eta": eta}), column="avg_cost"),
            rule=Rule("above", 0.0),
            subject=("pf_ogd", {"algo.eta": 10.0}),
        )
