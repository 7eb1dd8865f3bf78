"""Claims about runs: costs, prediction errors, rates of regret, the effect of κ."""

import math
from collections.abc import Iterator
from functools import partial
from itertools import product

from odfl_cli.results.words import display_name
from reproduce.claims.claim import Claim, Rule
from reproduce.claims.evidence import READINGS
from reproduce.claims.measures import (
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
    slope_of_path,
)

OURS, BASELINES = ("df_ogd", "df_ftpl"), ("pf_ogd", "spo")
NO_LEARNER = {"uniform": "uniform", "frozen": "frozen"}
"""Players that learn nothing, in place of the learner."""
PREDICTS = {"RLS": "rls"}
"""A learner that fits predictions as the baselines do, to isolate the effect of decision focus."""

EXPERIMENTS = {
    "main": ("K = 5", "Figure 1"),
    "high_dimension": ("K = 80", "Figure with 80 items"),
    "static": ("K = 5, static", "Introduction"),
    "static_high_dimension": ("K = 80, static", "Introduction"),
}
DYNAMIC = ("main", "high_dimension")
COSTS = {"avg_mean_cost": "mean cost", "avg_dynamic_regret": "dynamic regret"}
REGRETS = {
    "df_ogd": ("avg_dynamic_regret", "average dynamic regret", "Theorem 2"),
    "df_ftpl": ("avg_static_regret", "average static regret", "Theorem 1"),
}
RANGES = {"0 to 0.75": (0.0, 0.75), "0.75 to 1": (0.75, 1.0), "0 to 1": (0.0, 1.0)}

POSITIVE, NEGATIVE, NOT_GROWING = Rule("above", 0.0), Rule("below", 0.0), Rule("at most", 0.0)
FOURTH_ROOT, MEASURED = Rule("at most", -0.25), Rule("measured", 0.0)

learning = partial(Claim, controls=NO_LEARNER)


def comparisons() -> Iterator[Claim]:
    """Yields all of them, in the order of the paper."""
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
    verb, compare = ("beats", lead) if wins else ("predicts worse than", excess)
    controls = NO_LEARNER if wins else PREDICTS
    for ours, theirs in product(OURS, BASELINES):
        name = f"{sweep}/{column}/" + (f"{theirs}-{ours}" if wins else f"{ours}-{theirs}")
        text = f"{display_name(ours)} {verb} {display_name(theirs)}, {size}: {words}"
        measure = partial(compare, over=theirs, column=column)
        yield Claim(name, text, where, sweep, measure, POSITIVE, ours, controls)


def _misspecification(sweep: str) -> Iterator[Claim]:
    where, reading = "Figure on γ", READINGS[sweep]
    right, wrong = (
        partial(lead, column="avg_mean_cost", settings={"data.gamma": g}) for g in (0.0, 1.0)
    )
    text = f"PF-OGD beats DF-OGD where the model is right, γ = 0 ({reading})"
    measure = partial(right, over="df_ogd")
    yield learning(f"{sweep}/realisable", text, where, sweep, measure, POSITIVE, "pf_ogd")
    for theirs in BASELINES:
        name = f"{sweep}/misspecified/{theirs}"
        text = f"DF-OGD beats {display_name(theirs)} where the model is wrong, γ = 1 ({reading})"
        yield learning(name, text, where, sweep, partial(wrong, over=theirs), POSITIVE, "df_ogd")
    for words, (sooner, later) in RANGES.items():
        name = f"{sweep}/rise/{words.replace(' to ', '-')}"
        text = f"the gap PF-OGD − DF-OGD rises from γ = {words} ({reading})"
        ends = {"data.gamma": sooner}, {"data.gamma": later}
        rise = partial(change_of_lead, over="pf_ogd", column="avg_mean_cost", ends=ends)
        yield Claim(name, text, where, sweep, rise, POSITIVE, "df_ogd", PREDICTS)


def _falling_regret(sweep: str) -> Iterator[Claim]:
    size, _ = EXPERIMENTS[sweep]
    for algo, (column, words, where) in REGRETS.items():
        regret = f"{display_name(algo)}'s {words}"
        name, text = f"{sweep}/slope/{algo}", f"{regret} falls, {size}: slope without round 1"
        yield learning(name, text, where, sweep, partial(slope, column=column), NEGATIVE, algo)
        name, text = (
            f"{sweep}/bound/{algo}",
            f"{regret} stays below the bound, {size}: largest share",
        )
        share = partial(share_of_bound, column=column, owner=algo)
        yield learning(name, text, where, sweep, share, Rule("at most", 1.0), algo)


