"""The worst decision within κ, against an independent solver."""

import numpy as np
import pytest
from scipy.optimize import linprog
from support.problems import composed_job

from odfl_cli.core.errors import UserError
from odfl_cli.problem.polytopes.box import Box
from odfl_cli.problem.polytopes.simplex import Simplex
from odfl_cli.problem.problem import worst_within
from odfl_cli.runs.simulate import simulate


@pytest.mark.parametrize("polytope", [Simplex(dimension=5), Box(dimension=5)], ids=str)
@pytest.mark.parametrize("kappa", [0.01, 0.3, 100.0])
def test_no_decision_within_kappa_costs_more(polytope, kappa):
    rng = np.random.default_rng(7)
    prediction, means = rng.normal(size=(2, 20, 5))
    worst = worst_within(polytope, prediction, means, kappa)
    best = polytope.minimise(prediction)
    faces, limits = polytope.faces()
    for g, m, w, least in zip(prediction, means, worst, best, strict=True):
        within = np.vstack([faces, g]), np.append(limits, g @ least + kappa)
        answer = linprog(-m, *within, *polytope.equalities(), bounds=(None, None))
        assert m @ w == pytest.approx(-answer.fun, abs=1e-7)
        assert g @ (w - least) <= kappa + 1e-9


def test_the_worst_costs_more_than_a_step_along_a_line():
    words = ("algo=df_ogd", "horizon.rounds=60", "seeds=3", "kappa=0.1")
    line, worst = (
        simulate(composed_job(*words, f"kappa_rule={rule}")).table for rule in ("line", "worst")
    )
    assert (worst["avg_mean_cost"][:, -1] > line["avg_mean_cost"][:, -1] + 0.01).all()
    assert worst["kappa_gap"].max() <= 0.1 + 1e-9


def test_who_does_not_know_the_law_cannot_know_the_worst():
    with pytest.raises(UserError, match="kappa_rule=worst: the data's law and one learner"):
        composed_job("algo=vote", "kappa=0.1", "kappa_rule=worst")
    job = composed_job("kappa=0.1", "kappa_rule=worst", "metrics=regret")
    with pytest.raises(UserError, match="choose metrics=basic"):
        job.metrics.columns(job.environment, job.algorithm)
