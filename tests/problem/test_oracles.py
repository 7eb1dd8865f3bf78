"""The oracles beside plain SGD: known minimisers, independent solvers, and each other."""

from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np
import pytest
import torch
from pydantic import ValidationError
from scipy.optimize import minimize
from support.problems import block_of, composed_job, make_problem, random_rounds
from support.samples import marked

from odfl_cli.core.errors import UserError
from odfl_cli.core.streams import Draw, draw
from odfl_cli.problem.ball import Ball
from odfl_cli.problem.oracles.base import OracleCall, uniform_in_ball
from odfl_cli.problem.oracles.descent import SGD, Adam, MultiStart
from odfl_cli.problem.oracles.exact import Exact, ball_grid, unit_directions
from odfl_cli.problem.oracles.lbfgs import LBFGS
from odfl_cli.problem.surrogate import PerturbedLeader, SmoothedCost
from odfl_cli.runs.simulate import simulate

ORACLES = {
    "sgd": SGD(steps=600, lr=0.1),
    "adam": Adam(steps=3000, lr=0.003),
    "lbfgs": LBFGS(steps=60),
    "multistart": MultiStart(steps=600, lr=0.1, starts=2),
    "exact": Exact(),
}


CENTRES = np.array([[0.3, -0.2, 0.5], [2.0, -1.0, 2.0]])  # one inside the unit ball, one outside


@dataclass
class Quadratic:
    """½ Σ_j curvature_j (θ_j − centre_j)² per seed; remembers the samples it was given."""

    curvature: np.ndarray
    centre: np.ndarray
    samples: list = field(default_factory=list)

    def value(self, theta):
        return 0.5 * (self.curvature * (theta - self.centre) ** 2).sum(-1)

    def gradient(self, theta, sample):
        self.samples.append(sample)
        return self.curvature * (theta - self.centre)


@dataclass
class Wells:
    """Per seed a deep well at `deep` and a shallow one at −`deep`."""

    deep: np.ndarray

    def value(self, theta):
        near, far = (((theta - at) ** 2).sum(-1) for at in (self.deep, -self.deep))
        return -2 * np.exp(-8 * near) - np.exp(-8 * far)

    def gradient(self, theta, sample):
        near, far = theta - self.deep, theta + self.deep
        weights = [a * np.exp(-8 * (x**2).sum(-1, keepdims=True)) for a, x in ((2, near), (1, far))]
        return 16 * (weights[0] * near + weights[1] * far)


def points(seeds: int, count: int, parameters: int, radius: float = 1.0) -> np.ndarray:
    normals = draw(tuple(range(seeds)), "test/starts", Draw("normal", (count, parameters + 2)))
    return uniform_in_ball(normals[:, 0], radius)


def solve(oracle, objective, start, points=None, radius=1.0):
    """The oracle's answer in the ball, without samples."""
    return oracle.minimise(OracleCall(objective, Ball(radius=radius), start, None, points))


def smoothed(seeds: int = 3, items: int = 5, features: int = 3, alpha: float = 0.3, seed: int = 0):
    X, c = (x[:, 0] for x in random_rounds(seeds, 1, items, features, seed))
    return SmoothedCost(make_problem(items, features), X, c, np.full((seeds, 1), alpha))


# ---- every oracle ----


@pytest.mark.parametrize("name", ORACLES)
def test_finds_the_minimiser_over_the_ball(name):
    """With equal curvature the constrained minimiser is the projection of the centre."""
    objective = Quadratic(np.ones(3), CENTRES)
    found = solve(ORACLES[name], objective, np.zeros((2, 3)), points(2, 2, 3))
    np.testing.assert_allclose(found, [[0.3, -0.2, 0.5], [2 / 3, -1 / 3, 2 / 3]], atol=2e-4)


@pytest.mark.parametrize("name", ORACLES)
def test_stays_in_theta_and_leaves_the_start_alone(name):
    start = np.full((3, 3), 0.1)
    found = solve(ORACLES[name], smoothed(), start, points(3, 2, 3, 0.4), radius=0.4)
    assert (np.linalg.norm(found, axis=-1) <= 0.4 * (1 + 1e-14)).all()
    np.testing.assert_array_equal(start, np.full((3, 3), 0.1))


WITH_ORACLE = marked(
    product(["adam", "lbfgs", "multistart", "exact"], ["df_ogd", "df_ftpl"]),
    {("multistart", "df_ogd"), ("lbfgs", "df_ftpl")}.__contains__,
)


