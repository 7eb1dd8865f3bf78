"""Run directories with numbers that are known in closed form, written without the package."""

import hashlib
import io
import json
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

BEST_COST = 0.25


def write_run(
    directory: Path,
    algo: str = "df_ogd",
    levels: Mapping[int, float] | None = None,
    rounds: int = 100,
    thin: int = 7,
    config: Mapping[str, Any] | None = None,
    choices: Mapping[str, str] | None = None,
    exponent: float | None = None,
    marks: tuple[int, ...] = (),
    version: str = "0.1.0",
) -> Path:
    """A run whose seed s pays levels[s] + 1/t in round t: its average cost is level + H_t / t.

    The squared error is twice the level in every round, the best decision costs BEST_COST. With an
    exponent, every other round has regrets against comparators, levels[s]·t^exponent on average,
    and a bound of twice that.
    """
    levels = {0: 0.5, 1: 0.6, 2: 0.8} if levels is None else levels
    directory.mkdir(parents=True)
    tables = [_write_table(level, rounds, thin, exponent) for level in levels.values()]
    for seed, (content, _) in zip(levels, tables, strict=True):
        (directory / f"seed-{seed}.csv").write_text(content)
    summary = {
        "choices": {"algo": algo, "data": "sin4"} | dict(choices or {}),
        "config": nest({"algo._target_": f"package.{algo}", "data._target_": "package.Sin4",
                          "data.items": 5, "data.gamma": 1.0, "horizon.rounds": rounds,
                          "seeds": len(levels), **(config or {})}),
        "seeds": list(levels),
        "rounds": rounds,
        "marks": list(marks),
        "versions": {"odfl": version},
        "format": 1,
    }  # fmt: skip
    (directory / "summary.json").write_text(json.dumps(summary))
    final = {
        column: {"per_seed": [last[column] for _, last in tables]}
        for column in tables[0][1]
        if column != "t" and all(np.isfinite(last[column]) for _, last in tables)
    }
    typed = [f"{key}={value}" for key, value in (config or {}).items()]
    change_summary(directory, final=final, overrides=[f"algo={algo}", *typed])
    seal(directory, version)
    return directory


@cache
def _write_table(
    level: float, rounds: int, thin: int, exponent: float | None
) -> tuple[str, dict[str, float]]:
    """The CSV of a seed, and its last row as it is read from there."""
    table = seed_table(level, rounds)
    if exponent is not None:
        table = table.join(regret_columns(level, rounds, exponent))
    kept = (table["t"] % thin == 1 % thin) | (table["t"] == rounds)
    content = table[kept].to_csv(index=False, lineterminator="\n")
    return content, pd.read_csv(io.StringIO(content)).iloc[-1].astype(float).to_dict()


def seal(directory: Path, version: str = "0.1.0") -> None:
    """Records the CSVs in summary.json as they are now."""
    files = sorted(directory.glob("seed-*.csv"))
    change_summary(directory, files={file.name: _record(file, version) for file in files})


def change_summary(run: Path, **changes: Any) -> None:
    """Edits summary.json by hand."""
    summary = json.loads((run / "summary.json").read_text())
    (run / "summary.json").write_text(json.dumps(summary | changes))


def _record(file: Path, version: str) -> dict[str, Any]:
    content = file.read_bytes()
    sha256 = hashlib.sha256(content).hexdigest()
    return {"bytes": len(content), "sha256": sha256, "odfl": version}


def seed_table(level: float, rounds: int) -> pd.DataFrame:
    """All rounds of a seed."""
    t = np.arange(1, rounds + 1)
    cost, mse = level + 1 / t, np.full(rounds, 2 * level)
    return pd.DataFrame(
        {
            "t": t,
            "cost": cost,
            "avg_cost": cost.cumsum() / t,
            "mse": mse,
            "avg_mse": mse.cumsum() / t,
            "best_cost": BEST_COST,
            "regret": (cost - BEST_COST).cumsum(),
        }
    )


def regret_columns(level: float, rounds: int, exponent: float) -> pd.DataFrame:
    """Static and dynamic regret, bound and expected cost; empty in odd rounds."""
    t = np.arange(1, rounds + 1)
    regret = np.where(t % 2 == 0, level * t ** (1 + exponent), np.nan)
    names = {"static_regret": 1, "dynamic_regret": 1, "bound": 2, "expected_cost": 1 / t}
    return pd.DataFrame({name: factor * regret for name, factor in names.items()})


def harmonic(rounds: int) -> float:
    """H_T = 1 + 1/2 + … + 1/T."""
    return float((1 / np.arange(1, rounds + 1)).sum())


def write_sweep(sweep: Path, runs: list[Path]) -> Path:
    """A sweep's index.json; the runs live elsewhere."""
    sweep.mkdir(parents=True)
    jobs = [{"overrides": [], "directory": os.path.relpath(run, sweep)} for run in runs]
    (sweep / "index.json").write_text(json.dumps({"jobs": jobs}))
    return sweep


def nest(flat: Mapping[str, Any]) -> dict[str, Any]:
    """Dotted keys as nested dictionaries."""
    tree: dict[str, Any] = {}
    for key, value in flat.items():
        *path, last = key.split(".")
        node = tree
        for part in path:
            node = node.setdefault(part, {})
        node[last] = value
    return tree


def write_gamma_sweep(directory: Path) -> Path:
    for gamma in (0.0, 0.5, 1.0):
        for algo, level in (("pf_ogd", 0.7), ("df_ogd", 0.7 - 0.1 * gamma)):
            levels = {0: level, 1: level + 0.1 * gamma, 2: level}
            write_run(directory / f"{algo}-{gamma}", algo, levels, config={"data.gamma": gamma})
    return directory
