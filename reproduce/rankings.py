"""All learners with their defaults on the paper's problems, under drift and on foreign data: docs/data/rankings.csv.

Seeds 140001 to 140010 and 1,000 rounds of `main`, `high_dimension` and `drift` (a new parameter every 250
rounds); of the foreign problems what docs/data/foreign.csv lacks, with its seeds and rounds.
`python reproduce/rankings.py [PROBLEM or ALGORITHM …]` computes what is missing of those named, or of all.
"""

import sys
import warnings

import pandas as pd
from cells import gap, table
from foreign import LOSSES, REPORTED, ROUNDS, words_of
from foreign import PLACE as FOREIGN
from foreign import PROBLEMS as FOREIGN_PROBLEMS

from odfl_cli import sweep
from odfl_cli.core.errors import UserError

PLACE = FOREIGN.with_name("rankings.csv")
SEEDS = list(range(140001, 140011))
PAPER = {
    "main": ("data.items=5", "horizon.rounds=1000"),
    "high_dimension": ("data.items=80", "horizon.rounds=1000"),
    "drift": ("data.items=80", "data.drift=switching", "data.drift_period=250", "horizon.rounds=1000"),
}  # fmt: skip
ALGORITHMS = (
    "df_ogd", "df_ftpl", "df_moments", "pf_ogd", "spo", "fenchel_young", "perturbed", "rls", "vaw",
    "rls_adaptive", "ons", "pool", "restart", "ftpl_d", "ftpl_a", "uniform", *LOSSES,
)  # fmt: skip


def measure(problem: str, algo: str) -> list[dict]:
    """One record per seed: the mean cost if the law of the data is known, else the regret; none if refused."""
    foreign = problem in FOREIGN_PROBLEMS
    words = (f"data={problem}", f"horizon.rounds={ROUNDS}") if foreign else PAPER[problem]
    seeds = REPORTED if foreign else SEEDS
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rows = sweep(*words, *words_of(algo), seeds=seeds, progress=False).rows
    except UserError as error:
        print(error, file=sys.stderr)
        return [{"problem": problem, "algo": algo}]
    last = rows[rows["t"] == rows["t"].max()]
    column = "avg_mean_cost" if "avg_mean_cost" in last else "avg_regret"
    pairs = zip(last["seed"], last[column], strict=True)
    return [{"problem": problem, "algo": algo, "seed": int(s), "value": v} for s, v in pairs]


def main(names: list[str]) -> None:
    """Adds what is missing to the file."""
    columns = ["problem", "algo", "seed", "value"]
    done = pd.read_csv(PLACE) if PLACE.exists() else pd.DataFrame(columns=columns)
    before = set(pd.read_csv(FOREIGN).groupby(["problem", "algo"]).groups)
    before |= set(done.groupby(["problem", "algo"]).groups)
    for problem in [p for p in (*PAPER, *FOREIGN_PROBLEMS) if p in names] or [
        *PAPER,
        *FOREIGN_PROBLEMS,
    ]:
        for algo in [a for a in ALGORITHMS if a in names] or ALGORITHMS:
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
    """Every learner on every problem, the cheapest first, compared with the first and the one before."""
    head = [
        "problem",
        "place",
        "algorithm",
        "cost or regret",
        "above the first",
        "above the one before",
    ]
    values, rows = read(), [[*head, "reading"]]
    for problem in (*PAPER, *FOREIGN_PROBLEMS):
        found = values[problem].dropna(how="all")
        order = list(found.mean().sort_values().index)
        for place, algo in enumerate(order):
            first, before = (gap(found[algo], found[order[k]]) for k in (0, max(place - 1, 0)))
            reading = (
                "loses to the first"
                if first[1] == "positive"
                else "not distinguishable from the first"
            )
            cells = [f"{found[algo].mean():.4g}", first[0], before[0], reading]
            rows.append(
                [
                    problem,
                    str(place + 1),
                    f"`{algo}`",
                    *(cells if place else [cells[0], "0", "–", "first"]),
                ]
            )
    return table(rows)


def places() -> str:
    """Place and mean cost by problem; in brackets if not distinguishable from the place before."""
    values, rows = read(), [["algorithm", *PAPER]]
    place = pd.DataFrame({problem: values[problem].mean().rank() for problem in PAPER})
    for algo in place.mean(axis=1).sort_values().index:
        rows.append([f"`{algo}`", *(_place(values[problem], algo) for problem in PAPER)])
    return table(rows)


def _place(found: pd.DataFrame, algo: str) -> str:
    mean = found.mean().dropna().sort_values()
    if algo not in mean:
        return "–"
    place = mean.index.get_loc(algo)
    same = (
        place and gap(found[algo].dropna(), found[mean.index[place - 1]].dropna())[1] != "positive"
    )
    return f"{f'({place + 1})' if same else place + 1}: {mean[algo]:.4f}"


if __name__ == "__main__":
    main(sys.argv[1:])
