"""The best fixed parameter: line searches and whole searches against exhaustive enumeration."""

from dataclasses import replace
from itertools import combinations, product
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.problems import make_problem
from support.samples import marked

from odfl_cli import run
from odfl_cli.environments.base import Rounds
from odfl_cli.environments.sin4 import Sin4
from odfl_cli.metrics.hindsight import Effort, Hindsight, Search, measure_hindsight, uncertainty_of
from odfl_cli.metrics.losses import LinearLosses, Losses, losses_for, on_circle
from odfl_cli.metrics.played import PlayedRounds
from odfl_cli.metrics.regret import Regret
from odfl_cli.problem.polytopes.box import Box
from odfl_cli.problem.regularizers.quadratic import Quadratic

DEFAULT = Regret().effort()


def search(rounds: Rounds, seed: int, effort: Effort = DEFAULT) -> Hindsight:
    """The best fixed parameter on all of these rounds, without any guesses."""
    size, items, features = rounds.X.shape
    played = PlayedRounds(SimpleNamespace(items=items, features=features), (seed,), size)
    played.add(0, Rounds(rounds.X[None], rounds.costs[None]))
    losses, nobody = losses_for(make_problem(items, features)), np.empty((0, features))
    return measure_hindsight(losses, played, 0, np.array([size]), nobody, effort)


def value(found: Hindsight, rounds: Rounds) -> float:
    """Its average cost."""
    return found.best_fixed[-1] / len(rounds.costs)


def noise(seed: int, rounds: int, items: int, features: int, whole: bool = False) -> Rounds:
    rng = np.random.default_rng(seed)
    X, costs = rng.normal(size=(rounds, items, features)), rng.uniform(size=(rounds, items))
    return Rounds(np.round(X) if whole else X, np.round(4 * costs) if whole else costs)


def mean_costs(thetas: np.ndarray, rounds: Rounds) -> np.ndarray:
    """The average cost of every θ, [C], written down once more."""
    played = np.einsum("nkp,cp->cnk", rounds.X, thetas).argmin(-1)
    return np.take_along_axis(rounds.costs[None], played[..., None], -1)[..., 0].mean(-1)


def differences(rounds: Rounds) -> np.ndarray:
    """x_i − x_j of all pairs of all rounds: the decisions change where one is at a right angle to θ."""
    pairs = list(combinations(range(rounds.costs.shape[1]), 2))
    return np.concatenate([rounds.X[:, i] - rounds.X[:, j] for i, j in pairs])


def cells_of_the_sphere(rounds: Rounds) -> np.ndarray:
    """A θ ∈ R³ in every set of parameters that decide alike.

    Great circles cut the sphere into cells; each has a corner, where two circles cross, and around a
    corner there are four cells.
    """
    thetas = []
    for a, b in combinations(differences(rounds), 2):
        corner = np.cross(a, b)
        corner /= np.linalg.norm(corner)
        for sign, one, other in product((-1, 1), repeat=3):
            thetas.append(sign * corner + 1e-7 * (one * a + other * b))
    return np.array(thetas)


@given(seed=st.integers(0, 1000), items=st.integers(2, 6), whole=st.booleans())
def test_the_minimum_on_a_line_is_that_of_all_its_pieces(seed, items, whole):
    rounds = noise(seed, 8, items, 3, whole)
    theta, direction = np.random.default_rng(seed + 1).normal(size=(2, 3))
    d = differences(rounds)
    level, slope = d @ theta, d @ direction
    corners = np.unique(-level[slope != 0] / slope[slope != 0])
    between = np.concatenate([[-1e9], (corners[1:] + corners[:-1]) / 2, [1e9]])
    wide = np.concatenate([[True], np.diff(corners) > 1e-9, [True]])
    values = mean_costs(theta + between[wide][:, None] * direction, rounds)
    losses = LinearLosses(make_problem(items=items, features=3))
    found, value = losses.lowest_on_line(theta, direction, rounds, np.inf)
    assert value == pytest.approx(values.min())
    assert mean_costs(found[None], rounds)[0] == pytest.approx(values.min())
    assert np.linalg.norm(found) == pytest.approx(1.0)


