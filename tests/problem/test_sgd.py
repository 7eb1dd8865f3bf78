"""The oracle on objectives whose minimiser is known."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from pydantic import ValidationError

from odfl_cli.problem.ball import Ball
from odfl_cli.problem.oracles.base import OracleCall
from odfl_cli.problem.oracles.descent import SGD


@dataclass
class Quadratic:
    """½ Σ_j curvature_j (θ_j − centre_j)² per seed; remembers the samples it was given."""

    curvature: np.ndarray
    centre: np.ndarray
    samples: list = field(default_factory=list)

    def gradient(self, theta, sample):
        self.samples.append(sample)
        return self.curvature * (theta - self.centre)


CENTRES = np.array([[0.3, -0.2, 0.5], [2.0, -1.0, 2.0]])  # one inside the unit ball, one outside


def test_finds_the_minimiser_over_the_ball():
    """With equal curvature the constrained minimiser is the projection of the centre."""
    found = SGD(steps=300, lr=0.1).minimise(
        OracleCall(Quadratic(np.ones(3), CENTRES), Ball(radius=1), np.zeros((2, 3)), None)
    )
    np.testing.assert_allclose(found, [[0.3, -0.2, 0.5], [2 / 3, -1 / 3, 2 / 3]], atol=1e-12)


def test_the_answer_is_stationary_for_unequal_curvature():
    """−∇f points along the outward normal, with a non-negative multiplier (KKT on the sphere)."""
    objective = Quadratic(np.array([1.0, 4.0, 0.5]), CENTRES[1:])
    found = SGD(steps=2000, lr=0.1).minimise(
        OracleCall(objective, Ball(radius=1), np.zeros((1, 3)), None)
    )[0]
    assert np.linalg.norm(found) == pytest.approx(1)
    pull = -objective.gradient(found, None)[0]
    multiplier = pull @ found
    assert multiplier > 0
    np.testing.assert_allclose(pull, multiplier * found, atol=1e-10)


def test_three_steps_by_hand():
    curvature, centre, lr = [1.0, 3.0], [2.0, -1.0], 0.4
    theta = [0.1, 0.2]
    for _ in range(3):
        theta = [x - lr * c * (x - z) for x, c, z in zip(theta, curvature, centre, strict=True)]
        norm = sum(x * x for x in theta) ** 0.5
        theta = [x / max(norm, 1.0) for x in theta]
    found = SGD(steps=3, lr=lr).minimise(
        OracleCall(
            Quadratic(np.array(curvature), np.array([centre])),
            Ball(radius=1),
            np.array([[0.1, 0.2]]),
            None,
        )
    )
    np.testing.assert_allclose(found, [theta], rtol=1e-14)


def test_starts_where_it_is_told_and_leaves_the_start_alone():
    start = np.array([[0.5, 0.5, 0.5]])
    found = SGD(steps=1, lr=1e-9).minimise(
        OracleCall(Quadratic(np.ones(3), CENTRES[:1]), Ball(radius=1), start, None)
    )
    np.testing.assert_allclose(found, start, atol=1e-8)
    np.testing.assert_array_equal(start, [[0.5, 0.5, 0.5]])


def test_every_step_has_its_own_samples():
    oracle = SGD(steps=4, lr=0.1, batch=3)
    assert oracle.sample_shape == (4, 3)
    samples = np.random.default_rng(0).random((2, *oracle.sample_shape))
    objective = Quadratic(np.ones(3), CENTRES)
    oracle.minimise(OracleCall(objective, Ball(radius=1), np.zeros((2, 3)), samples))
    np.testing.assert_array_equal(np.stack(objective.samples, axis=1), samples)


def test_an_objective_that_is_no_sum_gets_no_samples():
    objective = Quadratic(np.ones(3), CENTRES)
    SGD(steps=2).minimise(OracleCall(objective, Ball(radius=1), np.zeros((2, 3)), None))
    assert objective.samples == [None, None]


@pytest.mark.parametrize(("key", "value"), [("steps", 0), ("lr", 0), ("lr", -0.1), ("batch", 0)])
def test_bad_values_are_refused(key, value):
    with pytest.raises(ValidationError, match=key):
        SGD(**{key: value})


def test_a_lazy_oracle_answers_in_the_first_of_every_k_rounds():
    lazy = SGD(every=3)
    assert [t for t in range(1, 11) if lazy.answers(t)] == [1, 4, 7, 10]
    assert all(SGD().answers(t) for t in range(1, 11))
