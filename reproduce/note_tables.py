"""The tables that are made from docs/data/note_*.csv and df_moments_robust.csv; see reproduce/note.py."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

import numpy as np
import pandas as pd
from cells import estimate, gap, plus_minus, table
from collect import DATA
from moments_tables import by_seed
from note import BASELINES, LADDER, SMALL, SPOILT
from single_index import SingleIndex

from odfl_cli.core.statistics import mean_ci95


def robust_table(learners: Sequence[str] = (), worlds: Iterable[str] = SPOILT) -> str:
    """The expected cost of these learners, or of all, in these worlds."""
    data = pd.read_csv(DATA / "note_robust.csv")
    learners = learners or list(data["algo"].unique())
    rows = [["costs", *learners]]
    for world in worlds:
        values = data[data["world"] == world].pivot(index="seed", columns="algo", values="cost")
        rows.append([world, *(estimate(values[learner]) for learner in learners)])
    return table(rows)


def price_table() -> str:
    """The effect of the robust rules in every world, paired by seed."""
    data = pd.read_csv(DATA / "df_moments_robust.csv")
    rows = [["world", "measured", "robust", "robust − not robust"]]
    for world in data["world"].unique():
        column, values = by_seed(data[data["world"] == world])
        name = "regret" if column == "dynamic_regret" else "cost"
        both = values["robust"], values["not robust"]
        rows.append([world, name, estimate(both[0]), gap(*both)[0]])
    return table(rows)


def ladder_table(parameters: Sequence[int], learners: Sequence[str] = ()) -> str:
    """The share of the clairvoyant's gain by link, of these learners or of all."""
    data = pd.read_csv(DATA / "note_ladder.csv")
    rungs = [(m, link) for m in parameters for link in LADDER]
    named = [link if len(parameters) == 1 else f"{link}, m = {m}" for m, link in rungs]
    rows = [["", *named]]
    for algo in learners or data["algo"].unique():
        part = data[data["algo"] == algo].set_index(["m", "link"])["share"]
        rows.append([algo, *(estimate(part.loc[rung]) for rung in rungs)])
    return table(rows)


def classes_table() -> str:
    """The expected cost after few rounds, by the number of parameters."""
    data = pd.read_csv(DATA / "note_classes.csv")
    rules = ["df_moments", "quadratic"]
    rows = [["m", *rules]]
    for m, part in data.groupby("m"):
        costs = [part[part["rule"] == rule]["cost"] for rule in rules]
        rows.append([str(m), *(estimate(cost) for cost in costs)])
    return table(rows)


def slopes_table(shown: Sequence[str] = ()) -> str:
    """Exponents of the average regret of all rounds and of the second half, with jackknife intervals; these rows or all."""
    data = pd.read_csv(DATA / "note_rates.csv")
    data = data[data["m"] <= SMALL**2 * data["K"] * data["T"]]
    rows = [["", "√(m/(KT))", "m", "K", "T"]]
    for name, part in data.groupby("variant", sort=False):
        whole = part.pivot(index="seed", columns=["K", "m", "T"], values="regret")
        pairs = [(K, m, T) for K, m, T in whole if (K, m, T // 2) in whole]
        late = pd.DataFrame(
            {
                (K, m, T): (2 * whole[K, m, T] - whole[K, m, T // 2]) / cost_of_turning(K)
                for K, m, T in pairs
            }
        )
        for when, values in {"all rounds": whole, "second half, as 1 − ρ": late}.items():
            K, m, T = np.log(np.array(list(values.columns), dtype=float)).T
            pooled, apart = np.stack([(m - K - T) / 2], axis=1), np.stack([m, K, T], axis=1)
            found = [pair for x in (pooled, apart) for pair in fit_exponents(x, values.to_numpy())]
            rows.append([f"{name}, {when}", *(plus_minus(*pair) for pair in found)])
    return table([rows[0], *(row for row in rows[1:] if not shown or row[0] in shown)])


def cost_of_turning(items: int) -> float:
    """−Φ′(1), the cost of 1 − ρ among that many items to first order."""
    at, step = SingleIndex(items, link="bump").expected_cost, 1e-3
    return float((at(np.array([1.0 - step])) - at(np.ones(1)))[0] / step)


def fit_exponents(regressors: np.ndarray, values: np.ndarray) -> list[tuple[float, float]]:
    """Least squares of ln(mean over seeds) on the regressors [n, r]: exponents and half their 95% intervals."""
    design = np.column_stack([np.ones(len(regressors)), regressors])
    fit = lambda rows: np.linalg.lstsq(design, np.log(rows.mean(0)), rcond=None)[0][1:]  # noqa: E731
    whole, seeds = fit(values), len(values)
    without = np.array([fit(np.delete(values, seed, axis=0)) for seed in range(seeds)])
    _, ci95 = mean_ci95(seeds * whole - (seeds - 1) * without)
    return [(float(a), float(b)) for a, b in zip(whole, ci95, strict=True)]


PREDICTED = [
    "the box, all rounds",
    "the box, second half, as 1 − ρ",
    "without refinement, second half, as 1 − ρ",
]
SHOWN = [world for world in SPOILT if world != "one round × 10⁶"]
TABLES: dict[str, Callable[[], str]] = {
    "note-robust": partial(robust_table, ("df_moments", "not robust", "spo", "rls"), SHOWN),
    "note-ladder": partial(ladder_table, (40,), ("df_moments", *BASELINES)),
    "note-classes": classes_table,
    "note-slopes": partial(slopes_table, PREDICTED),
}
FILED: dict[str, Callable[[], str]] = {
    "note-price": price_table,
    "note-ladder": partial(ladder_table, (10, 40)),
    "note-robust": robust_table,
    "note-slopes": slopes_table,
}
