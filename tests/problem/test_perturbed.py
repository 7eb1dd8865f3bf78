"""Smoothing by noise: against long averages, their finite differences, and the softmax."""

import numpy as np
import pytest
import torch
from support.problems import composed_job, make_problem
from support.samples import some_of
from support.solvers import tour

from odfl_cli.core.errors import UserError
from odfl_cli.problem.polytopes.box import Box
from odfl_cli.problem.polytopes.simplex import Simplex
from odfl_cli.problem.polytopes.solver import Solver
from odfl_cli.problem.regularizers.base import pull_back
from odfl_cli.problem.regularizers.entropy import Entropy
from odfl_cli.problem.regularizers.perturbed import Perturbed
from odfl_cli.problem.surrogate import SmoothedCost
from odfl_cli.runs.simulate import simulate

RNG = np.random.default_rng(5)
G, V = RNG.normal(size=(2, 4)), RNG.normal(size=(2, 4))
ALPHA = 0.7


def draw_noise(polytope, samples, noise="normal", lead=(), seed=3):
    """The regulariser with draws of its own."""
    regularizer, rng = (
        Perturbed(polytope=polytope, samples=samples, noise=noise),
        np.random.default_rng(seed),
    )
    shape = (*lead, *regularizer.draw.shape)
    draws = rng.normal(size=shape) if noise == "normal" else rng.random(shape)
    return regularizer.with_draws(draws)


def test_gumbel_noise_on_the_simplex_is_the_softmax():
    """The value and the product with the Jacobian agree to four standard errors of 200,000 draws."""
    simplex = Simplex(dimension=4)
    noisy, exact = draw_noise(simplex, 200_000, "gumbel"), Entropy(polytope=simplex)
    softmax = exact.smooth(G, ALPHA)
    error = np.sqrt(softmax * (1 - softmax) / 200_000)
    assert (np.abs(noisy.smooth(G, ALPHA) - softmax) < 4 * error).all()
    product = pull_back(noisy, G, ALPHA, V)
    np.testing.assert_allclose(product, exact.vjp(softmax, ALPHA, V), atol=0.03)


def test_gumbel_noise_on_the_simplex_has_the_width_ln_d():
    n = Perturbed(polytope=Simplex(dimension=6), noise="gumbel", samples=4).suboptimality
    assert n == pytest.approx(np.log(6), abs=0.3)  # of 64 draws


@pytest.mark.parametrize("noise", ["normal", "gumbel"])
@pytest.mark.parametrize("polytope", [Simplex(dimension=4), Box(dimension=4)])
def test_the_product_is_the_slope_of_a_long_average(polytope, noise):
    """The central difference of w̃ by 400,000 draws with common random numbers."""
    noisy, v, step = draw_noise(polytope, 400_000, noise), V[0], 0.2
    product = pull_back(noisy, G[0], ALPHA, v)
    for i, unit in enumerate(np.eye(4)):
        up, down = (noisy.smooth(G[0] + sign * step * unit, ALPHA) for sign in (1, -1))
        assert product[i] == pytest.approx((up - down) @ v / (2 * step), abs=0.02)


@pytest.mark.parametrize(("noise", "samples"), [("normal", 2), ("normal", 8), ("gumbel", 8)])
def test_few_draws_are_unbiased_and_vary_as_stated(noise, samples):
    """The mean of 20,000 estimates is that of a long one; normal: variance ≤ D²/(2α²·samples)."""
    simplex, g, v = Simplex(dimension=4), G[0], V[0]
    many = draw_noise(simplex, samples, noise, lead=(20_000,))
    estimates = pull_back(many, np.broadcast_to(g, (20_000, 4)), ALPHA, v)
    long = pull_back(draw_noise(simplex, 400_000, noise, seed=4), g, ALPHA, v)
    error = estimates.std(0) / np.sqrt(20_000)
    assert (np.abs(estimates.mean(0) - long) < 4 * error + 0.01).all()
    if noise == "normal":
        assert (estimates.var(0) <= np.ptp(v) ** 2 / (2 * ALPHA**2 * samples)).all()


