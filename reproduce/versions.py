"""Compares the CSVs of two installed versions and writes outputs/versions.csv.

`python reproduce/versions.py OLD NEW` takes two commands, such as ../odfl-old/.venv/bin/odfl and
.venv/bin/odfl. Each runs every algorithm of this checkout on every engine of --engines, with regret,
and every experiment, at horizon=smoke with two seeds. Runs that are finished under --outputs are
kept; a NAME restricts the comparison to these algorithms and experiments. Exits with 1 if costs
differ by more than 1e-9 or the new version refuses what the old one runs.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from cells import table

CONF = Path(__file__).parents[1] / "conf"
SMALL = ["horizon=smoke", "seeds=2"]
RECORDED = {
    name: ["horizon.rounds=50", "horizon.rows=50", "seeds=[1]"]
    for name in (
        "electricity",
        "flights_airport",
        "flights_carrier",
        "stocks",
    )
}
"""Experiments that set their own horizon; their seeds are parts of a data set."""
LEFT_OUT = ("search_df_ogd",)  # needs Optuna, whose trials follow from the values it saw
PLACES = ("outputs=", "engine=")
COSTS = ("cost", "avg_cost", "best_cost")
TOLERANCE = 1e-9
KINDS = ("the same bytes", f"the same costs to {TOLERANCE:g}", "different costs", "refused")


class Command(NamedTuple):
    """Arguments of `odfl run` for both versions; `name` is also the folder of their outputs."""

    name: str
    old: list[str]
    new: list[str]


def main() -> int:
    """Runs missing jobs of both versions, compares them and writes the result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old", metavar="OLD", help="the odfl command of the older version")
    parser.add_argument("new", metavar="NEW", help="the odfl command of the newer version")
    parser.add_argument("names", nargs="*", metavar="NAME", help="an algorithm or an experiment")
    parser.add_argument("--engines", nargs="+", default=["auto", "torch"], metavar="ENGINE",
                        help="OLD:NEW where the two versions differ")  # fmt: skip
    parser.add_argument("--outputs", type=Path, default=Path("outputs/versions"))
    parser.add_argument("--csv", type=Path, default=Path("outputs/versions.csv"))
    options = parser.parse_args()
    outputs = options.outputs.resolve()
    chosen = commands(options.engines, options.names)
    refusals = {side: run(side, getattr(options, side), chosen, outputs) for side in ("old", "new")}
    jobs = {side: finished_jobs(getattr(options, side), outputs / side) for side in refusals}
    rows = [
        {"job": " ".join(job)} | compare(directory, jobs["new"].get(job))
        for job, directory in sorted(jobs["old"].items())
    ]
    data = pd.DataFrame(rows)
    data.to_csv(options.csv, index=False, float_format="%.2g", lineterminator="\n")
    print(versions(data))
    for name in refusals["old"]:
        print(f"{name}: not compared, the old version says: {refusals['old'][name]}")
    for name in refusals["new"].keys() - refusals["old"].keys():
        print(f"{name}: the new version says: {refusals['new'][name]}")
    return int(data["kind"].isin(KINDS[2:]).any())


def commands(engines: list[str], names: list[str]) -> list[Command]:
    """Every algorithm on every engine and every experiment, or the named ones."""
    found = []
    for algo in choices("algo", names):
        shared = [f"algo={algo}", "metrics=regret", *SMALL]
        for engine in engines:
            old, _, new = engine.partition(":")
            name = f"{algo}-{new or old}"
            found.append(
                Command(name, [*shared, f"engine={old}"], [*shared, f"engine={new or old}"])
            )
    for experiment in choices("experiment", names):
        words = [f"experiment={experiment}", *RECORDED.get(experiment, SMALL)]
        found.append(Command(experiment, words, words))
    return found