def test_a_line_of_any_set_is_searched_densely():
    """On a box, through the contracts: the value returned is that of the parameter, which is among those tried."""
    box = Box(dimension=4)
    problem = replace(
        make_problem(items=4, features=3), polytope=box, regularizer=Quadratic(polytope=box)
    )
    losses, rounds = Losses(problem), noise(0, 30, 4, 3)
    theta, direction = np.random.default_rng(1).normal(size=(2, 3))
    found, value = losses.lowest_on_line(theta, direction, rounds, np.inf)
    assert losses.average(found[None], rounds) == value
    near = on_circle(problem, theta, direction, np.array([-0.05, 0.05]))
    assert value <= losses.average(near, rounds).max()


def cells_of_the_circle(rounds: Rounds) -> np.ndarray:
    """A θ ∈ R² between any two neighbouring directions at which a decision changes."""
    d = differences(rounds)
    right = np.concatenate([np.arctan2(d[:, 0], -d[:, 1]), np.arctan2(-d[:, 0], d[:, 1])])
    angles = np.sort(right)
    between = np.append((angles[1:] + angles[:-1]) / 2, (angles[-1] + angles[0]) / 2 + np.pi)
    return np.stack([np.cos(between), np.sin(between)], axis=1)


def law(seed: int, rounds: int, items: int, features: int) -> Rounds:
    X, costs = Sin4(items=items, features=features).rounds((seed,), 0, rounds)
    return Rounds(X[0], costs[0])


KNOWN_OPTIMUM = {
    "noise, p = 3": (lambda seed: noise(seed, 24, 3, 3), cells_of_the_sphere),
    "more items, p = 3": (lambda seed: noise(seed, 14, 4, 3), cells_of_the_sphere),
    "many rounds, p = 2": (lambda seed: noise(seed, 100, 5, 2), cells_of_the_circle),
    "the paper's costs, p = 2": (lambda seed: law(seed, 400, 5, 2), cells_of_the_circle),
    "the paper's costs, p = 3": (lambda seed: law(seed, 20, 3, 3), cells_of_the_sphere),
}
"""Problems whose optimum is known exactly. The constant of the uncertainty was chosen on the first
kind with seeds 1000 to 1059; the test below is on the others, with other seeds."""
QUICK = ("many rounds, p = 2", "the paper's costs, p = 3")


@pytest.mark.thorough
@pytest.mark.parametrize("seeds", marked([7, 20], (7).__eq__))
@pytest.mark.parametrize("name", marked(KNOWN_OPTIMUM, QUICK.__contains__))
def test_out_of_sample_the_uncertainty_reaches_the_known_optimum(name, seeds):
    make, cells = KNOWN_OPTIMUM[name]
    covered = []
    for seed in range(seeds):
        rounds = make(seed)
        thetas = cells(rounds)
        exact = mean_costs(np.concatenate([thetas, 0 * thetas[:1]]), rounds).min()
        found = search(rounds, seed)
        assert exact <= value(found, rounds) + 1e-12
        covered.append(value(found, rounds) - found.uncertainty <= exact + 1e-12)
    assert np.mean(covered) >= 0.85, covered


@pytest.mark.thorough
@pytest.mark.parametrize("seeds", marked([4, 12], (4).__eq__))
def test_with_more_effort_the_optimum_is_found(seeds):
    found = []
    for seed in range(seeds):
        rounds = noise(seed, 24, 3, 3)
        slow = search(rounds, seed, Effort(repeats=24, steps=48, lines=20))
        found.append(
            value(slow, rounds) <= mean_costs(cells_of_the_sphere(rounds), rounds).min() + 1e-12
        )
    assert np.mean(found) >= 0.9


@pytest.mark.thorough
@pytest.mark.parametrize("seeds", [20])
def test_the_uncertainty_is_honest_in_many_dimensions(seeds):
    """Against a search of a hundred times the effort: the default's interval holds what that one finds."""
    covered = []
    for seed in range(seeds):
        rounds = law(seed, 400, 5, 8)
        found = search(rounds, seed)
        better = search(rounds, 1000 + seed, Effort(repeats=40, steps=160, lines=20))
        covered.append(value(found, rounds) - found.uncertainty <= value(better, rounds))
    assert np.mean(covered) >= 0.8, covered


@pytest.mark.parametrize("seed", range(3))
def test_a_planted_optimum_is_found(seed):
    """Costs X θ*: nothing is below the sum of the least costs, and θ* attains it."""
    rng = np.random.default_rng(seed)
    X, theta = rng.normal(size=(400, 5, 6)) * [0.01, 1, 1, 1, 10, 100], rng.normal(size=6)
    rounds = Rounds(X, X @ (theta / [0.01, 1, 1, 1, 10, 100]))
    assert value(search(rounds, seed), rounds) == pytest.approx(
        rounds.costs.min(-1).mean(), rel=1e-9
    )


