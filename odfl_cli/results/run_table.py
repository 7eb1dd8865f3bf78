"""Runs in rows: summary.csv, and what `odfl plot --list` prints."""

import math
from typing import Any

import pandas as pd

from odfl_cli.core.statistics import mean_ci95
from odfl_cli.results.aggregation import sort_key
from odfl_cli.results.grouping import differing_keys
from odfl_cli.results.tables import Run

HEADINGS = ("directory", "algorithm", "differs in", "seeds", "rounds", "final average cost")


def summary_table(runs: list[Run]) -> pd.DataFrame:
    """One row per run: algorithm, differing keys, seeds, rounds, then the final columns."""
    keys = differing_keys(runs)
    return pd.DataFrame([_summary(run, keys) for run in _sorted(runs, keys)])


def listing(runs: list[Run]) -> str:
    """An aligned table of the runs, one line each."""
    keys = differing_keys(runs)
    rows = [HEADINGS, *(_listed(run, keys) for run in _sorted(runs, keys))]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    return "\n".join(lines)


def _sorted(runs: list[Run], keys: list[str]) -> list[Run]:
    def order(run: Run) -> tuple[Any, ...]:
        return run.algorithm, [sort_key(run.settings.get(key)) for key in keys], run.directory

    return sorted(runs, key=order)


def _summary(run: Run, keys: list[str]) -> dict[str, Any]:
    told = {key: run.settings.get(key) for key in keys}
    row = {"algorithm": run.algorithm, **told, "seeds": len(run.seeds), "rounds": run.rounds}
    return row | final_figures(run) | {"directory": run.directory.name}


def final_figures(run: Run) -> dict[str, float]:
    """`…_mean` and `…_ci95` of every column after the last round."""
    figures: dict[str, float] = {}
    final = run.final().drop(columns=["t", "seed"])
    for column in final:
        mean, ci95 = mean_ci95(final[column].to_numpy())
        figures |= {f"{column}_mean": float(mean), f"{column}_ci95": float(ci95)}
    return figures


def _listed(run: Run, keys: list[str]) -> tuple[str, ...]:
    told = [f"{key}={run.settings[key]}" for key in keys if key in run.settings]
    mean, ci95 = mean_ci95(run.final()["avg_cost"].to_numpy())
    cost = f"{mean:.4f}" if math.isnan(ci95) else f"{mean:.4f} ± {ci95:.4f}"
    counts = str(len(run.seeds)), str(run.rounds)
    return str(run.directory), run.algorithm, ", ".join(told) or "-", *counts, cost
