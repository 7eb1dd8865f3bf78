"""Claims about single rounds: the paper's lemmas on samples, each with a control whose premise is ten times off."""

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from odfl_cli.config.compose import compose_job
from odfl_cli.metrics.theory.margin import gaussian_margin, margin_sample
from odfl_cli.metrics.theory.sample import on_the_sphere, sample_rounds
from odfl_cli.runs.build import build
from odfl_cli.runs.simulate import Job
from reproduce.claims.claim import SAMPLE, Claim, Estimate, Rule
from reproduce.claims.evidence import FIRST_SEED
from reproduce.claims.lemmas import (
    check_distance,
    check_expected_distance,
    check_lipschitz,
    check_margin,
    check_randomised_point,
    check_suboptimality,
    convexity_gap,
)

ALPHAS = (0.01, 0.1, 1.0)
SMOOTH = (0.1, 1.0)
"""The smoothing for which 256 values of δ are enough."""

POLYNOMIAL = ("data=polynomial", "regularizer=log_barrier", "theta_radius=10")
SETTINGS = {
    "entropy on the simplex": ("data.items=5",),
    "log barrier on the simplex": ("data.items=5", "regularizer=log_barrier"),
    "log barrier on a knapsack": (
        *POLYNOMIAL, "data.items=20", "data.maximise=true", "polytope=knapsack",
    ),
    "log barrier on 5×5 paths": (*POLYNOMIAL, "data.items=40", "polytope=shortest_path"),
}  # fmt: skip
SIMPLEX = ("entropy on the simplex", "log barrier on the simplex")
EXACT_MARGINS = (*SIMPLEX, "log barrier on 5×5 paths")

LEMMAS = (
    (check_lipschitz, "f̃ is Lipschitz as stated", "Lipschitz lemmas", tuple(SETTINGS)),
    (check_suboptimality, "w̃ is within nα, or α ln d, of the best", "Suboptimality lemmas", tuple(SETTINGS)),
    (check_distance, "a margin ε keeps ‖w̃ − w*‖₁ within 2nα/ε", "Lemmas from margin to distance", EXACT_MARGINS),
    (check_expected_distance, "E‖w̃ − w*‖₁ is as small as stated", "Lemmas on the expected distance", SIMPLEX),
)  # fmt: skip
SHARE = Rule("at most", 1.0)


def statements() -> Iterator[Claim]:
    """Yields all of them."""
    for check, text, where, settings in LEMMAS:
        for words in settings:
            yield _claim(
                check, words, f"{text}, {words}: largest share", where, ALPHAS,
                SHARE, 1.0, {"α ten times off": 10.0},
            )  # fmt: skip
    for words in SIMPLEX:
        yield _claim(
            check_randomised_point, words,
            f"⟨∇f̃(u), θ − ϑ⟩ is f̃(θ) − f̃(ϑ) on average over δ, {words}: largest error",
            "Lemma on the randomised point", SMOOTH,
            Rule("at most", 0.01), None, {"δ = 1": 1.0, "δ = 1/2": 0.5},
        )  # fmt: skip
        yield _claim(
            convexity_gap, words, f"f̃ is not convex, {words}: largest excess of a midpoint",
            "Section 3", ALPHAS, Rule("above", 1e-9), "smoothed", {"SPO+ loss": "spo"},
        )  # fmt: skip
    text, where = (
        "margins of Gaussian X obey the proposition: largest share",
        "Proposition on margins",
    )
    shorter = {"θ ten times shorter": 0.1}
    yield Claim("margin/gaussian", text, where, SAMPLE, _gaussian_margins, SHARE, 1.0, shorter)


def _claim(
    check: Callable[..., float],
    words: str,
    text: str,
    where: str,
    alphas: tuple[float, ...],
    *judged: Any,
) -> Claim:
    """A claim on the largest value of a check over the values of α; `judged`: rule, subject, controls."""
    measure = partial(_largest, check, words, alphas)
    return Claim(f"{check.__name__}/{words}", text, where, SAMPLE, measure, *judged)


def _job(overrides: tuple[str, ...]) -> Job:
    seeds = ",".join(str(FIRST_SEED + k) for k in range(8))
    return build(compose_job([*overrides, f"seeds=[{seeds}]"]))


def _largest(
    check: Callable[..., float], words: str, alphas: tuple[float, ...], size: int, subject: Any
) -> Estimate:
    """The largest value of a check over the values of α; `subject` is the last argument of the check."""
    job = _job(SETTINGS[words])
    sample = sample_rounds(job.environment, job.algorithm.problem, job.seeds, size)
    worst = max(check(sample, alpha, subject) for alpha in alphas)
    return Estimate(worst, math.nan, len(alphas) * len(sample.X))


def _gaussian_margins(size: int, length: float) -> Estimate:
    """Independent standard normal X, the case of the proposition: ρ = 0; θ is `length` times as long."""
    job = _job(("data.items=5", "data.rho=0"))
    problem = job.algorithm.problem
    sample = sample_rounds(job.environment, problem, job.seeds, size)
    theta = length * on_the_sphere(problem, 8)[:, None, :]
    margins = margin_sample(problem, sample.X, theta)
    curve = gaussian_margin(np.eye(problem.items), problem.theta_set.radius)
    return Estimate(check_margin(margins, curve), math.nan, margins.size)
