"""Runs every algorithm on the worlds of docs/df-moments.md.

`python reproduce/moments.py run [WORLD …]` computes what docs/data/df_moments.csv lacks, `ablation`,
`ranking` and `robust` the same for df_moments_ablation.csv, df_moments_ranking.csv and df_moments_robust.csv. reproduce/moments_tables.py makes
the tables, reproduce/render.py writes them.
"""

import sys
from collections.abc import Sequence

import pandas as pd
from collect import DATA, SWEEPS

from odfl_cli import sweep

SEEDS = {
    "fresh": range(70001, 70031),
    "chosen": range(1000, 1020),
    "robust": range(120001, 120021),
}
"""Seeds on which nothing was chosen; seeds on which constants were chosen; seeds that were fixed before
the robust form was run on them."""

REGRET = ["metrics=regret", "metrics.sample=1000", "metrics.bound=false"]
LONG = ["horizon=paper"]
UNCLIPPED = ["data.clip=false", "data.amplitude=1"]
HARD = [*LONG, "data.items=80"]
WORLDS = {
    "K = 5": [*LONG, *REGRET],
    "K = 80": [*HARD, *REGRET],
    "γ = 0, unclipped": [*LONG, "data.gamma=0", "data.clip=false", *REGRET],
    "γ = 0.5, A = 1, T = 1000": ["horizon=short", "data.gamma=0.5", *UNCLIPPED, *REGRET],
    "K = 80, switching": [*HARD, "data.drift=switching"],
    "random walk": [*LONG, "data.drift=random_walk"],
    "periodic": [*LONG, "data.drift=periodic"],
    "linear drift": [*LONG, "data.drift=linear"],
    "knapsack": ["experiment=knapsack"],
    "shortest paths": ["experiment=shortest_path"],
    "positive features": [*LONG, "data.features_law=positive"],
    "positive features, K = 80": [*HARD, "data.features_law=positive"],
    "t₃ features": [*LONG, "data.features_law=student"],
    "condition 900": [*LONG, "data.condition=900"],
    "condition 900, γ = 0": [*LONG, "data.condition=900", "data.gamma=0", "data.clip=false"],
    "reversing tail": [*LONG, "data.link=reversing", *UNCLIPPED],
    "reversing tail, K = 80": [*HARD, "data.link=reversing", *UNCLIPPED],
}
RECORDED = {"stocks": range(1, 11), "electricity": range(1, 2)}
"""Experiments on recorded rounds, and their seeds: the periods of the record."""
WORLDS |= {world: [f"experiment={world}"] for world in RECORDED}
WIDE = {
    "p = 30": [*LONG, "data.features=30", *REGRET],
    "p = 30, γ = 0, T = 1000": [
        "horizon=short",
        "data.features=30",
        "data.gamma=0",
        *UNCLIPPED,
        *REGRET,
    ],
}
"""More features, only for the robust rules."""
PAPER = ["df_ogd", "df_ftpl", "pf_ogd", "spo"]
LEAST_SQUARES = ["rls", "rls_forgetting", "rls_adaptive"]
OTHERS = [*LEAST_SQUARES, "restart"]
MIXTURES = ["guard", "vote"]
ALGORITHMS = ["df_moments", *PAPER, *OTHERS, *MIXTURES]
RIVALS = ["rls", "spo", "df_ogd"]
"""The rivals of the guard, as in conf/algo/guard.yaml."""
EXPERTS = ["df_ogd", "df_ftpl", "rls", "spo", "df_moments"]
"""The experts of the vote, as in conf/algo/vote.yaml; inside it their costs are the same as alone."""
CERTIFIED = ["K = 5", "K = 80", "K = 80, switching"]
ABLATION = {
    "full": [],
    "without the second moment": ["algo.curvature=false"],
    "one memory that forgets nothing": ["algo.memories=[]"],
    "without refinement": ["algo.refine=false"],
    "0 standard errors": ["algo.standard_errors=0"],
    "1 standard error": ["algo.standard_errors=1"],
    "3 standard errors": ["algo.standard_errors=3"],
}
ABLATED = ["K = 5", "K = 80", "K = 80, switching", "γ = 0.5, A = 1, T = 1000", "knapsack"]
COLUMNS = {"avg_cost": "cost", "dynamic_regret": "regret", "certificate": "certificate"}


