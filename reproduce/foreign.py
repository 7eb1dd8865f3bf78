"""Defaults against the best of a grid on problems by other authors: docs/data/foreign.csv.

A setting is chosen on seeds 5 to 7 and reported on seeds 0 to 4, as the defaults are. 500 rounds.
`python reproduce/foreign.py [PROBLEM or ALGORITHM …]` computes what is missing of those named, or of all.
OPENBLAS_NUM_THREADS=1 in front of it is faster by far where other jobs run: matrices are small.
"""

import sys
import warnings
from pathlib import Path

import pandas as pd

from odfl_cli import sweep
from odfl_cli.core.errors import UserError

PLACE = Path(__file__).parents[1] / "docs" / "data" / "foreign.csv"
PROBLEMS = (
    "diabetes", "modechoice", "weather", "segments",
    "pyepo_portfolio", "pyepo_knapsack", "pyepo_path",
)  # fmt: skip
STEPS = {
    "pf_ogd": ("algo.eta", (1e-5, 1e-4, 1e-3, 1e-2, 1e-1)),
    "spo": ("algo.eta", (1e-4, 1e-3, 1e-2, 1e-1, 1.0)),
    "fenchel_young": ("algo.eta", (1e-4, 1e-3, 1e-2, 1e-1, 1.0)),
    "perturbed": ("algo.eta", (1e-4, 1e-3, 1e-2, 1e-1, 1.0)),
    "df_ogd": ("algo.c_eta", (1e-3, 1e-2, 1e-1, 1.0, 10.0)),
    "df_ftpl": ("algo.c_alpha", (1e-3, 1e-2, 1e-1, 1.0, 10.0)),
    "ftpl_d": ("algo.c_alpha", (1e-3, 1e-2, 1e-1, 1.0, 10.0)),
    "ogd": ("algo.c_eta", (1e-3, 1e-2, 1e-1, 1.0, 10.0)),
    "ons": ("algo.eta", (1e-2, 1e-1, 1.0, 10.0, 100.0)),
    "restart": ("algo.base.c_eta", (1e-3, 1e-2, 1e-1, 1.0, 10.0)),
    "hedge": ("algo.c_eta", (1e-2, 1e-1, 1.0, 10.0, 100.0)),
    "policy_gradient": ("algo.eta", (1e-4, 1e-3, 1e-2, 1e-1, 1.0)),
    "delayed_ogd": ("algo.c_eta", (1e-3, 1e-2, 1e-1, 1.0, 10.0)),
    "igt_omd": ("algo.c_eta", (1e-3, 1e-2, 1e-1, 1.0, 10.0)),
    "dfhpg": ("algo.eta", (1e-3, 1e-2, 1e-1, 1.0, 10.0)),
}
"""The key of each learner that is searched besides the radius of Θ."""
LOSSES = ("pg_forward", "pg_central", "pfyl", "dbb", "nid", "imle", "lava", "ltr")
STEPS |= dict.fromkeys(LOSSES, ("algo.eta", (0.0001, 0.001, 0.01, 0.1, 1.0)))
RADII = (1.0, 10.0, 100.0, 1000.0)
CHOSEN_ON, REPORTED, ROUNDS = [5, 6, 7], [0, 1, 2, 3, 4], 500


def words_of(algo: str) -> tuple[str, ...]:
    """The overrides that choose a learner; a loss is one of `rival`."""
    return ("algo=rival", f"algo.loss={algo}") if algo in LOSSES else (f"algo={algo}",)


def regrets(problem: str, algo: str, seeds: list[int], *settings: str) -> pd.DataFrame:
    """The last rounds of the runs, one for each seed and setting."""
    words = (f"data={problem}", *words_of(algo), f"horizon.rounds={ROUNDS}", *settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a setting may overflow: it is left out
        rows = sweep(*words, seeds=seeds, progress=False).rows
    return rows[rows["t"] == ROUNDS]


def compare(problem: str, algo: str) -> list[dict]:
    """One record for each reported seed and form."""
    key, values = STEPS[algo]
    grid = (
        f"{key}={','.join(map(repr, values))}",
        f"theta_radius={','.join(map(repr, RADII))}",
    )
    found = regrets(problem, algo, CHOSEN_ON, *grid).groupby([key, "theta_radius"])["avg_regret"]
    value, radius = found.mean().idxmin()
    forms = {
        "default": (),
        "tuned": (f"{key}={value}", f"theta_radius={radius}"),
        "before": ("theta_radius=1",),
    }
    return [
        {"problem": problem, "algo": algo, "form": form, "words": " ".join(words)}
        | {"seed": int(row.seed), "regret": row.avg_regret}
        for form, words in forms.items()
        for row in regrets(problem, algo, REPORTED, *words).itertuples()
    ]


def main(names: list[str]) -> None:
    """Adds what is missing to the file."""
    done = pd.read_csv(PLACE) if PLACE.exists() else pd.DataFrame(columns=["problem", "algo"])
    for algo in [a for a in STEPS if a in names] or STEPS:
        for problem in [p for p in PROBLEMS if p in names] or PROBLEMS:
            if ((done["problem"] == problem) & (done["algo"] == algo)).any():
                continue
            try:
                done = pd.concat([done, pd.DataFrame(compare(problem, algo))])
            except (
                UserError
            ) as error:  # a loss that lists the vertices of W, where they are too many
                print(error, file=sys.stderr)
            done.to_csv(PLACE, index=False, float_format="%.6g")
            print(problem, algo, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