def _rates() -> Iterator[Claim]:
    horizons = "horizon.rounds"
    for algo, (column, words, where) in REGRETS.items():
        text = f"{display_name(algo)}'s {words} falls as T^(−1/4) or faster, K = 80: exponent"
        measure = partial(exponent, column=column, key=horizons)
        yield learning(f"rates/{algo}", text, where, "rates", measure, FOURTH_ROOT, algo)
    column, owner = "avg_dynamic_regret", "df_ogd"
    text = f"DF-OGD's {REGRETS[owner][1]} over ((1 + P_T)/T)^(1/4) does not grow, K = 80: exponent in T"
    measure = partial(exponent_beside_path, column=column, key=horizons, owner=owner, power=0.25)
    yield learning("rates/path", text, "Theorem 2", "rates", measure, NOT_GROWING, owner)


def _sizes() -> Iterator[Claim]:
    """The paper's bound and the regret as functions of the numbers of parameters and items."""
    loglog = partial(exponent, unit=lambda d: math.log(math.log(d)))
    keys = {
        "parameters": ("K = 20: exponent in m", partial(exponent, key="data.features")),
        "items": ("exponent in d of its ratio to ln ln d", partial(loglog, key="data.items")),
    }
    says = {"parameters": "does not depend on m", "items": "grows as ln ln d or slower"}
    for sweep, (words, measure) in keys.items():
        column, text = "avg_bound", f"DF-OGD's average bound {says[sweep]}, {words}"
        of_bound, other = partial(measure, column=column), {"DF-FTPL": "df_ftpl"}
        name, where = f"{sweep}/{column}", "Theorem 2"
        yield Claim(name, text, where, sweep, of_bound, NOT_GROWING, "df_ogd", other)
        column, text = "avg_dynamic_regret", f"DF-OGD's average dynamic regret, {words}"
        of_regret = partial(measure, column=column)
        name = f"{sweep}/{column}"
        yield learning(name, text, where, sweep, of_regret, MEASURED, "df_ogd")


def _assumptions() -> Iterator[Claim]:
    text = "the oracle's ξ, which the theorems assume to fall as T^(−1/4), DF-OGD, K = 5: exponent of its mean"
    measure = partial(exponent_of_mean, player="df_ogd", key="horizon.rounds")
    controls = {"not calling it": {"xi": 1.0, "oracle_before": 1.0, "oracle_after": -1.0}}
    where = "after Theorems 1 and 2"
    yield Claim("oracle/xi", text, where, "oracle", measure, MEASURED, {"xi": 1.0}, controls)
    for sweep in DYNAMIC:
        size, _ = EXPERIMENTS[sweep]
        text = f"(1 + P_t)/t is non-increasing, {size}: share of the steps in which it rises"
        rises, backwards = partial(share_of_rises, player="df_ogd"), {"backwards": -1}
        yield Claim(f"{sweep}/path", text, "Theorem 2", sweep, rises, NOT_GROWING, 1, backwards)
        text = f"P_t = o(t), without which Theorem 2's rate does not vanish, {size}: slope of P_t/t from T/10 on"
        vanishes, steady = partial(slope_of_path, player="df_ogd"), {"equal steps": True}
        falls, name = Rule("below", -0.05), f"{sweep}/path_rate"
        yield Claim(name, text, "Theorem 2", sweep, vanishes, falls, False, steady)


def _inexact_decisions() -> Iterator[Claim]:
    data = (
        ("kappa", "sin⁴ data", 0.01),
        ("kappa", "sin⁴ data", 0.1),
        ("kappa_polynomial", "polynomial data", 0.1),
    )
    where, controls = "Proposition on approximate optima", {"within 10 κ": 10}
    column = "avg_mean_cost"
    for (sweep, words, kappa), algo in product(data, OURS):
        name = f"{sweep}/{kappa:g}/{column}/{algo}"
        decisions = f"the worst decisions within κ = {kappa:g} of the best, as predicted,"
        text = f"{decisions} shift {display_name(algo)}'s mean cost by at most κ, {words}"
        measure = partial(shift, player=algo, column=column, kappa=kappa)
        yield Claim(name, text, where, sweep, measure, Rule("at most", kappa), 1, controls)


def _grid_search() -> Iterator[Claim]:
    where, best = "Appendix on the experiments", ("pf_ogd", {"algo.eta": 10.0})
    for eta in (0.001, 0.01, 0.1, 1.0):
        text = f"PF-OGD with η = 10 costs less than with η = {eta:g}, K = 5"
        measure = partial(lead, over=("pf_ogd", {"algo.eta": eta}), column="avg_mean_cost")
        yield learning(f"grid/{eta:g}", text, where, "grid", measure, POSITIVE, best)
