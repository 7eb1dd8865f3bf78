"""The rivals' losses against PyEPO's gradients, finite differences and lists of vertices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.problems import composed_job, finite_difference, make_problem

from odfl_cli.algorithms.rivals import GAMMAS, TIE, Rival, find_edges, sum_gammas
from odfl_cli.core.errors import UserError
from odfl_cli.problem.polytopes.box import Box

WIDTH, EPSILON, SAMPLES, ITEMS = 0.7, 0.4, 6, 4


def rival(loss, width=WIDTH, **step):
    return Rival(
        problem=make_problem(), loss=loss, width=width, epsilon=EPSILON, samples=SAMPLES, **step
    )


def given_rounds(seed=0, rows=5):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, ITEMS)), rng.random((rows, ITEMS))


def simplex_model():
    """PyEPO's model of choosing one item."""
    from pyepo.model.opt import optModel

    class One(optModel):
        def _getModel(self):  # noqa: N802
            return None, list(range(ITEMS))

        def setObj(self, c):  # noqa: N802
            self.costs = np.asarray(c, dtype=float)

        def solve(self):
            return np.eye(ITEMS)[self.costs.argmin()], float(self.costs.min())

    return One()


def pyepo_gradient(loss, prediction, costs, noise):
    """∂/∂ĉ of PyEPO's loss, or of ⟨c, w⟩ through its layer."""
    torch = pytest.importorskip("torch")
    func = pytest.importorskip("pyepo").func
    model, c = simplex_model(), torch.tensor(costs)
    cp = torch.tensor(prediction, requires_grad=True)
    best = torch.tensor(np.eye(ITEMS)[costs.argmin(-1)])
    if loss in ("pg_forward", "pg_central"):
        two = loss == "pg_central"
        total = func.PG(model, sigma=WIDTH, two_sides=two, reduction="sum")(cp, c)
    elif loss == "pfyl":
        drawn, torch.randn = torch.randn, lambda *_, **__: torch.tensor(noise)
        try:
            layer = func.perturbedFenchelYoung(
                model, n_samples=SAMPLES, sigma=EPSILON, reduction="sum"
            )
            total = layer(cp, best)
        finally:
            torch.randn = drawn
    else:
        layer = {
            "dbb": lambda: func.DBB(model, lambd=WIDTH),
            "nid": lambda: func.NID(model),
            "imle": lambda: func.implicitMLE(
                model, n_samples=SAMPLES, sigma=EPSILON, lambd=WIDTH, distribution=Given(noise)
            ),
        }[loss]()
        total = (layer(cp) * c).sum()
    total.backward()
    return cp.grad.numpy()


class Given:
    """A distribution that was sampled before."""

    def __init__(self, noise):
        self.noise = noise

    def sample(self, size):
        assert tuple(size) == self.noise.shape
        return self.noise


@pytest.mark.parametrize("loss", ["pg_forward", "pg_central", "pfyl", "dbb", "nid", "imle"])
def test_a_direction_is_pyepos_gradient(loss):
    prediction, costs = given_rounds()
    rng = np.random.default_rng(1)
    draws = rng.exponential(size=(5, SAMPLES, ITEMS, GAMMAS))
    noise = sum_gammas(draws) if loss == "imle" else rng.normal(size=(5, SAMPLES, ITEMS))
    ours = rival(loss).direction(
        prediction, costs, {"rival/noise": draws if loss == "imle" else noise}
    )
    expected = pyepo_gradient(loss, prediction, costs, noise)
    divided = 2.0 * WIDTH if loss == "pg_central" else WIDTH
    if loss not in ("pfyl", "nid"):  # PyEPO adds 1e-8 to what it divides by
        expected = expected * (divided + 1e-8) / divided
    np.testing.assert_allclose(ours, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("loss", ["ltr", "lava"])
@given(seed=st.integers(0, 1000))
def test_ranking_losses_have_the_gradient_of_their_hinges(loss, seed):
    """On the simplex every pair of vertices is an edge."""
    prediction, costs = (values[0] for values in given_rounds(seed))
    best = costs.argmin()

    def value(c):
        gaps = np.delete(c[best] - c, best)
        if loss == "ltr":
            return np.maximum(gaps, 0.0).sum() / (ITEMS - 1)
        return np.maximum(gaps, -WIDTH).sum()

    ours = rival(loss).direction(prediction[None], costs[None], {})[0]
    np.testing.assert_allclose(ours, finite_difference(value, prediction), atol=1e-7)


def test_ltr_learns_from_ties():
    """At θ = 0 nothing is predicted worse than the best, and a strict hinge would stay there."""
    ours = rival("ltr").direction(np.zeros((1, ITEMS)), np.arange(ITEMS, dtype=float)[None], {})
    np.testing.assert_allclose(ours[0], [1.0, *[-1.0 / (ITEMS - 1)] * (ITEMS - 1)])


@given(
    seed=st.integers(0, 1000),
    width=st.floats(0.01, 100.0),
    step=st.sampled_from(["scheduled", "adaptive"]),
)
def test_pg_forward_learns_nothing_from_a_worst_decision(seed, width, step):
    """A worst item that ĉ minimises minimises ĉ − hc too; with one right item, all others are worst."""
    rng = np.random.default_rng(seed)
    right = 1.0 - np.eye(ITEMS)[rng.integers(ITEMS)]
    for costs in (right, rng.random(ITEMS)):
        prediction = rng.normal(size=ITEMS)
        worst = costs.argmax()
        prediction[worst] = prediction.min() - 0.1
        ours = rival("pg_forward", width, step=step).direction(prediction[None], costs[None], {})
        np.testing.assert_array_equal(ours, 0.0)


@pytest.mark.parametrize("loss", ["pg_forward", "dbb"])
def test_ties_with_adaptive_steps_by_hand(loss):
    """Items 0 to 2 tie, and cost 2, 3 and 5; item 3 is predicted to cost too much to be chosen.

    Of those that tie, pg_forward compares the best with w*(ĉ − hc), item 2, and dbb the worst with
    w*(ĉ + hc), item 0. Listing them in another order lists what is learnt in that order.
    """
    prediction, costs = np.array([0.0, 0.0, 0.0, 9.0]), np.array([2.0, 3.0, 5.0, 0.0])
    expected = np.array([1.0, 0.0, -1.0, 0.0]) / (WIDTH + TIE)
    for order in ([0, 1, 2, 3], [2, 1, 0, 3], [1, 3, 2, 0]):
        ours = rival(loss, step="adaptive").direction(
            prediction[None, order], costs[None, order], {}
        )
        np.testing.assert_allclose(ours[0], expected[order], rtol=1e-12)


def test_edges_of_a_square():
    box = Box(dimension=2)
    points = np.array([[1.0, 1.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    A, b = box.faces()
    edges = find_edges(points, A, b, box.equalities()[0])
    np.testing.assert_array_equal(edges, [[0, 1, 1, 0], [1, 0, 0, 1], [1, 0, 0, 1], [0, 1, 1, 0]])


def test_sets_with_too_many_vertices_are_refused():
    words = "polytope=shortest_path", "regularizer=log_barrier", "data.items=40"
    with pytest.raises(UserError, match=r"algo\.loss=lava: the vertices of W are too many"):
        composed_job("algo=rival", "algo.loss=lava", *words)
