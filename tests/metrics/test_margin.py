"""Assumption 2 on distributions and polytopes where the answer is known."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from support.problems import make_problem

from odfl_cli.metrics.theory.margin import fit_margin, gaussian_margin, margin_sample
from odfl_cli.metrics.theory.theorems import Margin
from odfl_cli.problem.polytopes.box import Box
from odfl_cli.problem.polytopes.budget import Budget
from odfl_cli.problem.polytopes.simplex import Simplex
from odfl_cli.problem.regularizers.quadratic import Quadratic
from reproduce.claims.lemmas import check_margin

BINARY = list(itertools.product((0, 1), repeat=4))
VERTICES = {
    "simplex": (Simplex(dimension=4), [v for v in BINARY if sum(v) == 1]),
    "box": (Box(dimension=4), BINARY),
    "budget": (Budget(dimension=4, k=2), [v for v in BINARY if sum(v) <= 2]),
}


@pytest.mark.parametrize("name", VERTICES)
def test_margin_is_the_gap_between_the_two_best_vertices(name):
    polytope, vertices = VERTICES[name]
    vertices = [v for v in vertices if polytope.contains(np.array(v, dtype=float))]
    rng = np.random.default_rng(2)
    X, theta = rng.normal(size=(20, 4, 3)), rng.normal(size=(20, 3))
    problem = replace(
        make_problem(4, 3), polytope=polytope, regularizer=Quadratic(polytope=polytope)
    )
    found = margin_sample(problem, X, theta)
    values = np.sort(np.einsum("vd,ndp,np->nv", vertices, X, theta), axis=-1)
    np.testing.assert_allclose(found, values[:, 1] - values[:, 0], atol=1e-12)


@pytest.mark.parametrize("beta", [0.3, 0.6, 1.0])
@pytest.mark.parametrize("c0", [0.5, 4.0])
def test_known_exponents_are_found(beta, c0):
    """F(ε) = min(1, C_0 ε^β), by inversion."""
    uniform = np.random.default_rng(0).random(20_000)
    found = fit_margin((uniform / c0) ** (1 / beta))
    assert found.beta == pytest.approx(beta, rel=0.1)
    assert c0 * 0.75 < found.c0 < c0 * 2.5


def test_the_curve_is_an_envelope():
    """The curve lies above the distribution of every row, for rows of any law."""
    rng = np.random.default_rng(1)
    rows = np.abs(np.stack([rng.normal(size=500), rng.gamma(0.4, size=500), rng.random(500) * 3]))
    fitted = fit_margin(rows)
    for row in rows:
        ordered = np.sort(row)[9:]
        share = np.arange(10, 501) / 500
        assert (share <= fitted.curve(ordered) * (1 + 1e-12)).all()
        assert fit_margin(row).c0 <= fitted.c0 or fit_margin(row).beta > fitted.beta
    touching = [np.max(np.arange(10, 501) / 500 / fitted.curve(np.sort(row)[9:])) for row in rows]
    assert max(touching) == pytest.approx(1)


def test_an_exponent_above_one_counts_as_one():
    margins = np.random.default_rng(0).random(5000) ** (1 / 3)  # F(ε) = ε³
    fitted = fit_margin(margins)
    assert fitted.beta == 1
    assert fitted.c0 == pytest.approx(1, abs=0.01)


def test_margins_that_vanish_leave_no_curve():
    assert fit_margin(np.concatenate([np.zeros(20), np.ones(80)])).c0 == math.inf
    one_tie = np.concatenate([np.zeros(1), np.random.default_rng(0).random(999)])
    assert fit_margin(one_tie).c0 < 3


@pytest.mark.parametrize("d", [2, 5, 12])
def test_gaussian_constant_of_the_paper(d):
    assert gaussian_margin(np.eye(d)).c0 == pytest.approx(d * (d - 1) / (2 * math.sqrt(math.pi)))
    assert gaussian_margin(np.eye(d), norm=2.0).c0 == pytest.approx(
        gaussian_margin(np.eye(d)).c0 / 2
    )


@pytest.mark.parametrize("rho", [0.0, 0.8])
@pytest.mark.parametrize("d", [3, 6])
def test_gaussian_proposition_holds_on_samples(d, rho):
    covariance = rho ** np.abs(np.subtract.outer(np.arange(d), np.arange(d)))
    rng = np.random.default_rng(3)
    X = np.linalg.cholesky(covariance) @ rng.normal(size=(40_000, d, 3))
    theta = rng.normal(size=3)
    theta /= np.linalg.norm(theta)
    margins = margin_sample(make_problem(items=d, features=3), X, theta)
    claimed = gaussian_margin(covariance)
    assert check_margin(margins, claimed) <= 1
    assert check_margin(margins, Margin(claimed.c0 / (2 * d), 1.0)) > 1


def test_check_margin_reports_the_worst_ratio():
    margins = np.arange(1, 100_001) / 100_000  # F(ε) = ε
    assert check_margin(margins, Margin(2.0, 1.0)) == pytest.approx(0.5, abs=1e-3)
    assert check_margin(margins, Margin(0.5, 1.0)) == pytest.approx(2, abs=1e-2)
