"""Claims about single rounds: Lipschitz constants, suboptimality and margins on samples."""

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from odfl_cli.claims.verdict import Estimate, Rule, at_most
from odfl_cli.config.compose import compose_job
from odfl_cli.metrics.theory.constants import check_lipschitz, check_suboptimality
from odfl_cli.metrics.theory.margin import check_margin, gaussian_margin, margin_sample
from odfl_cli.metrics.theory.sample import on_the_sphere, sample_rounds
from odfl_cli.runs.build import build
from odfl_cli.runs.simulate import Job

ALPHAS = (0.01, 0.1, 1.0)
SETTINGS = {
    "entropy on the simplex": ("data.items=5",),
    "log barrier on the simplex": ("data.items=5", "regularizer=log_barrier"),
    "log barrier on a knapsack": (
        "data=polynomial",
        "data.items=20",
        "data.maximise=true",
        "polytope=knapsack",
        "regularizer=log_barrier",
        "theta_radius=10",
    ),
    "log barrier on 5×5 paths": (
        "data=polynomial",
        "data.items=40",
        "polytope=shortest_path",
        "regularizer=log_barrier",
        "theta_radius=10",
    ),
}


class Statement(NamedTuple):
    """A lemma that is checked on sampled rounds: the largest share of what it allows."""

    name: str
    text: str
    where: str
    measure: Callable[[int], Estimate]
    rule: Rule


def statements() -> Iterator[Statement]:
    """All of them."""
    for words, overrides in SETTINGS.items():
        for check, text, where in (
            (check_lipschitz, "f̃ is Lipschitz as stated", "Lipschitz lemmas"),
            (check_suboptimality, "w̃ is within nα, or α ln d, of the best", "Suboptimality lemmas"),
        ):
            yield Statement(
                f"{check.__name__}/{words}",
                f"{text}, {words}: largest share",
                where,
                partial(_largest, check, overrides),
                at_most(1.0),
            )
    yield Statement(
        "margin/gaussian",
        "margins of Gaussian X obey the proposition: largest share",
        "Proposition on margins",
        _gaussian_margins,
        at_most(1.0),
    )


def _job(overrides: tuple[str, ...]) -> Job:
    return build(compose_job([*overrides, "seeds=8"]))


def _largest(check: Callable[..., float], overrides: tuple[str, ...], size: int) -> Estimate:
    job = _job(overrides)
    sample = sample_rounds(job.environment, job.algorithm.problem, job.seeds, size)
    worst = max(check(sample, alpha) for alpha in ALPHAS)
    return Estimate(worst, math.nan, len(ALPHAS) * len(sample.X))


def _gaussian_margins(size: int) -> Estimate:
    """Independent standard normal X, the case of the proposition: ρ = 0."""
    job = _job(("data.items=5", "data.rho=0"))
    problem = job.algorithm.problem
    sample = sample_rounds(job.environment, problem, job.seeds, size)
    theta = on_the_sphere(problem, 8)[:, None, :]
    margins = margin_sample(problem, sample.X, theta)
    curve = gaussian_margin(np.eye(problem.items), problem.theta_set.radius)
    return Estimate(check_margin(margins, curve), math.nan, margins.size)
