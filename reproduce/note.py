"""The measurements and the figure of docs/df-moments.md that need only the angle of a linear rule.

`python reproduce/note.py run [NAME …]` writes docs/data/note_NAME.csv, `plot` draws docs/moments_rates.png;
the names are robust, ladder, classes and rates. Seeds are from 120001 on, which chose nothing; the step
of the online baseline was chosen on seeds 1000 to 1004 (`python reproduce/note.py tune`).
"""

import sys
from collections.abc import Callable
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
from collect import DATA, write
from scipy.linalg import solve
from single_index import LINKS, SingleIndex, average, cosine, play

SEEDS = tuple(range(120001, 120021))
TUNING = tuple(range(1000, 1005))
ROUNDS = 2000
SPOILT = {
    "normal noise": SingleIndex(),
    "Cauchy noise": SingleIndex(noise="cauchy"),
    "one cost of 10⁶": SingleIndex(spoilt="outlier"),
    "one round × 10⁶": SingleIndex(spoilt="round"),
    "common shocks": SingleIndex(spoilt="shocks"),
}
LEARNERS = {
    "df_moments": ["algo=df_moments"],
    "not robust": ["algo=df_moments", "algo.robust=false"],
    "df_ogd": ["algo=df_ogd"],
    "spo": ["algo=spo"],
    "rls": ["algo=rls"],
}
LADDER = ("slope", "curvature", "Hermite 3", "Hermite 4")
SLICES = 10
RUNGS = (10, 40)
"""The numbers of parameters of the ladder."""
STEPS = (0.03, 0.1, 0.3, 1.0)
STEP = 0.3
"""The step of the online baseline, chosen by `tune`."""
ITEMS, PARAMETERS, HORIZONS = (5, 20, 80), (5, 10, 20, 40), (512, 1024, 2048, 4096)
VARIANTS = {
    "the box": ["algo.refine=true"],
    "one memory": ["algo.memories=[]"],
    "without refinement": ["algo.refine=false"],
}
"""The default, and without the rules that the proposition does not cover."""
SMALL = 0.1
"""Slopes are fitted for √(m/(KT)) up to this."""
FEW = {"items": 10, "rounds": 200}
WIDTHS, RIDGES = (5, 10, 20, 40, 80), (1.0, 10.0, 100.0, 1000.0)


def robust() -> pd.DataFrame:
    """The average expected cost in every spoilt world; uniform play pays 0."""
    rows = []
    for name, world in SPOILT.items():
        ranked = SingleIndex(noise=world.noise, spoilt=world.spoilt, target="rank")
        for learner, data in [*((one, world) for one in LEARNERS), ("not robust, ranks", ranked)]:
            t, found = play(data, SEEDS, ROUNDS, *LEARNERS[learner.removesuffix(", ranks")])
            costs = average(t, world.expected_cost(found), ROUNDS)
            rows += [(name, learner, seed, x) for seed, x in zip(SEEDS, costs, strict=True)]
    return pd.DataFrame(rows, columns=["world", "algo", "seed", "cost"])


def ladder() -> pd.DataFrame:
    """Final ρ^k, the share of θ*'s gain over chance, for links whose first coefficient is the kth."""
    rows, seeds = [], SEEDS[:10]
    for m, (k, link) in product(RUNGS, enumerate(LADDER, 1)):
        world = SingleIndex(features=m, link=link)
        found = {
            name: play(world, seeds, ROUNDS, *overrides, rows=2)[1][:, -1]
            for name, overrides in LEARNERS.items()
        }
        for name, estimate in BASELINES.items():
            found[name] = np.array([baseline(world, seed, estimate) for seed in seeds])
        for name, cosines in found.items():
            rows += [(m, link, name, s, x**k) for s, x in zip(seeds, cosines, strict=True)]
    return pd.DataFrame(rows, columns=["m", "link", "algo", "seed", "share"])


def baseline(world: SingleIndex, seed: int, estimate: Callable[..., np.ndarray]) -> float:
    """The cosine of a direction estimated from all rounds, with the sign of least squares."""
    X, costs = (values[0] for values in world.rounds((seed,), 0, ROUNDS))
    u = estimate(world, X, costs)
    return float(cosine(u, world.theta_star((seed,))[0]))


