"""Compares this version's numbers with those of an older one and writes docs/data/versions.csv.

`python docs/versions.py OLD NEW` takes two commands, such as ../odfl-0.2.0/.venv/bin/odfl and
.venv/bin/odfl, and runs every algorithm of the older version on both engines, with regret, and all
of its experiments, at horizon=smoke with two seeds or on one or two periods of recorded data. Runs
that are finished under --outputs are kept.
"""

import argparse
import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml
from cells import plus_minus, table
from collect import DATA

ALGORITHMS = [
    "clairvoyant",
    "df_ftpl",
    "df_ogd",
    "df_ogd_endpoint",
    "fenchel_young",
    "hedge",
    "ogd",
    "perturbed",
    "pf_ogd",
    "policy_gradient",
    "restart",
    "rls",
    "rls_forgetting",
    "spo",
    "spo_printed",
    "uniform",
]
EXPERIMENTS = [
    "calibrate",
    "drift",
    "grid_pf_ogd",
    "high_dimension",
    "knapsack",
    "main",
    "misspecification",
    "misspecified_horizon",
    "rates",
    "regularizers",
    "shortest_path",
]
ENGINES = ("auto", "torch")
SMALL = ["horizon=smoke", "seeds=2"]
RECORDED = {"electricity": ["seeds=[1]"], "stocks": ["seeds=[1,2]"]}
"""Seeds of recorded data are its periods; constants were tuned on the first one, which is shorter."""
COMMANDS = [
    *([f"algo={a}", f"engine={e}", "metrics=regret", *SMALL] for a in ALGORITHMS for e in ENGINES),
    *([f"experiment={name}", f"sweep={name}", *SMALL] for name in EXPERIMENTS),
    *([f"experiment={name}", f"sweep={name}", *seeds] for name, seeds in RECORDED.items()),
]
BELIEFS = {"belief=exact": "algo.belief={}"} | {
    f"belief={key}_{name}": f"algo.belief={{{key}:{factor}}}"
    for key in ("horizon", "parameters", "faces")
    for name, factor in (("tenth", "0.1"), ("tenfold", "10"))
}
"""Settings of 0.2.0 as they are written today."""
PLACES = ("outputs=", "seeds=", "sweep=")
SEARCHED = "static_regret"
"""The one column that depends on a search, which is another one since 0.2.0."""
APART = (SEARCHED, "newton_steps")
"""Columns that are not compared: the search's, and how long a solver took to the same solution."""


