"""Decisions within κ of the best predicted one: the gap, feasibility, and what κ does to costs."""

from functools import partial
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from support.problems import choices, composed_job
from support.samples import some_of
from support.sets import SETS

from odfl_cli.core.errors import RowError, UserError
from odfl_cli.core.settings import settings
from odfl_cli.core.statistics import mean_ci95
from odfl_cli.problem.polytopes.box import Box
from odfl_cli.problem.polytopes.simplex import Simplex
from odfl_cli.problem.problem import decide, predicted_gap, verify, worst_within
from odfl_cli.runs.simulate import simulate

POLYTOPES = [SETS[name] for name in ("simplex", "box", "knapsack", "shortest_path")]
BY_NAME = {"ids": lambda polytope: type(polytope).__name__}
KAPPAS = [1e-12, 0.01, 0.1, 3.0]
SCALES = [1e-6, 1.0, 1e6]


def random_costs(polytope, rows=200, scale=1.0):
    return scale * np.random.default_rng(7).normal(size=(rows, polytope.dimension))


def spread(polytope, costs):
    """max − min of the predicted cost over W."""
    return (costs * (polytope.minimise(-costs) - polytope.minimise(costs))).sum(-1)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kappa", KAPPAS)
@pytest.mark.parametrize("polytope", POLYTOPES, **BY_NAME)
def test_the_gap_is_kappa_or_all_there_is(polytope, kappa, scale):
    prediction = random_costs(polytope, scale=scale)
    decision = decide(polytope, prediction, kappa=kappa)
    gap = predicted_gap(polytope, prediction, decision)
    expected = np.minimum(kappa, spread(polytope, prediction))
    np.testing.assert_allclose(gap, expected, rtol=1e-9, atol=1e-13 * max(1.0, scale))
    assert polytope.contains(decision).all()


@pytest.mark.parametrize("polytope", POLYTOPES, **BY_NAME)
def test_without_kappa_the_decision_is_the_minimiser(polytope):
    prediction = random_costs(polytope)
    np.testing.assert_array_equal(
        decide(polytope, prediction, kappa=0.0), polytope.minimise(prediction)
    )
    assert (predicted_gap(polytope, prediction, polytope.minimise(prediction)) == 0).all()


@given(kappa=st.floats(1e-6, 10), prediction=st.lists(st.integers(-3, 3), min_size=4, max_size=4))
def test_the_gap_with_ties_and_zeros(kappa, prediction):
    simplex, costs = Simplex(dimension=4), np.array(prediction, dtype=float)
    decision = decide(simplex, costs, kappa=kappa)
    assert simplex.contains(decision)
    assert costs @ decision - costs.min() == pytest.approx(min(kappa, np.ptp(costs)), abs=1e-12)


def test_a_decision_by_hand():
    """min 1 at item 0, max 5 at item 2: κ = 1 moves a quarter of the mass."""
    decision = decide(Simplex(dimension=3), np.array([1.0, 2.0, 5.0]), kappa=1.0)
    assert decision.tolist() == [0.75, 0.0, 0.25]


@pytest.mark.parametrize("polytope", POLYTOPES, **BY_NAME)
def test_rows_do_not_see_each_other_and_torch_agrees(polytope):
    prediction, solver = random_costs(polytope, rows=12), partial(decide, kappa=0.1)
    together = solver(polytope, prediction)
    for row, costs in enumerate(prediction):
        np.testing.assert_array_equal(solver(polytope, costs[None])[0], together[row])
    cube = solver(polytope, prediction.reshape(3, 4, -1))
    np.testing.assert_array_equal(cube.reshape(12, -1), together)
    on_torch = solver(polytope, torch.from_numpy(prediction))
    assert on_torch.dtype == torch.float64
    np.testing.assert_allclose(on_torch.numpy(), together, rtol=0, atol=1e-14)


@settings
class Backwards(Simplex):
    """A polytope whose minimiser maximises in the second row."""

    def minimise(self, costs):
        flip = np.ones((len(costs), 1))
        flip[1] = -1.0
        return super().minimise(flip * costs)