@pytest.mark.parametrize(("name", "algo"), WITH_ORACLE)
def test_seeds_do_not_mix_and_blocks_do_not_matter(name, algo):
    """Bitwise: a seed alone and among others, in one block and in several."""
    job = composed_job(
        f"algo={algo}", f"oracle={name}", "data.features=3", "data.items=4", "horizon.rounds=12",
        "engine=array", "oracle.every=2", *(["oracle.directions=20"] if name == "exact" else []),
    )  # fmt: skip
    together = simulate(replace(job, seeds=(3, 4, 5)), block=5)
    alone = simulate(replace(job, seeds=(4,)))
    np.testing.assert_array_equal(together.state.theta[1:2], alone.state.theta)
    np.testing.assert_array_equal(together.table["cost"][1:2], alone.table["cost"])
    assert (np.abs(alone.state.theta) > 1e-6).any()


@pytest.mark.parametrize(("name", "algo"), WITH_ORACLE)
def test_torch_and_numpy_agree(name, algo):
    job = composed_job(
        f"algo={algo}", f"oracle={name}", "data.features=2", "data.items=4", "horizon.rounds=6",
        "seeds=2", "engine=array", *(["oracle.directions=20"] if name == "exact" else []),
    )  # fmt: skip
    rounds, draws = block_of(job, 0, 6)
    state = job.algorithm.init(2, None)
    for t in range(6):
        now = {key: values[:, t] for key, values in draws.items()}
        state = job.algorithm.update(state, rounds.X[:, t], rounds.costs[:, t], now)
    np.testing.assert_allclose(simulate(job).state.theta, state.theta, rtol=1e-9, atol=1e-12)


# ---- SGD ----


def test_three_steps_by_hand():
    curvature, centre, lr = [1.0, 3.0], [2.0, -1.0], 0.4
    theta = [0.1, 0.2]
    for _ in range(3):
        theta = [x - lr * c * (x - z) for x, c, z in zip(theta, curvature, centre, strict=True)]
        norm = sum(x * x for x in theta) ** 0.5
        theta = [x / max(norm, 1.0) for x in theta]
    objective = Quadratic(np.array(curvature), np.array([centre]))
    found = solve(SGD(steps=3, lr=lr), objective, np.array([[0.1, 0.2]]))
    np.testing.assert_allclose(found, [theta], rtol=1e-14)


def test_every_step_has_its_own_samples():
    oracle = SGD(steps=4, lr=0.1, batch=3)
    assert oracle.sample_shape == (4, 3)
    samples = np.random.default_rng(0).random((2, *oracle.sample_shape))
    objective = Quadratic(np.ones(3), CENTRES)
    oracle.minimise(OracleCall(objective, Ball(radius=1), np.zeros((2, 3)), samples))
    np.testing.assert_array_equal(np.stack(objective.samples, axis=1), samples)


def test_an_objective_that_is_no_sum_gets_no_samples():
    objective = Quadratic(np.ones(3), CENTRES)
    solve(SGD(steps=2), objective, np.zeros((2, 3)))
    assert objective.samples == [None, None]


# ---- Adam ----


def test_two_steps_of_adam_by_hand():
    lr, b1, b2, eps = 0.1, 0.8, 0.9, 1e-3
    g1 = np.array([[2.0, -6.0]])  # curvature 2 and 3, centre (−1, 2), from 0
    theta1 = -lr * g1 / (np.sqrt(20.0) + eps)  # (4 + 36) / 2 is its mean square
    g2 = np.array([2.0, 3.0]) * (theta1 - np.array([[-1.0, 2.0]]))
    mean = (b1 * (1 - b1) * g1 + (1 - b1) * g2) / (1 - b1**2)
    square = (b2 * (1 - b2) * 20.0 + (1 - b2) * (g2**2).sum() / 2) / (1 - b2**2)
    theta2 = theta1 - lr * mean / (np.sqrt(square) + eps)
    oracle = Adam(steps=2, lr=lr, beta1=b1, beta2=b2, epsilon=eps)
    objective = Quadratic(np.array([2.0, 3.0]), np.array([[-1.0, 2.0]]))
    found = solve(oracle, objective, np.zeros((1, 2)), radius=9)
    np.testing.assert_allclose(found, theta2, rtol=1e-13)


# ---- L-BFGS ----