@pytest.mark.parametrize("polytope", [Simplex(dimension=4), Box(dimension=4, lower=-1.0)])
def test_smoothing_costs_at_most_n_alpha(polytope):
    noisy = draw_noise(polytope, 20_000)
    for g in RNG.normal(size=(20, 4)):
        gap = g @ (noisy.smooth(g, ALPHA) - polytope.minimise(g))
        assert -1e-12 <= gap <= 1.2 * noisy.suboptimality * ALPHA  # n is the mean of 64 draws


def test_equal_costs_give_exactly_zero():
    noisy = draw_noise(Simplex(dimension=4), 8, lead=(2,))
    assert not pull_back(noisy, G, ALPHA, np.full((2, 4), 0.3)).any()


def test_seeds_rounds_and_candidates_each_have_their_place():
    """Draws [S, 1, …] of a sum over rounds: g [candidates, S, rounds, d] as row by row."""
    simplex = Simplex(dimension=4)
    draws = RNG.normal(size=(3, 1, 4, 4))
    regularizer, g, v = (
        Perturbed(polytope=simplex),
        RNG.normal(size=(2, 3, 5, 4)),
        RNG.normal(size=4),
    )
    alpha = np.full((3, 1, 1), 0.4)
    together = regularizer.with_draws(draws)
    for place in np.ndindex(2, 3, 5):
        alone = regularizer.with_draws(draws[place[1], 0])
        np.testing.assert_array_equal(together.smooth(g, alpha)[place], alone.smooth(g[place], 0.4))
        np.testing.assert_allclose(
            pull_back(together, g, alpha, v)[place], pull_back(alone, g[place], 0.4, v), rtol=1e-13
        )


def test_torch_agrees():
    regularizer, draws = Perturbed(polytope=Simplex(dimension=4)), RNG.normal(size=(2, 4, 4))
    tensors = [torch.from_numpy(values) for values in (draws, G, V)]
    alpha = np.full((2, 1), 0.4)
    product = pull_back(
        regularizer.with_draws(tensors[0]), tensors[1], torch.from_numpy(alpha), tensors[2]
    )
    expected = pull_back(regularizer.with_draws(draws), G, alpha, V)
    np.testing.assert_allclose(product.numpy(), expected, rtol=1e-13)


def test_a_learner_that_hands_on_no_draws_is_told_so():
    problem = make_problem()
    problem = type(problem)(
        **{**problem.__dict__, "regularizer": Perturbed(polytope=problem.polytope)}
    )
    X, costs = RNG.normal(size=(2, 4, 3)), RNG.random((2, 4))
    with pytest.raises(UserError, match=r"regularizer=perturbed: .* smoothing_draws"):
        SmoothedCost(problem, X, costs, 0.5).gradient(np.zeros((2, 3)))


def test_gumbel_needs_two_pairs():
    with pytest.raises(ValueError, match="gumbel needs 4"):
        Perturbed(polytope=Simplex(dimension=3), samples=2, noise="gumbel")


@pytest.mark.parametrize("algo", some_of(["df_ogd", "df_ftpl", "ogd", "fenchel_young"], 2))
def test_a_seed_does_not_see_the_others(algo):
    chosen = (f"algo={algo}", "polytope=solver", "polytope.solve=support.solvers.tour", "data.items=15",
              "horizon.rounds=5", "regularizer.samples=4")  # fmt: skip
    tables = [
        simulate(composed_job(*chosen, f"seeds={seeds}")).table for seeds in ("[4,1,7]", "[1]")
    ]
    for column, values in tables[1].items():
        np.testing.assert_array_equal(values[0], tables[0][column][1], err_msg=column)


def test_a_set_without_faces_has_a_width():
    n = Perturbed(polytope=Solver(dimension=15, solve=tour)).suboptimality
    assert 2.0 < n < 10.0
