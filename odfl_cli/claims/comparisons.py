"""Claims about runs: who costs less, who predicts worse, how regret falls, what κ does."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from odfl_cli.claims.evidence import Sweep, pick
from odfl_cli.claims.measures import difference, difference_of_gaps, largest_share_of_bound, slope
from odfl_cli.claims.verdict import Estimate, Rule, above, at_most
from odfl_cli.results.grouping import Group
from odfl_cli.results.names import ALGORITHMS

FOUR = "algo=df_ogd,df_ftpl,pf_ogd,spo"
SWEEPS = {
    sweep.name: sweep
    for sweep in (
        Sweep("main", ("experiment=main", FOUR), 30),
        Sweep("high_dimension", ("experiment=high_dimension", FOUR), 10),
        Sweep(
            "misspecification",
            ("experiment=misspecification", "algo=df_ogd,pf_ogd", "data.gamma=0,0.75,1"),
            300,
        ),
        Sweep("kappa", ("experiment=main", "algo=df_ogd", "kappa=0,0.01,0.1"), 10),
        Sweep(
            "kappa_polynomial",
            (
                "data=polynomial",
                "data.items=20",
                "theta_radius=10",
                "algo=df_ogd",
                "kappa=0,0.1",
            ),
            10,
        ),
    )
}

DECISION_FOCUSED, BASELINES = ("df_ogd", "df_ftpl"), ("pf_ogd", "spo")
EXPERIMENTS = {"main": ("K = 5", "Figure 1"), "high_dimension": ("K = 80", "Figure with 80 items")}
COSTS = {"avg_cost": "realised cost", "avg_dynamic_regret": "dynamic regret"}


class Comparison(NamedTuple):
    """A claim that is measured on the runs of one sweep."""

    name: str
    text: str
    where: str
    sweep: str
    measure: Callable[[list[Group]], Estimate]
    rule: Rule


def comparisons() -> Iterator[Comparison]:
    """All of them, in the order of the paper."""
    for sweep in EXPERIMENTS:
        yield from _beaten_baselines(sweep)
        yield from _worse_predictions(sweep)
    yield from _misspecification()
    for sweep in EXPERIMENTS:
        yield from _falling_regret(sweep)
    yield from _inexact_decisions()


def _beaten_baselines(sweep: str) -> Iterator[Comparison]:
    size, where = EXPERIMENTS[sweep]
    for column, words in COSTS.items():
        for ours in DECISION_FOCUSED:
            for theirs in BASELINES:
                yield Comparison(
                    f"{sweep}/{column}/{theirs}-{ours}",
                    f"{ALGORITHMS[ours]} beats {ALGORITHMS[theirs]}, {size}: {words}",
                    where,
                    sweep,
                    _gap(theirs, ours, column),
                    above(0.0),
                )


def _worse_predictions(sweep: str) -> Iterator[Comparison]:
    size, where = EXPERIMENTS[sweep]
    for ours in DECISION_FOCUSED:
        yield Comparison(
            f"{sweep}/avg_mse/{ours}-pf_ogd",
            f"{ALGORITHMS[ours]} predicts worse than PF-OGD, {size}: MSE",
            where,
            sweep,
            _gap(ours, "pf_ogd", "avg_mse"),
            above(0.0),
        )


def _misspecification() -> Iterator[Comparison]:
    where, sweep = "Figure on γ", "misspecification"
    yield Comparison(
        "misspecification/realisable",
        "PF-OGD beats DF-OGD where the model is right, γ = 0",
        where,
        sweep,
        _gap("df_ogd", "pf_ogd", "avg_cost", data__gamma=0),
        above(0.0),
    )
    yield Comparison(
        "misspecification/misspecified",
        "DF-OGD beats PF-OGD where the model is wrong, γ = 1",
        where,
        sweep,
        _gap("pf_ogd", "df_ogd", "avg_cost", data__gamma=1),
        above(0.0),
    )

    def rise(groups: list[Group]) -> Estimate:
        late, early = (
            tuple(pick(groups, algo, data__gamma=gamma) for algo in ("pf_ogd", "df_ogd"))
            for gamma in (1, 0.75)
        )
        return difference_of_gaps((late[0], late[1]), (early[0], early[1]))

    yield Comparison(
        "misspecification/rise",
        "the gap PF-OGD − DF-OGD rises from γ = 0.75 to 1",
        where,
        sweep,
        rise,
        above(0.0),
    )


def _falling_regret(sweep: str) -> Iterator[Comparison]:
    size, _ = EXPERIMENTS[sweep]
    for algo, column, words, where in (
        ("df_ogd", "avg_dynamic_regret", "average dynamic regret", "Theorem 2"),
        ("df_ftpl", "avg_static_regret", "average static regret", "Theorem 1"),
    ):
        name = ALGORITHMS[algo]
        yield Comparison(
            f"{sweep}/slope/{algo}",
            f"{name}'s {words} falls, {size}: slope",
            where,
            sweep,
            partial(_slope, algo, column),
            at_most(0.0),
        )
        yield Comparison(
            f"{sweep}/bound/{algo}",
            f"{name}'s {words} stays below the bound, {size}: largest share",
            where,
            sweep,
            partial(_share_of_bound, algo, column),
            at_most(1.0),
        )


def _inexact_decisions() -> Iterator[Comparison]:
    for sweep, words, kappas in (
        ("kappa", "sin⁴ data", (0.01, 0.1)),
        ("kappa_polynomial", "polynomial data", (0.1,)),
    ):
        for kappa in kappas:
            yield Comparison(
                f"{sweep}/{kappa:g}",
                f"decisions within κ = {kappa:g} of the best cost at most κ more, {words}",
                "Proposition on approximate optima",
                sweep,
                partial(_shift, kappa),
                at_most(kappa),
            )


def _gap(
    first: str, second: str, column: str, **settings: object
) -> Callable[[list[Group]], Estimate]:
    return lambda groups: difference(
        pick(groups, first, **settings), pick(groups, second, **settings), column
    )


def _slope(algo: str, column: str, groups: list[Group]) -> Estimate:
    return slope(pick(groups, algo), column)


def _share_of_bound(algo: str, column: str, groups: list[Group]) -> Estimate:
    return largest_share_of_bound(pick(groups, algo), column, "avg_bound")


def _shift(kappa: float, groups: list[Group]) -> Estimate:
    exact, inexact = (pick(groups, "df_ogd", kappa=value) for value in (0, kappa))
    return difference(inexact, exact, "avg_cost")
