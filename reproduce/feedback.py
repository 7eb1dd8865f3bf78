"""Costs above the clairvoyant by kind and delay of feedback: docs/data/feedback.csv and docs/feedback.png.

`python reproduce/feedback.py run` plays what is not in the CSV yet, `plot` draws the figure. The four problems are
the experiments feedback, feedback_wide, feedback_paths and feedback_knapsack, in all of which a linear predictor is
right. Costs are conditional means, c̄ = E[c | X], so that noise that nobody can predict does not blur the comparison.
"""

import sys
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib
import pandas as pd

import odfl_cli
from odfl_cli.core.statistics import mean_ci95
from odfl_cli.plotting.style import COLOURS, theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DOCS = Path(__file__).parents[1] / "docs"
FILE = DOCS / "data" / "feedback.csv"
SETS = ("feedback_paths", "feedback_knapsack")
PROBLEMS = {
    "feedback": "5 items",
    "feedback_wide": "80 items",
    "feedback_paths": "5×5 paths",
    "feedback_knapsack": "knapsack of 20",
}
LONG = {
    "feedback_long": ("horizon.rounds=5000",),
    "feedback_clipped": ("horizon.rounds=5000", "data.clip=true"),
}
"""The first of them with 5000 rounds, for the linear bandits beside RLS with all costs: as it is, and clipped to [0, 1]."""
KINDS, DELAYS = ("full", "semi_bandit", "bandit"), (0, 10, 100)
PARTIAL = ("rls", "thompson", "ucb", "dfhpg", "epsilon_greedy", "explore_then_commit", "weighted")
STALE, POSTERIOR = "igt_omd algo.gradient=stale", "thompson algo.scale=1"
NAMES = {STALE: "igt_omd (stale)", POSTERIOR: "thompson (scale 1)"}
LATE = {
    "full": ("rls", "df_ogd", "delayed_ogd", "igt_omd", STALE),
    "bandit": ("rls", "thompson", "dfhpg"),
}
"""Algorithms that are also played with delayed costs, by kind of feedback."""
DRAWN_LATE = ("feedback", "feedback_knapsack")
LOOKS = {
    "rls": ("ink", "o", "-"),
    "thompson": ("blue", "s", "-"),
    "ucb": ("sky", "^", "-"),
    "dfhpg": ("red", "D", "-"),
    "epsilon_greedy": ("green", "v", "--"),
    "explore_then_commit": ("brown", "P", "--"),
    "weighted": ("orange", "X", "--"),
    "policy_gradient": ("purple", "*", "--"),
    "df_ogd": ("blue", "o", ":"),
    "spo": ("green", "s", ":"),
    "pf_ogd": ("grey", "^", ":"),
    "delayed_ogd": ("orange", "o", "-."),
    "igt_omd": ("red", "s", "-."),
    "igt_omd (stale)": ("purple", "^", "-."),
}
"""Colour, marker and dashes."""


def play(problem: str, algo: str, kind: str, *words: str) -> pd.DataFrame:
    """The last row of every seed; `algo` may have further overrides after its name."""
    where = (f"experiment={'feedback' if problem in LONG else problem}", *LONG.get(problem, ()))
    job = (*where, *f"algo={algo}".split(), f"feedback={kind}", *words)
    return odfl_cli.sweep(*job, progress=False).final.reset_index()


def extra_words(problem: str, algo: str) -> tuple[str, ...]:
    """The overrides of an algorithm that hold only for some problems."""
    return ("algo@algo.base=pf_ogd",) if algo == "weighted" and problem in SETS else ()


def jobs(problem: str) -> Iterator[tuple[str, str, int]]:
    """Every algorithm, kind of feedback and delay that is played."""
    yield "clairvoyant", "full", 0
    if problem in LONG:
        yield "rls", "full", 0
        yield from ((algo, "bandit", 0) for algo in ("rls", "thompson", POSTERIOR))
        return
    for kind in KINDS if problem in SETS else ("full", "bandit"):
        for algo in (*PARTIAL, "policy_gradient"):
            if algo == "ucb" and (problem, kind) in product(SETS, ["bandit"]):
                continue  # its bonus is no sum over items
            if algo != "policy_gradient" or problem not in SETS:
                yield algo, kind, 0
    yield from ((algo, "full", 0) for algo in ("df_ogd", "spo", "pf_ogd", "delayed_ogd", "igt_omd"))
    for kind, algorithms in LATE.items():
        yield from product(algorithms, [kind], DELAYS[1:])


