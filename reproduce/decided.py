"""The rate at which equal algorithms are declared different, and the verdict of `until=decided` on the paper's claim.

`python reproduce/decided.py equal` writes docs/data/equal.csv: DF-OGD against itself with other random
draws, 300 times, and differences drawn from three laws, 2,000 times each; how many were declared
different by `until=decided`, by a 95% Student interval at the same looks, and by one after every seed
from 10 on. `python reproduce/decided.py claim` writes docs/data/verdict.json. Nothing was tuned on the
seeds of either: 200000 on, and 140000 on.
"""

import json
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

import numpy as np
import pandas as pd
from collect import DATA, odfl, write

from odfl_cli.config.compose import compose_job
from odfl_cli.core.statistics import decide, mean_ci95, student_quantile
from odfl_cli.core.streams import draw_all
from odfl_cli.environments.base import Rounds
from odfl_cli.runs.build import build
from odfl_cli.runs.simulate import Job, simulate
from odfl_cli.runs.sweep.until import Decided

UNTIL = Decided(most=300)
REPLICATIONS, START, ELSEWHERE = 300, 200_000, 1_000_000
LAWS = {
    "normal": lambda rng, size: rng.standard_normal(size),
    "Student, 5 degrees of freedom": lambda rng, size: rng.standard_t(5, size),
    "exponential": lambda rng, size: rng.exponential(size=size) - 1,
}
CLAIM = ["experiment=main", "algo=df_ogd,df_ftpl,pf_ogd,spo", "metrics=basic", "seeds=140000-140049",
         "until=decided", "until.by=avg_cost", "until.baseline=[pf_ogd,spo]", "until.margin=0.001"]  # fmt: skip


class OtherDraws(Job):
    """The same rounds, with the algorithm's own draws of other seeds."""

    def draw_block(self, start: int, stop: int) -> tuple[Rounds, dict[str, np.ndarray]]:
        others = tuple(seed + ELSEWHERE for seed in self.seeds)
        data, _ = super().draw_block(start, stop)
        return data, draw_all(others, self.algorithm.draws(), start, stop)


def equal() -> None:
    """Writes docs/data/equal.csv."""
    rows = [judge("`df_ogd` and itself with other draws", map(replicate, range(REPLICATIONS)))]
    for number, (name, law) in enumerate(LAWS.items()):
        rng = np.random.default_rng([32, number])
        rows.append(judge(f"differences: {name}", (law(rng, UNTIL.most) for _ in range(2000))))
    write(pd.DataFrame(rows), "equal")


@cache
def job_of() -> Job:
    """DF-OGD with K = 5 for 100 rounds."""
    return build(compose_job(["algo=df_ogd", "horizon.rounds=100", "horizon.rows=2"]))


def replicate(number: int) -> np.ndarray:
    """Paired differences in average cost, on seeds of this replication alone."""
    first = START + UNTIL.most * number
    job = replace(job_of(), seeds=tuple(range(first, first + UNTIL.most)))
    other = OtherDraws(**vars(job))
    ours, theirs = (simulate(one).table["avg_cost"][:, -1] for one in (job, other))
    return ours - theirs


def judge(pair: str, replications) -> dict[str, object]:
    """The number of replications declared different, by each rule."""
    found = {
        "pair": pair,
        "replications": 0,
        "most": UNTIL.most,
        "decided": 0,
        "looks": 0,
        "each": 0,
    }
    counts = np.arange(1, UNTIL.most + 1)
    quantiles = np.array([0.0, *(student_quantile(count - 1) for count in counts[1:])])
    for differences in replications:
        means = differences.cumsum() / counts
        squares = (differences**2).cumsum() - counts * means**2
        half = quantiles * np.sqrt(squares / np.maximum(counts - 1, 1) / counts)
        wrong = np.abs(means) > half
        assert np.isclose(half[-1], mean_ci95(differences)[1])
        verdict = decide(differences, UNTIL.looks(), UNTIL.margin, UNTIL.error).verdict
        found["replications"] += 1
        found["decided"] += verdict != "undecided"
        found["looks"] += bool(wrong[np.array(UNTIL.looks()) - 1].any())
        found["each"] += bool(wrong[9:].any())
    return found


def claim(outputs: str = "outputs") -> None:
    """Writes docs/data/verdict.json: the verdicts and, for a fresh run, their processor time."""
    odfl("run", "-m", *CLAIM, "sweep=documents-verdict", f"outputs={outputs}")
    sweep = Path(outputs, "sweeps", "documents-verdict")
    verdicts = json.loads((sweep / "verdict.json").read_text())
    used = getrusage(RUSAGE_CHILDREN)
    verdicts["minutes"] = round((used.ru_utime + used.ru_stime) / 60, 1)
    for pair in verdicts["pairs"]:
        pair.pop("runs")
        pair["difference"] = float(f"{pair['difference']:.6g}")
        pair["interval"] = [float(f"{end:.6g}") for end in pair["interval"]]
    verdicts["command"] = " ".join(["odfl run -m", *CLAIM])
    (DATA / "verdict.json").write_text(json.dumps(verdicts, indent=1) + "\n")


if __name__ == "__main__":
    {"equal": equal, "claim": claim}[sys.argv[1]](*sys.argv[2:])
