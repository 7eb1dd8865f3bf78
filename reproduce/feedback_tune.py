"""The constants of the learners in docs/feedback.md, by the rule of conf/tune/feedback.yaml: docs/data/feedback_tune.csv.

`python reproduce/feedback_tune.py` plays what is not in the CSV yet and prints the winners.
"""

from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from feedback import DOCS, PROBLEMS, SETS, extra_words, play

from odfl_cli.core.reading import flatten

FILE = DOCS / "data" / "feedback_tune.csv"
SEARCH = Path(__file__).parents[1] / "conf" / "tune" / "feedback.yaml"
LATE = ("delayed_ogd", "igt_omd")


def read_search() -> dict[str, Any]:
    """The keys of conf/tune/feedback.yaml."""
    return yaml.safe_load(SEARCH.read_text())


def candidates(grid: dict[str, Any]) -> list[str]:
    """Every combination of an algorithm's values, as overrides."""
    values = flatten(grid)
    return [" ".join(f"{key}={value}" for key, value in zip(values, one, strict=True))
            for one in product(*values.values())]  # fmt: skip


def winners(tried: pd.DataFrame) -> dict[str, str]:
    """Algorithm → the first constants that minimise the largest ratio of regret to the best one's."""
    best = tried.groupby(["algo", "problem"])["regret"].transform("min")
    worst = (tried["regret"] / best).groupby([tried["algo"], tried["constants"]], sort=False).max()
    return {algo: one[1] for algo, one in worst.groupby("algo", sort=False).idxmin().items()}


def choose_feedback(problem: str, algo: str) -> tuple[str, str]:
    """The kind of feedback and the delay for choosing an algorithm's constants."""
    if algo in LATE:
        return "full", "feedback.delay=10"
    kind = "semi_bandit" if algo == "ucb" and problem in SETS else "bandit"
    return kind, "feedback.delay=0"


def main() -> None:
    """Adds missing rows problem, algo, constants, regret (the mean over the seeds) and prints the winners."""
    search = read_search()
    tried = pd.read_csv(FILE) if FILE.exists() else pd.DataFrame(columns=["problem"])
    done = set(tried[list(tried.columns[:3])].itertuples(index=False, name=None))
    size = (f"seeds={search['seeds']}", f"horizon.rounds={search['rounds']}")
    for problem in PROBLEMS:
        floor = play(problem, "clairvoyant", "full", *size)["avg_mean_cost"].mean()
        for algo, grid in search["grids"].items():
            for constants in candidates(grid):
                if (problem, algo, constants) in done:
                    continue
                kind, delay = choose_feedback(problem, algo)
                words = (*constants.split(), *extra_words(problem, algo), delay, *size)
                regret = play(problem, algo, kind, *words)["avg_mean_cost"].mean() - floor
                row = pd.DataFrame([[problem, algo, constants, regret]],
                                   columns=["problem", "algo", "constants", "regret"])  # fmt: skip
                row.to_csv(
                    FILE, mode="a", header=not FILE.exists(), index=False, float_format="%.6g"
                )
    for algo, constants in winners(pd.read_csv(FILE)).items():
        print(algo, constants)


if __name__ == "__main__":
    main()