def choices(group: str, names: list[str]) -> list[str]:
    """The choices of a configuration group, or the named ones of them."""
    found = sorted(file.stem for file in (CONF / group).glob("*.yaml"))
    return [name for name in found if name not in LEFT_OUT and (not names or name in names)]


def run(side: str, odfl: str, chosen: list[Command], outputs: Path) -> dict[str, str]:
    """Runs the commands of one version; returns the last line of the message of each failed one."""
    refusals = {}
    for place, command in enumerate(chosen, 1):
        words = [*getattr(command, side), f"outputs={outputs / side / command.name}"]
        print(f"[{side} {place}/{len(chosen)}] odfl run", *words, file=sys.stderr, flush=True)
        done = subprocess.run([odfl, "run", *words], capture_output=True, text=True)
        if done.returncode:
            refusals[command.name] = (done.stderr.strip().splitlines() or ["no message"])[-1]
    return refusals


def finished_jobs(odfl: str, outputs: Path) -> dict[tuple[str, ...], Path]:
    """The directory of every finished job by its command's name and its overrides."""
    listed = subprocess.run(
        [odfl, "list", str(outputs), "--json"], check=True, capture_output=True, text=True
    )
    jobs = {}
    for job in json.loads(listed.stdout):
        directory = Path(job["directory"]).resolve()
        overrides = [word for word in job["overrides"] if not word.startswith(PLACES)]
        if job["state"] == "finished":
            jobs[directory.relative_to(outputs).parts[0], *sorted(overrides)] = directory
    return jobs


def compare(old: Path, new: Path | None) -> dict[str, Any]:
    """The agreement of a job's CSVs: its kind, and the largest differences by column."""
    if new is None:
        return {"kind": KINDS[3]}
    pairs = [(path, new / path.name) for path in sorted(old.glob("seed-*.csv"))]
    same = all(
        theirs.exists() and ours.read_bytes() == theirs.read_bytes() for ours, theirs in pairs
    )
    if same:
        return {"kind": KINDS[0], "costs": 0.0, "others": 0.0, "column": ""}
    tables = [(pd.read_csv(ours), pd.read_csv(theirs)) for ours, theirs in pairs]
    differences = pd.DataFrame([difference(*table) for table in tables]).max()
    costs, others = differences[list(COSTS)].max(), differences.drop(list(COSTS))
    return {
        "kind": KINDS[1 if costs <= TOLERANCE else 2],
        "costs": costs,
        "others": others.max(),
        "column": others.idxmax() if others.max() > TOLERANCE else "",
    }


def difference(old: pd.DataFrame, new: pd.DataFrame) -> dict[str, float]:
    """The largest difference in every column of either table, relative where values exceed 1."""
    found = dict.fromkeys([*old, *new], np.inf)
    if not old["t"].equals(new["t"]):
        return found
    for column in [column for column in old if column in new]:
        before, after = old[column].to_numpy(float), new[column].to_numpy(float)
        if np.array_equal(np.isnan(before), np.isnan(after)):
            apart = np.abs(after - before) / np.maximum(1, np.abs(before))
            found[column] = float(np.nanmax(apart, initial=0.0))
    return found


def versions(data: pd.DataFrame) -> str:
    """The number of jobs of each kind, and every job whose numbers differ."""
    counts = data["kind"].value_counts()
    rows = [["CSV files of a job", "jobs"], *([k, str(counts.get(k, 0))] for k in KINDS)]
    moves = [["job", "costs", "largest other difference", "column"]]
    shown = data[data["kind"].isin(KINDS[2:]) | (data["column"].fillna("") != "")]
    for row in shown.itertuples():
        refused = row.kind == KINDS[3]
        cells = [row.kind, "", ""] if refused else [f"{row.costs:.2g}", f"{row.others:.2g}", f"`{row.column}`"]  # fmt: skip
        moves.append([f"`{row.job}`", *cells])
    return "\n\n".join(table(part) for part in (rows, moves) if len(part) > 1)


if __name__ == "__main__":
    sys.exit(main())
