"""Balls and ellipsoids: closed forms, optimality conditions, finite differences."""

import numpy as np
import pytest
from pydantic import ValidationError
from support.problems import composed_job

from odfl_cli.problem.polytopes.ellipsoid import Ellipsoid
from odfl_cli.problem.regularizers.base import pull_back
from odfl_cli.problem.regularizers.quadratic import Quadratic
from odfl_cli.runs.simulate import simulate

RNG = np.random.default_rng(2)
MATRIX = tuple(map(tuple, RNG.normal(size=(4, 4)).tolist()))
SETS = {
    "ball": Ellipsoid(dimension=4, centre=(1.0, 0.0, -1.0, 2.0), radius=1.5),
    "ellipsoid": Ellipsoid(dimension=4, centre=0.5, radius=2.0, matrix=MATRIX),
    "flat": Ellipsoid(
        dimension=4, matrix=tuple(map(tuple, np.diag([1e-3, 1.0, 30.0, 1e3]).tolist()))
    ),
}
FAMILY = pytest.mark.parametrize("polytope", SETS.values(), ids=SETS)


def border(polytope: Ellipsoid, count: int = 2000) -> np.ndarray:
    """Points {centre + r M u : ‖u‖ = 1}, straight from the definition."""
    u = RNG.normal(size=(count, 4))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    M = np.eye(4) if polytope.matrix is None else np.array(polytope.matrix)
    return polytope.interior_point() + polytope.radius * u @ M.T


@FAMILY
def test_the_minimiser_is_on_the_border_and_below_all_of_it(polytope):
    costs = RNG.normal(size=(50, 4))
    w = polytope.minimise(costs)
    least = (costs * w).sum(-1)
    scale = 1 + polytope.reach
    assert (least[:, None] <= costs @ border(polytope).T + 1e-9 * scale).all()
    assert polytope.contains(w).all()
    assert not polytope.contains(w, tolerance=-1e-6).any()


def test_the_minimiser_of_a_ball_by_hand():
    ball = Ellipsoid(dimension=2, centre=(1.0, 1.0), radius=5.0)
    np.testing.assert_allclose(ball.minimise(np.array([3.0, 4.0])), [-2.0, -3.0])
    assert ball.minimise(np.zeros(2)).tolist() == [1.0, 1.0]


@FAMILY
def test_the_projection_is_the_nearest_point(polytope):
    """⟨y − w, z − w⟩ ≤ 0 for all z ∈ W; points inside stay."""
    points = polytope.interior_point() + 3 * polytope.reach * RNG.normal(size=(200, 4))
    w, scale = polytope.project(points), (3 * polytope.reach) ** 2
    assert polytope.contains(w).all()
    products = np.einsum("nd,nmd->nm", points - w, border(polytope)[None] - w[:, None])
    assert products.max() <= 1e-9 * scale
    inside = polytope.interior_point() + 0.5 * (border(polytope, 20) - polytope.interior_point())
    np.testing.assert_allclose(
        polytope.project(inside), inside, rtol=0, atol=1e-12 * polytope.reach
    )


@pytest.mark.parametrize("name", ["ball", "ellipsoid"])
def test_the_smoothed_decision_is_the_slope_of_its_envelope(name):
    """min_w ⟨g, w⟩ + α/2 ‖w − w₀‖² has the gradient w̃_α(g), and w̃ the Jacobian of `pull_back`."""
    polytope, alpha, step = SETS[name], 0.6, 1e-6
    quadratic, centre = Quadratic(polytope=polytope), SETS[name].interior_point()

    def envelope(g):
        w = quadratic.smooth(g, alpha)
        return (g * w).sum(-1) + alpha / 2 * ((w - centre) ** 2).sum(-1)

    for scale in (0.1, 3.0):  # inside, and on the border
        g, v = scale * RNG.normal(size=(30, 4)), RNG.normal(size=(30, 4))
        product = pull_back(quadratic, g, alpha, v)
        for i, unit in enumerate(step * np.eye(4)):
            slope = (envelope(g + unit) - envelope(g - unit)) / (2 * step)
            np.testing.assert_allclose(slope, quadratic.smooth(g, alpha)[:, i], atol=1e-6)
            moved = (quadratic.smooth(g + unit, alpha) - quadratic.smooth(g - unit, alpha)) / (
                2 * step
            )
            np.testing.assert_allclose((moved * v).sum(-1), product[:, i], atol=1e-6)


@FAMILY
def test_smoothing_costs_at_most_n_alpha(polytope):
    quadratic, g = Quadratic(polytope=polytope), RNG.normal(size=(50, 4))
    assert quadratic.suboptimality == pytest.approx(polytope.reach**2 / 2)
    gap = (g * (quadratic.smooth(g, 0.3) - polytope.minimise(g))).sum(-1)
    assert (gap >= -1e-9 * polytope.reach).all()
    assert (gap <= 0.3 * quadratic.suboptimality * (1 + 1e-9)).all()


@FAMILY
def test_rows_do_not_see_each_other(polytope):
    points, v = 5 * RNG.normal(size=(17, 4)), RNG.normal(size=(17, 4))
    for function in (polytope.minimise, polytope.project):
        together = function(points)
        for row in range(17):
            np.testing.assert_array_equal(function(points[row : row + 1])[0], together[row])
    together = polytope.project_vjp(points, v)
    np.testing.assert_array_equal(polytope.project_vjp(points[3:4], v[3:4])[0], together[3])


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"centre": (1.0, 2.0)}, "polytope.centre has 2 numbers; give one, or 3"),
        ({"matrix": ((1.0, 0.0), (0.0, 1.0))}, "should have 3 rows of 3 numbers"),
        ({"matrix": ((1.0, 0.0, 0.0),) * 3}, "should be invertible"),
        ({"radius": 0.0}, "greater than 0"),
        ({"radius": 1e-200}, "half-axes of 1e-150 or more are needed"),
    ],
)
def test_what_is_no_ellipsoid_is_refused(settings, reason):
    with pytest.raises(ValidationError, match=reason):
        Ellipsoid(dimension=3, **settings)


def test_df_ogd_learns_on_a_ball():
    """Centred costs on the ball: a decision that follows the features beats the centre, which pays 0."""
    chosen = ("polytope=ball", "data=polynomial", "data.items=5", "data.maximise=true", "seeds=2")
    table = simulate(composed_job(*chosen, "horizon.rounds=150", "theta_radius=10")).table
    assert (table["cost"][:, 50:].mean(1) < 0).all()


def test_a_radius_whose_square_is_no_number_smooths_by_infinity():
    assert Quadratic(polytope=Ellipsoid(dimension=3, radius=1e308)).suboptimality == np.inf