def run(*problems: str) -> None:
    """Adds missing rows problem, algo, kind, delay, seed, t, avg_mean_cost to the file."""
    known = pd.read_csv(FILE) if FILE.exists() else pd.DataFrame(columns=["problem"])
    done = set(known[list(known.columns[:4])].itertuples(index=False, name=None))
    for problem in problems or (*PROBLEMS, *LONG):
        for algo, kind, delay in jobs(problem):
            name = NAMES.get(algo, algo)
            if (problem, name, kind, delay) in done:
                continue
            words = (f"feedback.delay={delay}", *extra_words(problem, algo))
            rows = play(problem, algo, kind, *words)
            rows = rows[["seed", "t", "avg_mean_cost"]]
            for place, (key, value) in enumerate(
                {"problem": problem, "algo": name, "kind": kind, "delay": delay}.items()
            ):
                rows.insert(place, key, value)
            rows.to_csv(FILE, mode="a", header=not FILE.exists(), index=False, float_format="%.7g")


def plot() -> None:
    """Draws a panel per problem for immediate feedback, and one for delayed costs."""
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from feedback_tables import regrets

    data, late = regrets(), [f"late {problem}" for problem in DRAWN_LATE]
    with plt.rc_context(theme()):
        figure, panels = plt.subplot_mosaic(
            [[*PROBLEMS][:2] + late[:1], [*PROBLEMS][2:] + late[1:]],
            figsize=(8.6, 5.4),
            layout="constrained",
        )
        for name, axes in panels.items():
            problem = name.removeprefix("late ")
            rows = data[data["problem"] == problem]
            axes.set_title(f"{PROBLEMS[problem]}{'' if name in PROBLEMS else ', late costs'}")
            if name in PROBLEMS:
                kinds = KINDS if problem in SETS else ("full", "bandit")
                draw(axes, rows[rows["delay"] == 0], "kind", kinds)
                words = {
                    "semi_bandit": "semi-bandit",
                    "bandit": "bandit" if problem in SETS else "bandit = semi-bandit",
                }
                axes.set_xticks(range(len(kinds)), [words.get(kind, kind) for kind in kinds])
            else:
                learners = [NAMES.get(algo, algo) for algo in LATE["full"]]
                rows = rows[(rows["kind"] == "full") & rows["algo"].isin(learners)]
                draw(axes, rows, "delay", DELAYS)
                axes.set_xticks(range(3), map(str, DELAYS))
                axes.set_xlabel("rounds of delay")
        for name in ("feedback", "feedback_paths"):
            panels[name].set_ylabel("cost a round above the clairvoyant's")
        handles: dict[str, Any] = {}
        for axes in panels.values():
            handles |= dict(reversed(pair) for pair in zip(*axes.get_legend_handles_labels(), strict=True))  # fmt: skip
        order = [name for name in LOOKS if name in handles]
        figure.suptitle(f"T = {data['t'].min()}, {data['seed'].nunique()} seeds, 95% intervals")
        figure.legend([handles[name] for name in order], order, loc="outside right center")
        figure.savefig(DOCS / "feedback.png", dpi=200)


def draw(axes: "Axes", rows: pd.DataFrame, key: str, values: Sequence[str | int]) -> None:
    """Draws a line per algorithm over the places of `values`, shifted to keep intervals apart."""
    present = [algo for algo in LOOKS if algo in set(rows["algo"])]
    for number, algo in enumerate(present):
        colour, marker, dashes = LOOKS[algo]
        groups = rows[rows["algo"] == algo].groupby(key)["regret"]
        found = {v: mean_ci95(groups.get_group(v).to_numpy()) for v in values if v in groups.groups}
        shift = 0.24 * (number / max(len(present) - 1, 1) - 0.5)
        places = [values.index(value) + shift for value in found]
        means, errors = zip(*found.values(), strict=True)
        axes.errorbar(places, means, errors, color=COLOURS[colour], marker=marker, ls=dashes, ms=4,
                      lw=1.1, elinewidth=0.8, label=algo)  # fmt: skip
    axes.set(yscale="log", xlim=(-0.35, len(values) - 0.65))


if __name__ == "__main__":
    {"run": run, "plot": plot}[sys.argv[1]](*sys.argv[2:])