def main() -> None:
    """Runs what is missing of both versions, compares and writes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old", metavar="OLD", help="the odfl command of the older version")
    parser.add_argument("new", metavar="NEW", help="the odfl command of this version")
    parser.add_argument("--outputs", type=Path, default=Path("outputs/versions"))
    options = parser.parse_args()
    jobs = {}
    for side in ("old", "new"):
        outputs = (options.outputs / side).resolve()
        for overrides in COMMANDS:
            command = [getattr(options, side), "run", *overrides, f"outputs={outputs}"]
            subprocess.run(command, check=True)
        jobs[side] = finished(outputs)
    rows = [
        {"job": " ".join(job)} | compared(directory, jobs["new"][job])
        for job, directory in sorted(jobs["old"].items())
    ]
    pd.DataFrame(rows).to_csv(DATA / "versions.csv", index=False, float_format="%.2g")
    print(f"docs/data/versions.csv: {len(rows)} jobs")


def finished(outputs: Path) -> dict[tuple[str, ...], Path]:
    """The directory of every job, by its overrides as they are written today."""
    jobs = {}
    for summary in outputs.rglob("summary.json"):
        overrides = yaml.safe_load((summary.parent / ".hydra" / "overrides.yaml").read_text())
        jobs[spelt(overrides)] = summary.parent
    for index in outputs.glob("sweeps/*/index.json"):
        for job in json.loads(index.read_text())["jobs"]:
            jobs[spelt(job["overrides"])] = index.parent / job["directory"]
    return jobs


def spelt(overrides: list[str]) -> tuple[str, ...]:
    """Overrides without places, sorted."""
    kept = (BELIEFS.get(o, o) for o in overrides if not o.startswith((*PLACES, *SMALL)))
    return tuple(sorted(kept))


def compared(old: Path, new: Path) -> dict[str, Any]:
    """Whether the CSVs are the same bytes; else by how much they differ, and in which settings."""
    pairs = [(path, new / path.name) for path in sorted(old.glob("seed-*.csv"))]
    same = all(ours.read_bytes() == theirs.read_bytes() for ours, theirs in pairs)
    tables = [(pd.read_csv(ours), pd.read_csv(theirs)) for ours, theirs in pairs]
    before, after = (settings(directory) for directory in (old, new))
    changed = [key for key in before if key in after and before[key] != after[key]]
    return {
        "rounds": tables[0][0]["t"].iloc[-1],
        "bytes": same,
        "difference": max(difference(*table) for table in tables),
        SEARCHED: np.mean([better(*table) for table in tables]),
        "settings": "; ".join(f"{key}: {before[key]} → {after[key]}" for key in changed),
    }


def difference(old: pd.DataFrame, new: pd.DataFrame) -> float:
    """The largest difference of a value in any column but those apart, relative where it is above 1.

    Of the rows that both have: stocks logs every round by now.
    """
    columns = [column for column in old if column not in APART]
    before = old[old["t"].isin(new["t"])][columns].to_numpy(float)
    after = new[new["t"].isin(old["t"])][columns].to_numpy(float)
    if not np.array_equal(np.isnan(before), np.isnan(after)):
        return np.inf
    return float(np.nanmax(np.abs(after - before) / np.maximum(1, np.abs(before))))


def better(old: pd.DataFrame, new: pd.DataFrame) -> float:
    """How much more static regret is found after the last round; NaN where it is not measured."""
    return new[SEARCHED].iloc[-1] - old[SEARCHED].iloc[-1] if SEARCHED in old else np.nan


def settings(directory: Path) -> dict[str, Any]:
    """The settings of a run with dotted keys, without classes, places and the number of rows."""
    config = yaml.safe_load((directory / ".hydra" / "config.yaml").read_text())
    flat = pd.json_normalize(config).iloc[0].to_dict()
    return {
        k: v
        for k, v in flat.items()
        if not k.endswith("_target_") and k not in ("outputs", "sweep", "horizon.rows")
    }


def versions() -> str:
    """How many jobs are how close, and those that are not close one by one."""
    data = pd.read_csv(DATA / "versions.csv", keep_default_na=False, na_values={SEARCHED: ""})
    tuned, apart = data["settings"] != "", " and ".join(f"`{column}`" for column in APART)
    kinds = {
        "the same bytes": data["bytes"],
        f"the same digits in every column but {apart}": data["difference"] == 0,
        f"within 1e-9 in every column but {apart}": data["difference"] < 1e-9,
        "other tuned constants": tuned,
        "otherwise different": ~tuned,
    }
    rows, counted = [["CSV files of a job", "jobs"]], pd.Series(False, index=data.index)
    for kind, members in kinds.items():
        rows.append([kind, str((members & ~counted).sum())])
        counted |= members
    moved = data[data["difference"] >= 1e-9]
    moves = [["job", "largest difference", "setting"]]
    for job, by, change in moved[["job", "difference", "settings"]].to_numpy():
        moves.append([f"`{job}`", f"{by:.2g}", f"`{change}`" if change else "as before"])
    regrets = [["rounds", "jobs with `static_regret`", "its mean difference, new − old"]]
    for rounds, values in data[~tuned].dropna(subset=SEARCHED).groupby("rounds")[SEARCHED]:
        regrets.append([str(rounds), str(len(values)), plus_minus(values.mean())])
    return "\n\n".join(table(rows) for rows in (rows, moves, regrets))


if __name__ == "__main__":
    main()