def test_adam_is_the_optimiser_of_torch_for_a_single_parameter():
    objective = smoothed(seeds=1, features=1)
    leaf = torch.zeros(1, 1, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.Adam([leaf], lr=0.01)
    for _ in range(25):
        leaf.grad = torch.tensor(objective.gradient(leaf.detach().numpy()))
        optimiser.step()
    found = solve(Adam(steps=25, lr=0.01), objective, np.zeros((1, 1)), radius=50)
    np.testing.assert_allclose(found, leaf.detach().numpy(), rtol=1e-10)


def test_lbfgs_never_climbs():
    for seed in range(5):
        objective, start = smoothed(seed=seed, alpha=0.05), np.full((3, 3), 0.2)
        values = [objective.value(solve(LBFGS(steps=k), objective, start)) for k in range(1, 8)]
        assert (values[0] <= objective.value(start)).all()
        assert (np.diff(values, axis=0) <= 0).all()


def test_lbfgs_reaches_an_interior_minimum_fast():
    """A badly scaled quadratic of five dimensions: nine steps, where gradient descent needs many."""
    curvature = np.array([1.0, 3.0, 10.0, 30.0, 100.0])
    objective = Quadratic(curvature, np.full((2, 5), 0.1))
    found = solve(LBFGS(steps=25), objective, np.zeros((2, 5)))
    np.testing.assert_allclose(found, objective.centre, atol=1e-5)
    slow = solve(SGD(steps=25, lr=0.019), objective, np.zeros((2, 5)))
    assert np.abs(slow - objective.centre).max() > 0.01


def test_lbfgs_agrees_with_scipy_on_the_whole_history():
    """Among all local minima of SLSQP from many starts its own end is one."""
    X, c = random_rounds(1, 70, 4, 3)
    objective = PerturbedLeader(make_problem(), X, c, held=70, t=70, alpha=0.4, sigma=np.ones((1, 3)))  # fmt: skip
    found = solve(LBFGS(steps=200), objective, np.zeros((1, 3)))
    ball = {"type": "ineq", "fun": lambda at: 1 - at @ at}
    ends = [
        minimize(
            lambda at: float(objective.value(at[None])[0]),
            start,
            jac=lambda at: objective.gradient(at[None], None)[0],
            constraints=[ball],
            method="SLSQP",
            options={"ftol": 1e-12},
        ).fun
        for start in [found[0], *points(1, 8, 3)[0]]
    ]
    assert objective.value(found)[0] == pytest.approx(ends[0], abs=1e-7)
    assert objective.value(found)[0] >= min(ends) - 1e-9


def test_lbfgs_does_not_crawl_where_the_objective_bends_down():
    """Fifty steps end where four hundred do, for twenty seeds of eight parameters."""
    objective, start = smoothed(seeds=20, features=8, seed=1), np.zeros((20, 8))
    fifty, many = (objective.value(solve(LBFGS(steps=k), objective, start)) for k in (50, 400))
    np.testing.assert_allclose(fifty, many, atol=1e-4)


def test_a_flat_objective_moves_nothing():
    flat = Quadratic(np.zeros(3), np.zeros((2, 3)))
    start = np.full((2, 3), 0.3)
    np.testing.assert_array_equal(solve(LBFGS(), flat, start), start)


# ---- multi-start and exact ----


def test_multistart_leaves_a_shallow_well():
    objective = Wells(np.array([[0.6, 0.0], [0.0, -0.5]]))
    start = -objective.deep  # in the shallow well
    for rule, lr in (("sgd", 0.02), ("adam", 0.01), ("lbfgs", 0.1)):
        few, many = (MultiStart(starts=k, rule=rule, steps=200, lr=lr) for k in (0, 12))
        stuck = solve(few, objective, start)
        found = solve(many, objective, start, points(2, 12, 2))
        np.testing.assert_allclose(stuck, start, atol=0.02)
        np.testing.assert_allclose(found, objective.deep, atol=0.02)


def test_multistart_without_its_points_is_refused():
    with pytest.raises(UserError, match=r"oracle\.starts=5: .* without points to start from"):
        solve(MultiStart(starts=5), smoothed(seed=2), np.zeros((3, 3)))


def test_multistart_takes_every_seeds_own_best_end():
    objective, start = smoothed(seed=2), np.zeros((3, 3))
    starts = points(3, 5, 3)
    found = solve(MultiStart(starts=5, steps=4, lr=0.3), objective, start, starts)
    sgd = SGD(steps=4, lr=0.3)
    ends = [solve(sgd, objective, at) for at in [start, *np.moveaxis(starts, 1, 0)]]
    values = np.stack([objective.value(end) for end in ends])
    for s in range(3):
        np.testing.assert_allclose(found[s], ends[values[:, s].argmin()][s], rtol=1e-12)


def test_random_points_fill_the_ball_evenly():
    """Uniform in the ball of R^m: ‖θ‖^m is uniform in [0, R^m], and the mean is 0."""
    drawn = points(4, 5000, 3, radius=2.0)
    shares = (np.linalg.norm(drawn, axis=-1) / 2) ** 3
    assert shares.max() < 1
    for quantile in (0.1, 0.5, 0.9):
        assert (shares < quantile).mean() == pytest.approx(quantile, abs=0.015)
    np.testing.assert_allclose(drawn.mean((0, 1)), 0, atol=0.04)


@pytest.mark.parametrize(("features", "seeds"), marked(product([1, 2, 3], [1, 3]), (2, 1).__eq__))
def test_exact_is_below_everything_else(features, seeds):
    for seed in range(seeds):
        objective = smoothed(features=features, alpha=0.05, seed=seed)
        start = np.zeros((3, features))
        lowest = objective.value(solve(Exact(), objective, start))
        others = [
            solve(oracle, objective, start, points(3, 2, features)) for oracle in ORACLES.values()
        ]
        somewhere = np.moveaxis(points(3, 4000, features), 1, 0)
        assert (lowest <= objective.value(somewhere).min(0) + 1e-8).all()
        for other in others:
            assert (lowest <= objective.value(other) + 1e-8).all()


def test_exact_finds_the_best_cell_of_the_unsmoothed_cost():
    """In the plane every cell of f = ⟨c, w*(θ)⟩ is a sector between two normals of x_i − x_j."""

    @dataclass
    class Unsmoothed:
        X: np.ndarray
        costs: np.ndarray

        def value(self, theta):
            chosen = (self.X * theta[..., None, :]).sum(-1).argmin(-1)
            return self.costs[np.arange(len(self.costs)), chosen]

        def gradient(self, theta, sample):
            return 0 * theta

    X, costs = (x[:, 0] for x in random_rounds(4, 1, 6, 2, seed=3))
    objective = Unsmoothed(X, costs)
    found = objective.value(solve(Exact(), objective, np.zeros((4, 2))))
    for s in range(4):
        difference = (X[s][:, None] - X[s][None])[np.triu_indices(6, 1)]
        angles = np.arctan2(difference[:, 0], -difference[:, 1])
        angles = np.sort(np.concatenate([angles, angles + np.pi]) % (2 * np.pi))
        middles = (angles + np.append(angles[1:], angles[0] + 2 * np.pi)) / 2
        sectors = np.stack([np.cos(middles), np.sin(middles)], -1)
        assert found[s] == min(costs[s][(X[s] @ at).argmin()] for at in sectors)


def test_the_grid_covers_the_ball():
    for parameters, count, farthest in ((2, 100, 0.17), (3, 1000, 0.25)):
        grid = ball_grid(parameters, count, 6)
        assert np.linalg.norm(grid, axis=-1).max() == pytest.approx(1)
        somewhere = points(1, 300, parameters)[0]
        gaps = np.linalg.norm(somewhere[:, None] - grid[None], axis=-1).min(1)
        assert gaps.max() < farthest
    np.testing.assert_allclose(np.linalg.norm(unit_directions(3, 77), axis=-1), 1)


def test_exact_refuses_more_than_three_parameters():
    with pytest.raises(UserError, match=r"oracle=exact.*3 parameters at most.*θ has 4 here"):
        replace(make_problem(features=4), oracle=Exact())
    assert replace(make_problem(features=3), oracle=Exact()).parameters == 3


# ---- calls that are left out or fail ----


@pytest.mark.parametrize("kind", [SGD, Adam, LBFGS, MultiStart, Exact])
def test_every_oracle_can_be_lazy(kind):
    lazy = kind(every=3)
    assert [t for t in range(1, 11) if lazy.answers(t)] == [1, 4, 7, 10]
    with pytest.raises(ValidationError, match="every"):
        kind(every=0)


@pytest.mark.parametrize(("algo", "answer"), [("df_ogd", "vartheta"), ("df_ftpl", "theta")])
def test_a_call_that_fails_returns_its_start(algo, answer):
    """In the seeds and rounds whose draw says so, with the same draws alone and among others."""
    small = ("data.features=3", "data.clip=false", "horizon.rounds=40")
    job = replace(composed_job(f"algo={algo}", "oracle.failure=0.3", *small), seeds=(3, 4, 5))
    rounds, draws = block_of(job, 0, 40)
    state, stayed = job.algorithm.init(3, None), []
    for t in range(40):
        now, before = {key: values[:, t] for key, values in draws.items()}, getattr(state, answer)
        state = job.algorithm.update(state, rounds.X[:, t], rounds.costs[:, t], now)
        stayed.append((getattr(state, answer) == before).all(-1))
    np.testing.assert_array_equal(np.transpose(stayed), draws[f"{algo}/failure"] < 0.3)
    assert 0 < np.mean(stayed) < 1
    np.testing.assert_allclose(simulate(job).state.theta, state.theta, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(
        simulate(replace(job, seeds=(4,))).table["cost"], simulate(job).table["cost"][1:2]
    )


def test_an_oracle_that_always_fails_never_answers():
    job = composed_job("algo=df_ftpl", "horizon.rounds=20", "oracle.failure=1", "seeds=2")
    assert (simulate(job).state.theta == 0).all()