def test_moments_point_at_the_index():
    """c = −⟨x, θ*⟩² has no linear part; only the curvature shows θ*."""
    rng = np.random.default_rng(0)
    X, theta = rng.normal(size=(4000, 5, 6)) * [0.1, 1, 1, 1, 1, 5], rng.normal(size=6)
    rounds = Rounds(X, -((X @ theta) ** 2))
    guesses, metric = losses_for(make_problem(items=5, features=6)).moments(rounds)
    cosine = guesses[0] @ theta / np.linalg.norm(guesses[0]) / np.linalg.norm(theta)
    assert abs(cosine) > 0.95
    np.testing.assert_array_equal(guesses[1], -guesses[0])
    spread = (X.reshape(-1, 6) @ metric).std(0)
    np.testing.assert_allclose(spread, spread.mean(), rtol=0.1)


def test_the_uncertainty_of_repeats_by_hand():
    """Values 0 and 2: deviation √2, twice for two repeats, and the best lies 1 below the mean."""
    assert uncertainty_of(np.array([2.0, 0.0])) == pytest.approx(4 * 2 * np.sqrt(2) - 1)
    assert uncertainty_of(np.array([1.0, 1.0, 1.0])) == 0.0


def test_a_search_is_a_function_of_the_rounds_and_the_seed():
    losses, rounds, nobody = losses_for(make_problem(4, 3)), noise(3, 60, 4, 3), np.empty((0, 3))
    one, again, other = (
        Search(losses, rounds, seed, DEFAULT).run(rounds, nobody, 3) for seed in (3, 3, 4)
    )
    np.testing.assert_array_equal(one, again)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize(
    ("stop", "most", "taken"),
    [(12, 12, range(12)), (12, 4, (0, 3, 6, 9)), (11, 3, (0, 4, 8)), (6, 3, (0, 2, 4))],
)
@pytest.mark.parametrize("stride", [1, 3])
def test_rounds_to_search_are_even_over_all_blocks(monkeypatch, stop, most, taken, stride):
    """All rounds are searched, or every third if a third of a seed fits in memory."""
    if stride > 1:
        monkeypatch.setattr("odfl_cli.metrics.played.MEMORY_BYTES", 8 * 12 * 2 // stride)
        kept = list(range(0, stop, stride))
        taken = kept[:: -(-len(kept) // most)]
    numbers = np.arange(12.0).reshape(1, 12, 1)
    whole = Rounds(numbers[..., None], numbers)
    drawn = lambda _, start, stop: Rounds(*(x[:, start:stop] for x in whole))  # noqa: E731
    law = SimpleNamespace(items=1, features=1, rounds=drawn)
    played = PlayedRounds(law, (0,), 12)
    for start, end in ((0, 5), (5, 7), (7, 12)):
        played.add(start, drawn((0,), start, end))
    X, costs = played.subset(0, stop, most)
    assert costs[:, 0].tolist() == list(taken) == X[:, 0, 0].tolist()
    every = [costs for _, costs in played.blocks(0)]
    np.testing.assert_array_equal(np.concatenate(every), whole.costs[0])


def test_of_items_with_equal_features_the_first_is_played():
    rng = np.random.default_rng(0)
    X, thetas = rng.standard_normal((50, 3, 40)), rng.standard_normal((7, 40))
    X[:, 2] = X[:, 0]
    costs = np.broadcast_to([0.0, 0.0, 1.0], (50, 3))
    losses = LinearLosses(make_problem(items=3, features=40))
    assert (losses.round_costs(thetas, Rounds(X, costs)) == 0.0).all()


def test_features_that_all_items_share_give_no_guesses():
    X = np.repeat(np.arange(60.0).reshape(20, 1, 3), 4, axis=1)
    guesses, metric = LinearLosses(make_problem()).moments(Rounds(X, np.ones((20, 4))))
    assert guesses.shape == (0, 3)
    assert (metric == np.eye(3)).all()


def test_an_unbounded_theta_is_searched_as_the_unit_ball() -> None:
    words = ["algo=uniform", "data=polynomial", "data.items=6", "polytope=box", "horizon.rounds=30", "seeds=1"]  # fmt: skip
    free, bounded = (
        run(*words, "metrics=regret", f"theta_radius={radius}", progress=False)
        for radius in ("auto", 1)
    )
    for column in ("static_regret", "dynamic_regret"):
        assert free.final[column].to_list() == bounded.final[column].to_list()
