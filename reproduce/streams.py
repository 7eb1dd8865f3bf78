"""The real streams: their runs, intervals over time, gaps to the best naive policy, figures.

`python reproduce/streams.py` runs what is missing and writes docs/data/stream_NAME.csv and
outputs/figures/NAME/gap.png with its numbers for every stream; `python reproduce/streams.py prices` for one.
Runs that are finished under --outputs are not computed again. reproduce/render.py makes the tables.
"""

import argparse
from pathlib import Path
from typing import NamedTuple

import matplotlib
import numpy as np
import pandas as pd
from collect import odfl, write

from odfl_cli import load
from odfl_cli.core.time_series import path_mean
from odfl_cli.plotting.style import GREY, line_styles, theme

FIGURES = Path(__file__).parents[1] / "outputs" / "figures"
CONFIG = "--config-dir", "reproduce/conf"
NAIVE = ("forecast", "yesterday", "last_week", "rolling_mean", "always", "uniform")
DRAWN, POINTS = 5, 60
"""Learners whose gap is drawn against time, and at how many rounds."""


class Stream(NamedTuple):
    """The settings for reporting a stream."""

    title: str
    unit: str  # of a year's cost
    yearly: float  # what turns the cost of a round into it
    compared: tuple[int, ...]  # seeds on which the best fixed θ is searched
    at_once: bool = True  # whether the seeds share their rounds; else one follows the other


STREAMS = {
    "prices": Stream(
        "Four hours of tomorrow at 15 settlement points, Texas, May 2021 to December 2022",
        "$ for 1 MW in four hours a day", 365.0, (0, 5, 10),
    ),
    "emissions": Stream(
        "One of the next 36 slots in two regions, California, January 2020 to August 2021",
        "kg CO₂ for 1 kWh every three hours", 8 * 365.0, (0, 36),
    ),
    "flights_airport": Stream(
        "One of three airports to 36 destinations, New York, April to December 2013",
        "minutes for one flight a week", 52.0, tuple(range(0, 36, 4)),
    ),
    "flights_carrier": Stream(
        "One of up to 16 carriers to 38 destinations, New York, April to December 2013",
        "minutes for one flight a week", 52.0, tuple(range(0, 38, 4)),
    ),
    "stocks": Stream(
        "One of twenty stocks a day, ten periods of three years from 1993 on",
        "percent of the money invested", 252.0, (1, 4, 7, 10), at_once=False,
    ),
    "electricity": Stream(
        "Six hours of least demand, Victoria, 100 days of 2012",
        "10,000 units of demand", 365.0, (1,),
    ),
}  # fmt: skip


