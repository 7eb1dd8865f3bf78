"""All learners with their defaults on the paper's problems, under drift and on foreign data: docs/data/rankings.csv.

Seeds 140001 to 140010 and 1,000 rounds of `main`, `high_dimension` and `drift` (a new parameter every 250
rounds); of the foreign problems what docs/data/foreign.csv lacks, with its seeds and rounds.
`python reproduce/rankings.py [PROBLEM …]` computes what is missing.
"""

import sys
import warnings

import pandas as pd
from cells import gap, table
from foreign import PLACE as FOREIGN
from foreign import PROBLEMS as FOREIGN_PROBLEMS
from foreign import REPORTED, ROUNDS

from odfl_cli import sweep
from odfl_cli.core.errors import UserError

PLACE = FOREIGN.with_name("rankings.csv")
SEEDS = list(range(140001, 140011))
OWN = {
    "main": ("data.items=5", "horizon.rounds=1000"),
    "high_dimension": ("data.items=80", "horizon.rounds=1000"),
    "drift": ("data.items=80", "data.drift=switching", "data.drift_period=250", "horizon.rounds=1000"),
}  # fmt: skip
LOSSES = ("pg_forward", "pg_central", "pfyl", "dbb", "nid", "imle", "lava", "ltr")
ALGORITHMS = {
    name: (f"algo={name}",)
    for name in (
        "df_ogd", "df_ftpl", "df_moments", "pf_ogd", "spo", "fenchel_young", "perturbed", "rls", "vaw",
        "rls_adaptive", "ons", "pool", "restart", "ftpl_d", "ftpl_a", "uniform",
    )
} | {loss: ("algo=rival", f"algo.loss={loss}") for loss in LOSSES}  # fmt: skip


def measure(problem: str, algo: str) -> list[dict]:
    """One record a seed: the mean cost where the data's law is known, else the regret; none if refused."""
    foreign = problem in FOREIGN_PROBLEMS
    words = (f"data={problem}", f"horizon.rounds={ROUNDS}") if foreign else OWN[problem]
    seeds = REPORTED if foreign else SEEDS
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rows = sweep(*words, *ALGORITHMS[algo], seeds=seeds, progress=False).rows
    except UserError as error:
        print(error, file=sys.stderr)
        return [{"problem": problem, "algo": algo}]
    last = rows[rows["t"] == rows["t"].max()]
    column = "avg_mean_cost" if "avg_mean_cost" in last else "avg_regret"
    pairs = zip(last["seed"], last[column], strict=True)
    return [{"problem": problem, "algo": algo, "seed": int(s), "value": v} for s, v in pairs]


def main(problems: list[str]) -> None:
    """Adds what is missing to the file."""
    columns = ["problem", "algo", "seed", "value"]
    done = pd.read_csv(PLACE) if PLACE.exists() else pd.DataFrame(columns=columns)
    before = set(pd.read_csv(FOREIGN).groupby(["problem", "algo"]).groups)
    before |= set(done.groupby(["problem", "algo"]).groups)
    for problem in problems:
        for algo in ALGORITHMS:
            if (problem, algo) not in before:
                done = pd.concat([done, pd.DataFrame(measure(problem, algo))])
                done.to_csv(PLACE, index=False, float_format="%.8g")
                print(problem, algo, flush=True)


def read() -> pd.DataFrame:
    """Values by seed (rows), problem and algorithm (columns)."""
    foreign = pd.read_csv(FOREIGN).query("form == 'default'").rename(columns={"regret": "value"})
    both = pd.concat([pd.read_csv(PLACE).dropna(), foreign])
    return both.pivot_table(index="seed", columns=["problem", "algo"], values="value")


def rankings() -> str:
    """Every learner on every problem, the cheapest first, and whether it differs from the first."""
    values, rows = (
        read(),
        [["problem", "place", "algorithm", "cost or regret", "above the first", "reading"]],
    )
    for problem in (*OWN, *FOREIGN_PROBLEMS):
        own = values[problem].dropna(how="all")
        order = own.mean().sort_values().index
        for place, algo in enumerate(order):
            above, reading = gap(own[algo], own[order[0]]) if place else ("0", "the first")
            said = "loses to the first" if reading == "positive" else reading
            rows.append(
                [problem, str(place + 1), f"`{algo}`", f"{own[algo].mean():.4g}", above, said]
            )
    return table(rows)


def places() -> str:
    """The place of every learner by problem; in brackets where it is not distinguishable from the first."""
    values, problems = read(), [*OWN, *FOREIGN_PROBLEMS]
    place = {problem: values[problem].mean().rank() for problem in problems}
    mean = pd.DataFrame(place).mean(axis=1).sort_values()
    rows = [["algorithm", *problems, "mean place"]]
    for algo in mean.index:
        cells = [_place(values[problem], algo, place[problem]) for problem in problems]
        rows.append([f"`{algo}`", *cells, f"{mean[algo]:.1f}"])
    return table(rows)


def _place(own: pd.DataFrame, algo: str, place: pd.Series) -> str:
    if algo not in place or pd.isna(place[algo]):
        return "–"
    first, shown = place.idxmin(), f"{place[algo]:.0f}"
    same = algo == first or gap(own[algo].dropna(), own[first].dropna())[1] != "positive"
    return f"({shown})" if same else shown


TABLES = {"places": places}
FILED = {"rankings": rankings}

if __name__ == "__main__":
    main(sys.argv[1:] or [*OWN, *FOREIGN_PROBLEMS])