RANKED = ("main", "high_dimension", "knapsack", "shortest_path", "drift", "stocks", "electricity")
"""Experiments of the ranking in docs/results.md, on whose seeds `RANKED_ALGORITHMS` are run too."""
RANKED_ALGORITHMS = ["df_moments", "rls"]


def collect(name: str, jobs: dict[tuple[str, ...], list[str]]) -> None:
    """Runs the jobs that docs/data/NAME.csv lacks; a row is a job's key, a seed and its last values."""
    path, keys = DATA / f"{name}.csv", ["world", "algo", "set"]
    done = pd.read_csv(path) if path.exists() else pd.DataFrame(columns=keys)
    finished = set(done[keys].itertuples(index=False, name=None))
    for key, overrides in jobs.items():
        if key in finished:
            continue
        print(*key, file=sys.stderr, flush=True)
        rows = finals(overrides, seeds_of(key[0], key[2])).assign(
            **dict(zip(keys, key, strict=True))
        )
        done = pd.concat([done, rows]).reindex(columns=[*keys, "seed", "t", *COLUMNS])
        done.to_csv(path, index=False, float_format="%.6g", lineterminator="\n")


def seeds_of(world: str, name: str) -> Sequence[int]:
    """The seeds of a set; for the ranking, those of the experiment."""
    if name == "ranking":
        return sorted(int(seed) for seed in pd.read_csv(DATA / f"{world}.csv")["seed"].unique())
    return RECORDED[world] if name == "recorded" else SEEDS[name]


def finals(overrides: list[str], seeds: Sequence[int]) -> pd.DataFrame:
    """The last row of every seed; regret per round."""
    final = sweep(*overrides, seeds=list(seeds)).final  # of one job: an experiment is a sweep
    table = final.reindex(seeds).reset_index().reindex(columns=["seed", "t", *COLUMNS])
    return table.assign(dynamic_regret=table["dynamic_regret"] / table["t"])


def comparison(worlds: list[str]) -> None:
    """All algorithms on seeds on which nothing was chosen, and on recorded rounds."""
    collect(
        "df_moments",
        {
            (world, algo, seeds): [f"algo={algo}", *WORLDS[world]]
            for seeds in ("recorded", "fresh")
            for algo in sorted(ALGORITHMS, key="restart".__eq__)  # the slow one last
            for world in worlds
            if (seeds == "recorded") == (world in RECORDED)
        },
    )


def ablation() -> None:
    """DF-Moments with one rule off, on the seeds on which its constants were chosen."""
    collect(
        "df_moments_ablation",
        {
            (world, variant, "chosen"): ["algo=df_moments", *WORLDS[world], *overrides]
            for world in ABLATED
            for variant, overrides in ABLATION.items()
        },
    )


def robust() -> None:
    """DF-Moments with and without its robust rules in every world with a law."""
    collect(
        "df_moments_robust",
        {
            (world, variant, "robust"): ["algo=df_moments", *overrides, *switch]
            for world, overrides in (WORLDS | WIDE).items()
            if world not in RECORDED
            for variant, switch in {"robust": [], "not robust": ["algo.robust=false"]}.items()
        },
    )


def ranking() -> None:
    """DF-Moments and least squares on the seeds of the experiments that the paper's algorithms run."""
    collect(
        "df_moments_ranking",
        {
            (name, algo, "ranking"): [*SWEEPS[name], f"algo={algo}"]
            for algo in RANKED_ALGORITHMS
            for name in RANKED
        },
    )


def main(arguments: list[str]) -> None:
    """`run`, `ablation`, `ranking` or `robust`."""
    match arguments:
        case ["run", *worlds]:
            comparison(worlds or list(WORLDS))
        case ["ablation"]:
            ablation()
        case ["ranking"]:
            ranking()
        case ["robust"]:
            robust()
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