def main() -> None:
    """Reports the named streams, or all of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(STREAMS)}")
    parser.add_argument("--outputs", default="outputs", help="where runs are kept")
    options = parser.parse_args()
    if unknown := sorted(set(options.names).difference(STREAMS)):
        parser.error(f"no such stream: {unknown[0]}; there are {', '.join(STREAMS)}")
    for name in options.names or STREAMS:
        stream = STREAMS[name]
        odfl(
            "run",
            *CONFIG,
            f"experiment={name}",
            f"sweep=stream-{name}",
            f"outputs={options.outputs}",
        )
        costs = paths(Path(options.outputs, "sweeps", f"stream-{name}"))
        table = compare(costs, stream, best_fixed(name, stream, options.outputs))
        write(table, f"stream_{name}")
        draw(name, stream, costs, table)


def paths(sweep: Path) -> dict[str, pd.DataFrame]:
    """Algorithm → the costs it paid, a row per round and a column per seed."""
    rows = load(sweep).rows.groupby("algo", sort=False)
    return {algo: part.pivot(index="t", columns="seed", values="cost") for algo, part in rows}


def one_path(costs: pd.DataFrame, stream: Stream) -> np.ndarray:
    """The mean over the seeds in every round [T], or the seeds one after another [S·T]."""
    return costs.mean(axis=1).to_numpy() if stream.at_once else costs.to_numpy().T.ravel()


def best_fixed(name: str, stream: Stream, outputs: str) -> dict[int, float]:
    """Seed → the average cost of the best fixed θ that a search in hindsight found."""
    sweep = f"stream-{name}-hindsight"
    seeds = f"seeds=[{','.join(map(str, stream.compared))}]"
    odfl("run", *CONFIG, f"experiment={name}", "algo=rls", "metrics=regret", seeds,
         f"sweep={sweep}", f"outputs={outputs}")  # fmt: skip
    final = load(Path(outputs, "sweeps", sweep)).final
    return (final["avg_cost"] - final["avg_static_regret"]).to_dict()


def compare(
    costs: dict[str, pd.DataFrame], stream: Stream, fixed: dict[int, float]
) -> pd.DataFrame:
    """A row per algorithm, the cheapest first: cost, gap to the best naive policy, regret."""
    series = {algo: one_path(values, stream) for algo, values in costs.items()}
    naive = min((algo for algo in series if algo in NAIVE), key=lambda algo: series[algo].mean())
    rows = []
    for algo in sorted(series, key=lambda algo: series[algo].mean()):
        paid, gap = path_mean(series[algo]), path_mean(series[algo] - series[naive])
        regret = np.mean([costs[algo][seed].mean() - best for seed, best in fixed.items()])
        rows.append({
            "algo": algo, "naive": algo in NAIVE, "avg_cost": paid.mean, "ci95": paid.ci95,
            "gap": gap.mean, "gap_ci95": 0.0 if algo == naive else gap.ci95, "block": gap.block,
            "avg_regret": regret, "yearly_gap": gap.mean * stream.yearly,
            "yearly_ci95": gap.ci95 * stream.yearly, "rounds": costs[algo].size,
        })  # fmt: skip
    return pd.DataFrame(rows)


def draw(name: str, stream: Stream, costs: dict[str, pd.DataFrame], table: pd.DataFrame) -> None:
    """Draws the gap against time for the best learners, and the final gaps except for far ones."""
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    naive = table.loc[table["naive"], "algo"].iloc[0]
    best = table.loc[~table["naive"], "algo"].head(DRAWN).tolist()
    styles = line_styles(table["algo"].tolist())
    lines = {algo: running(one_path(costs[algo] - costs[naive], stream)) for algo in best}
    with plt.rc_context(theme()):
        figure, (left, right) = plt.subplots(1, 2, figsize=(6.9, 3.2), layout="constrained")
        for algo, line in lines.items():
            style = styles[algo]
            left.plot(
                line["t"], line["mean"], color=style.colour, ls=style.dashes, label=style.name
            )
        band = lines[best[0]]
        left.fill_between(band["t"], band["mean"] - band["ci95"], band["mean"] + band["ci95"],
                          color=styles[best[0]].colour, alpha=0.15, lw=0)  # fmt: skip
        left.axhline(0.0, color=GREY, lw=0.8)
        left.set(xlabel="round t", ylabel=f"average cost above {styles[naive].name}")
        shown = table[table["gap"].abs() <= 4 * table["gap"].abs().median()].iloc[::-1]
        for place, row in enumerate(shown.itertuples()):
            right.errorbar(row.gap, place, xerr=row.gap_ci95, fmt="s" if row.naive else "o",
                           color=GREY if row.naive else styles[row.algo].colour, ms=4, lw=1.2)  # fmt: skip
        right.axvline(0.0, color=GREY, lw=0.8)
        right.set_yticks(range(len(shown)), [styles[algo].name for algo in shown["algo"]])
        right.locator_params("x", nbins=5)
        right.set(xlabel="final gap ± 95% over time (left: better)")
        figure.suptitle(stream.title)
        figure.legend(loc="outside lower center", ncols=DRAWN, frameon=False)
        place = FIGURES / name
        place.mkdir(parents=True, exist_ok=True)
        figure.savefig(place / "gap.png", dpi=200)
        plt.close(figure)
    joined = pd.concat([line.assign(algo=algo) for algo, line in lines.items()])
    joined.to_csv(place / "gap.csv", index=False, float_format="%.6g", lineterminator="\n")


def running(gap: np.ndarray) -> pd.DataFrame:
    """The mean of the first t rounds of a path with its interval, at some t."""
    times = np.unique(np.linspace(max(24, len(gap) // 40), len(gap), POINTS).astype(int))
    found = [path_mean(gap[:t]) for t in times]
    return pd.DataFrame(found, columns=["mean", "ci95", "block"]).assign(t=times)


if __name__ == "__main__":
    main()
