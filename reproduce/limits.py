"""Expected cost against t at K = 5: all algorithms, and three limits of learning from t rounds.

`python reproduce/limits.py run` writes docs/data/limits.csv, `python reproduce/limits.py plot` docs/limits.png.
At round t the limits play the best parameter by the first t rounds: the parameter of least realised
decision cost (searched from θ*, the best start there is), the lowest eigenvector of the second
moment, and the least-squares fit of the true link.
"""

import sys
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
from scipy.optimize import least_squares

from odfl_cli.config.compose import compose_job
from odfl_cli.environments.base import Rounds
from odfl_cli.environments.sin4 import Sin4
from odfl_cli.environments.sin4_law import expected_cost
from odfl_cli.metrics.comparators import find_comparator
from odfl_cli.metrics.losses import Losses, losses_for
from odfl_cli.plotting.style import GREY, LINE_STYLES, theme
from odfl_cli.runs.build import build
from odfl_cli.runs.simulate import Job, simulate

DOCS = Path(__file__).parents[1] / "docs"
SEEDS = tuple(range(70001, 70006))
ALGORITHMS = ("df_moments", "df_ogd", "df_ftpl", "pf_ogd", "spo", "rls")
TIMES = (100, 300, 1000, 2000, 5000)
SAMPLE, STEPS = 4000, 64
LIMITS = {
    "minimiser": "limit: least realised decision cost",
    "second": "limit: second moment",
    "link": "limit: known link",
}
DASHES = {"minimiser": (0, (6, 2)), "second": (0, (3, 1.5)), "link": (0, (1, 1))}


def run() -> None:
    """Writes rows curve, seed, t, excess: expected cost above that of θ*."""
    rows = []
    for algo in ALGORITHMS:
        job = job_of(algo)
        floor = {seed: excesses(job, seed, {})["floor"] for seed in job.seeds}
        table = simulate(job).table
        for row, seed in enumerate(job.seeds):
            for t, cost in zip(table["t"][row], table["expected_cost"][row], strict=True):
                if np.isfinite(cost):
                    rows.append((algo, seed, int(t), cost - floor[seed]))
    job = job_of("df_ogd")
    for seed in job.seeds:
        for t in TIMES:
            found = excesses(job, seed, limits(job, seed, t))
            rows += [(name, seed, t, found[name]) for name in LIMITS]
    frame = pd.DataFrame(rows, columns=["curve", "seed", "t", "excess"])
    frame.to_csv(DOCS / "data" / "limits.csv", index=False, float_format="%.6g")


def job_of(algo: str) -> Job:
    """The paper's main data with expected costs."""
    seeds = f"seeds=[{','.join(map(str, SEEDS))}]"
    metrics = ("metrics=regret", f"metrics.sample={SAMPLE}", "metrics.bound=false")
    return build(compose_job((f"algo={algo}", "horizon=paper", seeds, *metrics)))


def excesses(job: Job, seed: int, thetas: dict[str, np.ndarray]) -> dict[str, float]:
    """The expected cost of every parameter above that of θ*, which is `floor`."""
    environment = job.environment
    assert isinstance(environment, Sin4)
    X, costs = (values[0] for values in environment.fresh((seed,), 0, SAMPLE))
    losses = losses_for(job.algorithm.problem)
    both = np.stack([environment.theta_star((seed,))[0], *thetas.values()])
    floor, *others = losses.average(both, Rounds(X, costs))
    return {"floor": floor} | {
        name: cost - floor for name, cost in zip(thetas, others, strict=True)
    }


def limits(job: Job, seed: int, t: int) -> dict[str, np.ndarray]:
    """The parameters that the first t rounds give."""
    environment = job.environment
    assert isinstance(environment, Sin4)
    rounds = Rounds(*(values[0] for values in environment.rounds((seed,), 0, t)))
    theta_star = environment.theta_star((seed,))[0]
    losses = losses_for(job.algorithm.problem)
    return {
        "minimiser": minimiser(losses, rounds, theta_star),
        "second": lowest_eigenvector(rounds),
        "link": fit_link(environment, rounds, theta_star),
    }


def minimiser(losses: Losses, rounds: Rounds, theta_star: np.ndarray) -> np.ndarray:
    """The parameter of least realised cost near θ*."""
    start = losses.problem.theta_set.project(1e9 * theta_star)
    rng = np.random.default_rng(0)
    near = [start, *(start + 0.3 * rng.normal(size=(15, len(start))) / len(start) ** 0.5)]
    starts = losses.problem.theta_set.project(1e9 * np.stack(near))
    return find_comparator(losses, rounds, starts, STEPS).theta


def lowest_eigenvector(rounds: Rounds) -> np.ndarray:
    """The lowest eigenvector of Σ (c_i − c̄) x_i x_iᵀ; the features have covariance I."""
    centred = rounds.costs - rounds.costs.mean(-1, keepdims=True)
    second = np.einsum("tk,tkp,tkq->pq", centred, rounds.X, rounds.X)
    return np.linalg.eigh(second)[1][:, 0]


def fit_link(environment: Sin4, rounds: Rounds, theta_star: np.ndarray) -> np.ndarray:
    """The θ whose E[c | x] fits the costs best."""
    weight, law = environment.zeta_weight, environment.cost_law()
    deviation = weight * np.sqrt((rounds.X**2).sum(-1))
    reach, widest = 4.0 * float(np.linalg.norm(theta_star)), float(deviation.max())

    def residuals(theta: np.ndarray) -> np.ndarray:
        mean = (1.0 - weight) * (rounds.X @ theta)
        return (expected_cost(law, mean, deviation, reach, widest) - rounds.costs).ravel()

    return least_squares(residuals, theta_star, diff_step=1e-2, max_nfev=8).x


def plot() -> None:
    """Draws the figure from its data."""
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    data = pd.read_csv(DOCS / "data" / "limits.csv")
    with plt.rc_context(theme()):
        figure, axes = plt.subplots(figsize=(6.9, 3.8), layout="constrained")
        for name in (*ALGORITHMS, *LIMITS):
            means = data[data["curve"] == name].groupby("t")["excess"].mean()
            means = means[means.index >= 10]
            if name in LIMITS:
                axes.plot(means, "o", ls=DASHES[name], color=GREY, ms=3, label=LIMITS[name])
            else:
                look = LINE_STYLES[name]
                axes.plot(means, color=look.colour, ls=look.dashes, lw=look.width, label=look.name)
        axes.set(xscale="log", yscale="log", xlabel="round $t$")
        axes.set_ylabel(r"expected cost above $\theta^*$, $F(\theta_t)-F(\theta^*)$")
        axes.set_title(f"K = 5, T = 5000, {len(SEEDS)} seeds: what t rounds can teach")
        figure.legend(loc="outside right center", handlelength=3.5)  # several dashes of each kind
        figure.savefig(DOCS / "limits.png", dpi=200)


if __name__ == "__main__":
    {"run": run, "plot": plot}[sys.argv[1]]()
