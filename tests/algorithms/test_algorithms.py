"""Rounds recomputed by hand, seed by seed and number by number, beside the paper's boxes."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from pydantic import ValidationError
from support.playing import play
from support.problems import block_of, finite_difference, make_job, make_problem, random_rounds

from odfl_cli.algorithms.df_ftpl import DFFTPL
from odfl_cli.algorithms.df_ogd import DFOGD
from odfl_cli.algorithms.gradient import PFOGD, SPO, SPOPrinted, spo_plus_subgradient
from odfl_cli.algorithms.references import Clairvoyant, Frozen, Uniform
from odfl_cli.core.errors import UserError
from odfl_cli.problem.polytopes.simplex import Simplex
from odfl_cli.problem.problem import Horizon
from odfl_cli.runs.simulate import simulate
from reproduce.claims.lemmas import spo_plus_loss

# ---- the mathematics once more, in plain Python over lists ----


def inner(a, b):
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def times(X, theta):
    return [inner(row, theta) for row in X]


def multiply_transposed(X, v):
    return [math.fsum(X[i][j] * v[i] for i in range(len(X))) for j in range(len(X[0]))]


def minus(a, b, scale=1.0):
    return [x - scale * y for x, y in zip(a, b, strict=True)]


def into_ball(theta, radius):
    norm = math.sqrt(inner(theta, theta))
    return list(theta) if norm <= radius else [radius * x / norm for x in theta]


def vertex(costs):
    lowest = list(costs).index(min(costs))
    return [1.0 if i == lowest else 0.0 for i in range(len(costs))]


def smoothed_gradient(theta, X, c, alpha):
    """−(1/α) Xᵀ [w̃ ∘ (c − f̃)]."""
    weights = [math.exp(-g / alpha) for g in times(X, theta)]
    w = [x / math.fsum(weights) for x in weights]
    value = inner(c, w)
    pulled = [wi * (ci - value) for wi, ci in zip(w, c, strict=True)]
    return [-x / alpha for x in multiply_transposed(X, pulled)]


def assert_thetas(states, by_hand):
    """`by_hand` is [S][T][m]."""
    np.testing.assert_allclose(
        np.stack([state.theta for state in states], axis=1), by_hand, rtol=1e-11, atol=1e-14
    )
    assert [state.t for state in states] == list(range(1, len(states) + 1))


# ---- DF-OGD ----


@pytest.mark.parametrize("radius", [0.15, 5.0])
def test_df_ogd_three_rounds_by_hand(radius):
    steps, lr, c_alpha, c_eta, d, m = 2, 0.4, 0.8, 0.6, 4, 3
    problem = make_problem(items=d, features=m, radius=radius, steps=steps, lr=lr)
    algorithm = DFOGD(problem=problem, c_alpha=c_alpha, c_eta=c_eta)
    rounds = random_rounds(2, 3, d, m, seed=3)
    deltas = np.random.default_rng(4).random((2, 3))
    states = play(algorithm, rounds, {"df_ogd/delta": deltas})

    n = math.log(d)
    thetas, varthetas, path_lengths = [], [], []
    for s in range(2):
        theta, vartheta, P = [0.0] * m, [0.0] * m, 0.0
        thetas.append([])
        varthetas.append([])
        path_lengths.append([])
        for t in (1, 2, 3):
            X, c = rounds.X[s, t - 1].tolist(), rounds.costs[s, t - 1].tolist()
            alpha = c_alpha / math.sqrt(n) * t ** (-1 / 4) * (1 + P) ** (1 / 4)  # P_{t−1}
            before = vartheta
            for _ in range(steps):
                step = smoothed_gradient(vartheta, X, c, alpha)
                vartheta = into_ball(minus(vartheta, step, lr), radius)
            if t >= 2:  # P_1 = 0
                P += math.dist(vartheta, before)
            eta = c_eta / math.sqrt(n) * t ** (-3 / 4) * (1 + P) ** (3 / 4)  # P_t
            delta = deltas[s, t - 1]
            u = [v + delta * (x - v) for x, v in zip(theta, vartheta, strict=True)]
            theta = into_ball(minus(theta, smoothed_gradient(u, X, c, alpha), eta), radius)
            thetas[s].append(theta)
            varthetas[s].append(vartheta)
            path_lengths[s].append(P)
    assert_thetas(states, thetas)
    np.testing.assert_allclose(np.stack([x.vartheta for x in states], 1), varthetas, rtol=1e-11)
    np.testing.assert_allclose(
        np.stack([x.path_length for x in states], 1), path_lengths, rtol=1e-11
    )
    assert (states[0].path_length == 0).all()
    assert (states[0].vartheta != 0).all()  # the way from ϑ_0 = 0 to ϑ_1 exists and does not count
    assert (states[2].path_length > 0.01).all()


# ---- DF-FTPL ----


@pytest.mark.parametrize("radius", [0.3, 50.0])
def test_df_ftpl_three_rounds_by_hand(radius):
    steps, batch, lr, c_alpha, c_eta, d, m, T = 3, 2, 0.3, 0.5, 20.0, 4, 3, 3
    sizes = {"items": d, "features": m, "rounds": T, "radius": radius}
    rates = {"c_alpha": c_alpha, "c_eta": c_eta}
    job = make_job(DFFTPL, settings=rates, steps=steps, batch=batch, lr=lr, **sizes)
    rounds, draws = block_of(job, 0, T)
    states = play(job.algorithm, rounds, draws)

    n = math.log(d)
    alpha = c_alpha * m ** (3 / 4) * math.sqrt(n) / T ** (1 / 4)
    eta = c_eta * m ** (1 / 4) / T ** (3 / 4) / math.sqrt(n)
    thetas = []
    for s in range(2):
        theta = [0.0] * m
        thetas.append([])
        for t in range(1, T + 1):
            sigma = [x / eta for x in draws["df_ftpl/sigma"][s, t - 1]]
            for step in range(steps):
                gradient = [-x / t for x in sigma]
                for uniform in draws["df_ftpl/sample"][s, t - 1, step]:
                    i = math.floor(uniform * t)
                    one = smoothed_gradient(
                        theta, rounds.X[s, i].tolist(), rounds.costs[s, i].tolist(), alpha
                    )
                    gradient = [g + x / batch for g, x in zip(gradient, one, strict=True)]
                theta = into_ball(minus(theta, gradient, lr), radius)
            thetas[s].append(theta)
    assert_thetas(states, thetas)


def test_df_ftpl_perturbation_has_mean_one_over_eta():
    job = make_job(DFFTPL, seeds=tuple(range(50)), rounds=400, settings={"c_eta": 7.0})
    sigma = block_of(job, 0, 400)[1]["df_ftpl/sigma"] / job.algorithm.eta
    assert sigma.mean() == pytest.approx(1 / job.algorithm.eta, rel=4 / math.sqrt(sigma.size))


# ---- PF-OGD, SPO+, the printed SPO ----


@pytest.mark.parametrize("radius", [0.1, 50.0])
@pytest.mark.parametrize(
    ("kind", "gradient_in_prediction"),
    [
        (PFOGD, lambda g, c: minus([2 * x for x in g], c, 2)),
        (SPO, lambda g, c: minus([2 * x for x in vertex(c)], vertex(minus(minus(g, c), g, -1)), 2)),
        (SPOPrinted, lambda g, c: minus([0] * 4, vertex(g))),
    ],
)
def test_gradient_rounds_by_hand(kind, gradient_in_prediction, radius):
    """θ_{t+1} = Π_Θ(θ_t − η Xᵀ ∂ℓ/∂ĉ) for four rounds."""
    eta = 0.13
    algorithm = kind(problem=make_problem(items=4, features=3, radius=radius), eta=eta)
    rounds = random_rounds(2, 4, 4, 3, seed=8)
    thetas = []
    for s in range(2):
        theta = [0.0] * 3
        thetas.append([])
        for X, c in zip(rounds.X[s].tolist(), rounds.costs[s].tolist(), strict=True):
            step = multiply_transposed(X, gradient_in_prediction(times(X, theta), c))
            theta = into_ball(minus(theta, step, eta), radius)
            thetas[s].append(theta)
    assert_thetas(play(algorithm, rounds), thetas)


# ---- the SPO+ loss ----

vectors = hnp.arrays(float, 5, elements=st.floats(-10, 10))
SIMPLEX = Simplex(dimension=5)


def test_spo_descends_its_loss():
    X, c = (part[:, 0] for part in random_rounds(1, 1, 4, 3, seed=1))
    problem = make_problem(radius=100.0)
    theta = np.array([0.6, -0.5, 0.4])
    algorithm = SPO(problem=problem, eta=0.01)
    state = algorithm.init(1, None)._replace(theta=theta[None])
    moved = algorithm.update(state, X, c, {}).theta[0]
    slope = finite_difference(lambda at: spo_plus_loss(problem.polytope, X[0] @ at, c[0]), theta)
    assert np.abs(slope).max() > 0.1
    np.testing.assert_allclose((theta - moved) / 0.01, slope, rtol=1e-6)


def loss(prediction, costs):
    return float(spo_plus_loss(SIMPLEX, prediction, costs))


@given(prediction=vectors, c=vectors)
def test_spo_plus_by_its_definition(prediction, c):
    """The maximum of (c − 2ĉ)ᵀw is taken at a vertex."""
    best = int(c.argmin())
    expected = max(c - 2 * prediction) + 2 * prediction[best] - c[best]
    assert loss(prediction, c) == pytest.approx(expected, abs=1e-12)


@given(a=vectors, b=vectors, c=vectors)
def test_spo_plus_subgradient_inequality(a, b, c):
    tangent = loss(a, c) + spo_plus_subgradient(SIMPLEX, a, c) @ (b - a)
    assert loss(b, c) >= tangent - 1e-11


# ---- the floors ----


def test_a_frozen_learner_keeps_the_direction_of_its_first_draw():
    """θ is on the border of Θ from round 2 on, whatever it pays; another seed has another direction."""
    job = make_job(Frozen, seeds=(0, 1), rounds=30, items=4, features=3)
    first = simulate(replace(job, horizon=Horizon(rounds=1))).state
    last = simulate(job).state
    np.testing.assert_array_equal(last.theta, first.theta)
    np.testing.assert_allclose(
        np.linalg.norm(last.theta, axis=-1), job.algorithm.problem.theta_set.radius
    )
    assert np.abs(last.theta[0] - last.theta[1]).max() > 0.01


def test_uniform_pays_the_mean_cost_and_predicts_nothing():
    X, c = (part[:, 0] for part in random_rounds(3, 1, 4, 3))
    algorithm = Uniform(problem=make_problem())
    prediction, decision = algorithm.decide(algorithm.init(3, None), X)
    np.testing.assert_allclose((c * decision).sum(-1), c.mean(-1), rtol=1e-14)
    np.testing.assert_array_equal(prediction, np.zeros((3, 4)))


@pytest.mark.parametrize(("norm", "radius"), [(0.5, 1.0), (8.0, 2.0)])
def test_clairvoyant_plays_the_truth_for_ever(norm, radius):
    truth = np.random.default_rng(0).normal(size=(2, 3))
    truth *= norm / np.linalg.norm(truth, axis=1, keepdims=True)
    algorithm = Clairvoyant(problem=make_problem(radius=radius))
    state = algorithm.init(2, truth)
    played = truth * min(1.0, radius / norm)
    rounds = random_rounds(2, 3, 4, 3)
    for t in range(3):
        np.testing.assert_allclose(state.theta, played, rtol=1e-14)
        prediction, decision = algorithm.decide(state, rounds.X[:, t])
        for s in range(2):
            np.testing.assert_allclose(prediction[s], rounds.X[s, t] @ played[s], atol=1e-13)
            assert decision[s].argmax() == (rounds.X[s, t] @ truth[s]).argmin()
        state = algorithm.update(state, rounds.X[:, t], rounds.costs[:, t], {})


@pytest.mark.parametrize("truth", [None, np.ones((2, 7))], ids=["none", "another size"])
def test_clairvoyant_refuses_without_a_truth(truth):
    with pytest.raises(UserError, match="algo=clairvoyant"):
        Clairvoyant(problem=make_problem(features=3)).init(2, truth)


# ---- all of them ----


def test_all_play_the_best_response_to_their_prediction():
    """The decision is unregularised; with θ_1 = 0 all items tie and the first is played."""
    rounds = random_rounds(2, 1, 4, 3)
    for kind in (DFOGD, DFFTPL, PFOGD, SPO, SPOPrinted):
        algorithm = kind(problem=make_problem())
        state = algorithm.init(2, None)
        np.testing.assert_array_equal(state.theta, np.zeros((2, 3)))
        prediction, decision = algorithm.decide(state, rounds.X[:, 0])
        np.testing.assert_array_equal(prediction, np.zeros((2, 4)))
        np.testing.assert_array_equal(decision, [[1, 0, 0, 0]] * 2)
        theta = np.array([[1.0, -2.0, 0.5], [0.0, 1.0, 1.0]])
        prediction, decision = algorithm.decide(state._replace(theta=theta), rounds.X[:, 0])
        for s in range(2):
            expected = times(rounds.X[s, 0].tolist(), theta[s])
            np.testing.assert_allclose(prediction[s], expected, atol=1e-13)
            assert decision[s].tolist() == vertex(expected)


@pytest.mark.parametrize(
    ("kind", "key"),
    [*product((DFOGD, DFFTPL), ("c_alpha", "c_eta")), *product((PFOGD, SPO, SPOPrinted), ("eta",))],
)
@pytest.mark.parametrize("value", [0, -1.0, math.nan, math.inf, "fast"])
def test_rates_are_positive(kind, key, value):
    with pytest.raises(ValidationError, match=key):
        kind(problem=make_problem(), **{key: value})