def hessian_direction(world: SingleIndex, X: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """Principal Hessian directions (Li 1992) of the residuals: the lowest eigenvector."""
    x, y = whiten(X), costs.ravel() - costs.mean()
    b = x.T @ y / len(y)
    return orient(np.linalg.eigh((x * (y - x @ b)[:, None]).T @ x)[1][:, 0], b)


def average_variance(world: SingleIndex, X: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """SAVE (Cook and Weisberg 1991) with slices of as many items each."""
    x, y = whiten(X), costs.ravel()
    matrix = np.zeros((x.shape[1], x.shape[1]))
    for part in np.array_split(np.argsort(y, kind="stable"), SLICES):
        deviation = np.eye(x.shape[1]) - np.cov(x[part].T)
        matrix += deviation @ deviation
    return orient(np.linalg.eigh(matrix)[1][:, -1], x.T @ (y - y.mean()))


def online_index(
    world: SingleIndex, X: np.ndarray, costs: np.ndarray, step: float = STEP
) -> np.ndarray:
    """Gradient descent on squared errors over the sphere, one step per round, with a known link."""
    link, u = LINKS[world.link], np.random.default_rng(0).normal(size=X.shape[-1])
    u /= np.linalg.norm(u)
    for t, (x, y) in enumerate(zip(X, costs, strict=True), 1):
        s = x @ u
        gradient = -x.T @ ((y - link.at(s)) * link.slope(s)) / len(y)
        u = u - step / np.sqrt(t) * (gradient - (gradient @ u) * u)
        u /= np.linalg.norm(u)
    return u


BASELINES = {
    "principal Hessian directions": hessian_direction,
    "SAVE": average_variance,
    "online single index, link known": online_index,
}


def whiten(X: np.ndarray) -> np.ndarray:
    """All items, centred, with their covariance made I, [N, m]."""
    x = X.reshape(-1, X.shape[-1])
    x = x - x.mean(0)
    return x @ np.linalg.inv(np.linalg.cholesky(x.T @ x / len(x))).T


def orient(u: np.ndarray, b: np.ndarray) -> np.ndarray:
    """±u so that ⟨u, b⟩ ≥ 0."""
    return u if u @ b >= 0 else -u


def tune() -> None:
    """Prints the mean share over the ladder for every step of the online baseline."""
    for m, step in product(RUNGS, STEPS):
        shares = [
            baseline(SingleIndex(features=m, link=link), seed, partial(online_index, step=step))
            ** k
            for k, link in enumerate(LADDER, 1)
            for seed in TUNING
        ]
        print(m, step, np.round(np.reshape(shares, (len(LADDER), -1)).mean(1), 3))


def classes() -> pd.DataFrame:
    """Expected costs after few rounds: a linear rule against least squares with all products of features."""
    rows, seeds = [], SEEDS[:5]
    for m in WIDTHS:
        world = SingleIndex(FEW["items"], m, link="bump", noise="bernoulli")
        _, found = play(world, seeds, FEW["rounds"], "algo=df_moments", rows=2)
        for seed, cost in zip(seeds, world.expected_cost(found[:, -1]), strict=True):
            rows.append((m, "df_moments", seed, cost))
            rows.append((m, "quadratic", seed, min(quadratic_costs(world, seed))))
        rows.append((m, "linear, θ* known", 0, float(world.expected_cost(np.ones(1))[0])))
    return pd.DataFrame(rows, columns=["m", "rule", "seed", "cost"])


def quadratic_costs(world: SingleIndex, seed: int) -> list[float]:
    """The cost on new rounds of ridge regression on 1, x and x⊗x, for every ridge."""
    T = FEW["rounds"]
    X, costs = (values[0] for values in world.rounds((seed,), 0, T))
    x, kernel = X.reshape(-1, X.shape[-1]), lambda a, b: (1.0 + a @ b.T) ** 2
    new = world.rounds((seed,), T, T + 1000).X[0]
    means = LINKS[world.link].at(new @ world.theta_star((seed,))[0])
    gram, across = kernel(x, x), kernel(new.reshape(-1, x.shape[1]), x)
    centred, paid = costs.ravel() - costs.mean(), []
    for ridge in RIDGES:
        weights = solve(gram + ridge * np.eye(len(x)), centred, assume_a="pos")
        chosen = (across @ weights).reshape(means.shape).argmin(-1)
        paid.append(float(np.take_along_axis(means, chosen[:, None], -1).mean()))
    return paid


def rates(variants: dict[str, list[str]] = VARIANTS) -> pd.DataFrame:
    """The average regret of DF-Moments after T rounds, over K, m and T."""
    rows, seeds = [], SEEDS[:10]
    for (name, overrides), K, m in product(variants.items(), ITEMS, PARAMETERS):
        world = SingleIndex(K, m, link="bump", noise="bernoulli")
        t, found = play(world, seeds, max(HORIZONS), "algo=df_moments", *overrides, rows=400)
        excess = world.expected_cost(found) - world.expected_cost(np.ones(1))
        for T in HORIZONS:
            regret = average(t, excess, T)
            rows += [(name, K, m, T, s, x) for s, x in zip(seeds, regret, strict=True)]
    return pd.DataFrame(rows, columns=["variant", "K", "m", "T", "seed", "regret"])


def plot() -> None:
    """Draws docs/moments_rates.png from docs/data/note_rates.csv."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from odfl_cli.plotting.style import theme

    data = pd.read_csv(DATA / "note_rates.csv").query("variant == 'the box'")
    colours, marks = ("#0072B2", "#D55E00", "#009E73"), "o^sD"
    with plt.rc_context(theme()):
        figure, axes = plt.subplots(figsize=(6.9, 3.8), layout="constrained")
        for (K, m), cell in data.groupby(["K", "m"]):
            means = cell.groupby("T")["regret"].mean()
            look = {"color": colours[ITEMS.index(K)], "marker": marks[PARAMETERS.index(m)]}
            size = np.sqrt(m / (K * means.index.to_numpy(float)))
            axes.plot(size, means, **look, ms=4, lw=0.8, label=f"K = {K}, m = {m}")
        ends = np.array([0.004, 0.25])
        axes.plot(ends, 0.3 * (ends / ends[1]) ** 2, color="grey", ls="--", lw=1, label="slope 2")
        axes.axvline(SMALL, color="grey", ls=":", lw=1)
        axes.set(xscale="log", yscale="log", xlabel=r"$\sqrt{m/(KT)}$")
        axes.set_ylabel("average regret $R_T/T$")
        axes.set_title(f"T from {min(HORIZONS)} to {max(HORIZONS)}, {data.seed.nunique()} seeds")
        figure.legend(loc="outside right center", fontsize=7)
        figure.savefig(DATA.parent / "moments_rates.png", dpi=200)


MEASURED = {"robust": robust, "ladder": ladder, "classes": classes, "rates": rates}

if __name__ == "__main__":
    match sys.argv[1:]:
        case ["run", *names]:
            for name in names or MEASURED:
                write(MEASURED[name](), f"note_{name}")
        case ["tune"]:
            tune()
        case ["plot"]:
            plot()
        case _:
            sys.exit(__doc__)
