"""Runs the experiments that the documents report and writes their final values to docs/data.

`python reproduce/collect.py` does all of them, `python reproduce/collect.py main claims` some. Runs that are
finished under --outputs are not computed again. `python reproduce/render.py` puts the data into the pages.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas as pd

DATA = Path(__file__).parents[1] / "docs" / "data"
PAPER = "algo=df_ogd,df_ftpl,pf_ogd,spo,uniform"
"""The algorithms ranked on stocks and electricity; reproduce/streams.py runs all of them."""
MAPS = ["--config-dir", "reproduce/conf"]
SWEEPS = {
    "main": ["experiment=main", "seeds=100"],
    "high_dimension": ["experiment=high_dimension", "seeds=100"],
    "misspecification": ["experiment=misspecification"],
    "readings": [
        "experiment=misspecification",
        "algo=df_ogd,pf_ogd,spo",
        "data.gamma=0,0.25,0.5,0.75,1",
        "data.amplitude=1,45",
        "theta_radius=1,10",
        "metrics=basic",
        "seeds=30",
    ],
    "reading": [
        "experiment=misspecification",
        "algo=df_ogd,pf_ogd",
        "data.gamma=0,1",
        "data.amplitude=45",
        "theta_radius=10",
        "metrics=basic",
        "seeds=300",
    ],
    "knapsack": ["experiment=knapsack"],
    "shortest_path": ["experiment=shortest_path"],
    "regularizers": ["experiment=regularizers"],
    "misspecified_horizon": ["experiment=misspecified_horizon"],
    "rates": ["experiment=rates"],
    "drift": ["experiment=drift"],
    "stocks": ["experiment=stocks", PAPER],
    "electricity": ["experiment=electricity", PAPER],
    "terrain": [*MAPS, "experiment=terrain"],
    "terrain_uniform": [*MAPS, "experiment=terrain", "algo=uniform", "predictor.activation=relu"],
    "features": ["experiment=features"],
    "features_references": ["experiment=features", "algo=uniform,clairvoyant", "predictor=linear"],
}
COLUMNS = ("avg_cost", "avg_mse", "dynamic_regret", "avg_dynamic_regret")
SEARCHED = 10  # seeds
PLAYED = ["algo=df_ogd", "horizon=paper", f"seeds={SEARCHED}"]
SEARCHES = {
    "regret": ["metrics=regret"],
    "full": ["metrics=full"],
    "more": ["metrics=full", "metrics.repeats=64", "metrics.lines=64"],
}
"""Searches for the best fixed parameter in hindsight, on the same rounds."""
BOUND = ("avg_dynamic_regret", "avg_bound")
"""Columns of `bound.csv`: their means over the seeds at a few rounds, for DF-OGD in `main`."""


def main() -> None:
    """Collects the named sweeps, or all of them."""
    names = [*SWEEPS, "hindsight", "claims"]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(names)}")
    parser.add_argument("--outputs", default="outputs", help="where runs are kept")
    options = parser.parse_args()
    if unknown := sorted(set(options.names).difference(names)):
        parser.error(f"no such name: {unknown[0]}; there are {', '.join(names)}")
    DATA.mkdir(exist_ok=True)
    for name in options.names or names:
        if name == "claims":
            command = [
                sys.executable,
                "-m",
                "reproduce.claims",
                "--json",
                "--outputs",
                options.outputs,
            ]
            judged = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            (DATA / "claims.json").write_text(judged.stdout)
        elif name == "hindsight":
            collect_searches(options.outputs)
        else:
            collect(name, options.outputs)


def collect(name: str, outputs: str) -> None:
    """Runs the missing jobs of one sweep and writes docs/data/NAME.csv."""
    sweep = f"documents-{name}"
    odfl("run", "-m", *SWEEPS[name], f"sweep={sweep}", f"outputs={outputs}")
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "rounds.csv")
        odfl("export", f"{outputs}/sweeps/{sweep}", "-o", str(table))
        rounds = pd.read_csv(table)
    write(final_rows(rounds), name)
    if name == "main":
        write(bound_rows(rounds), "bound")


def collect_searches(outputs: str) -> None:
    """Writes docs/data/hindsight.csv: static regret with increasing effort, and its uncertainty."""
    tables = []
    for effort, overrides in SEARCHES.items():
        sweep = f"documents-hindsight-{effort}"
        odfl("run", "-m", *PLAYED, *overrides, f"sweep={sweep}", f"outputs={outputs}")
        (run,) = json.loads(odfl("list", f"{outputs}/sweeps/{sweep}", "--json", capture=True))
        summary = json.loads(Path(run["directory"], "summary.json").read_text())
        table = pd.DataFrame({"seed": summary["seeds"]})
        table["static_regret"] = summary["final"]["static_regret"]["per_seed"]
        missed = [summary["hindsight"]["uncertainty"][str(seed)] for seed in summary["seeds"]]
        table["uncertainty"] = summary["rounds"] * pd.Series(missed)
        tables.append(table[table["seed"] < SEARCHED].assign(effort=effort))  # `main` has more
    write(pd.concat(tables)[["effort", "seed", "static_regret", "uncertainty"]], "hindsight")


def final_rows(rounds: pd.DataFrame) -> pd.DataFrame:
    """The last round of every job and seed: algo, the keys in which jobs differ, seed, t, columns."""
    keys = list(rounds.columns[1 : list(rounds.columns).index("seed")])
    columns = [column for column in COLUMNS if column in rounds]
    last = rounds.groupby(["run", "seed"])["t"].transform("max") == rounds["t"]
    return rounds.loc[last, [*keys, "seed", "t", *columns]]


def bound_rows(rounds: pd.DataFrame) -> pd.DataFrame:
    """Means over the seeds at the measured rounds nearest to 1, 10, 100, … and at the last one."""
    measured = rounds[rounds["algo"] == "df_ogd"].dropna(subset=list(BOUND))
    means = measured.groupby("t")[list(BOUND)].mean()
    wanted = [10**power for power in range(9) if 10**power < means.index.max()]
    nearest = {int(abs(means.index - t).argmin()) for t in wanted} | {len(means) - 1}
    return means.iloc[sorted(nearest)].reset_index()


def write(table: pd.DataFrame, name: str) -> None:
    """Writes docs/data/NAME.csv with six significant digits."""
    table.to_csv(DATA / f"{name}.csv", index=False, float_format="%.6g", lineterminator="\n")
    print(f"docs/data/{name}.csv: {len(table)} rows")


def odfl(*arguments: str, capture: bool = False) -> str:
    """Runs `odfl …`; returns its output if it is captured."""
    print("odfl", *arguments, file=sys.stderr, flush=True)
    command = [sys.executable, "-m", "odfl_cli", *arguments]
    stdout = subprocess.PIPE if capture else None
    return subprocess.run(command, check=True, stdout=stdout, text=True).stdout


if __name__ == "__main__":
    main()