def test_a_polytope_that_does_not_minimise_is_found_out():
    prediction = np.array([[0.0, 1.0], [0.0, 2.0], [1.0, 0.0]])
    with pytest.raises(RowError, match=r"kappa=0.5: .* -2 above") as refusal:
        decide(Backwards(dimension=2), prediction, kappa=0.5)
    assert (refusal.value.row, refusal.value.rows) == (1, 3)
    assert isinstance(refusal.value, UserError)


def test_a_gap_above_kappa_is_refused_with_its_size():
    prediction = np.array([[0.0, 1.0], [0.0, 3.0]])
    best, decision = np.array([[1.0, 0.0]] * 2), np.array([[0.5, 0.5]] * 2)
    verify(prediction[:1], best[:1], decision[:1], 0.5)
    with pytest.raises(RowError, match=r"kappa=0.5: .* 1.5 above") as refusal:
        verify(prediction, best, decision, 0.5)
    assert (refusal.value.row, refusal.value.rows) == (1, 2)


def final_costs(*overrides: str) -> np.ndarray:
    """The average cost of every seed after 300 rounds."""
    job = composed_job("horizon.rounds=300", "seeds=12", *overrides)
    return simulate(job).table["avg_cost"][:, -1]


@pytest.mark.parametrize("kappa", some_of([0.01, 0.1], 1))
def test_with_right_predictions_the_average_cost_shifts_by_at_most_kappa(kappa):
    """Degree 1 without noise: the clairvoyant predicts 3.5 c, so that κ costs κ / 3.5."""
    known = ("algo=clairvoyant", "data=polynomial", "data.degree=1", "data.noise_width=0")
    costs = [final_costs(*known, "theta_radius=100", f"kappa={value}") for value in (0, kappa)]
    np.testing.assert_allclose(costs[1] - costs[0], kappa / 3.5, rtol=1e-3)


@pytest.mark.thorough
@pytest.mark.parametrize(("algo", "kappa"), list(product(["df_ogd", "pf_ogd", "spo"], [0.01, 0.1])))
def test_on_the_papers_data_the_average_cost_shifts_by_at_most_kappa(algo, kappa):
    exact, inexact = (final_costs(f"algo={algo}", f"kappa={value}") for value in (0, kappa))
    shift, half_width = mean_ci95(inexact - exact)
    assert shift + half_width <= kappa
    assert (inexact != exact).all()


@pytest.mark.thorough
@pytest.mark.parametrize("kappa", [0.01, 0.1])
def test_where_predictions_are_smaller_than_costs_the_shift_exceeds_kappa(kappa):
    """κ is measured in predicted costs, and in the ball of radius 1 they spread less than c does.

    The proof of the paper's proposition bounds the paid difference by κ as if both were the same.
    """
    data = ("data=polynomial", "algo=df_ogd")
    exact, inexact = (final_costs(*data, f"kappa={value}") for value in (0, kappa))
    shift, half_width = mean_ci95(inexact - exact)
    assert shift - half_width > 2 * kappa


@pytest.mark.parametrize("algo", some_of(choices("algo"), 4))
def test_kappa_reaches_every_algorithm_and_changes_no_update(algo):
    """Full information: the learner sees c_t whatever was played. Exceptions are named."""
    small = (f"algo={algo}", "engine=array", "horizon.rounds=12", "seeds=2")
    exact = simulate(composed_job(*small))
    inexact = simulate(composed_job(*small, "kappa=0.1"))
    same_cost = np.array_equal(exact.table["cost"], inexact.table["cost"])
    # uniform plays the centre, the other two what they draw in these rounds
    assert same_cost == (algo in ("uniform", "explore_then_commit", "policy_gradient"))
    # The gradient of spo_printed is the decision itself, dfhpg learns from what it plays; a vote or pool
    # weighs its experts by what they paid.
    if algo not in ("spo_printed", "dfhpg", "vote", "pool"):
        np.testing.assert_array_equal(exact.state.theta, inexact.state.theta)


# ---- the worst decision within κ ----


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


@pytest.mark.thorough
def test_who_does_not_know_the_law_cannot_know_the_worst():
    with pytest.raises(UserError, match="kappa_rule=worst: the data's law and one learner"):
        composed_job("algo=vote", "kappa=0.1", "kappa_rule=worst")
    job = composed_job("kappa=0.1", "kappa_rule=worst", "metrics=regret")
    with pytest.raises(UserError, match="choose metrics=basic"):
        job.metrics.columns(job.environment, job.algorithm)
