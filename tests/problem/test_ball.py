"""The projection on Θ."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from odfl_cli.problem.ball import Ball

points = hnp.arrays(float, (4, 3), elements=st.floats(-1e6, 1e6))
radii = st.floats(1e-3, 1e3)


@given(theta=points, radius=radii)
def test_lands_in_the_ball(theta, radius):
    norms = np.linalg.norm(Ball(radius=radius).project(theta), axis=-1)
    assert (norms <= radius * (1 + 1e-14)).all()


@given(theta=points)
def test_leaves_the_inside_alone(theta):
    np.testing.assert_array_equal(Ball(radius=2e6).project(theta), theta)


@given(theta=points, radius=radii, seed=st.integers(0, 1000))
def test_is_the_nearest_point(theta, radius, seed):
    """⟨θ − Πθ, z − Πθ⟩ ≤ 0 for every z in the ball."""
    projected = Ball(radius=radius).project(theta)
    z = np.random.default_rng(seed).normal(size=theta.shape)
    z *= radius / np.linalg.norm(z, axis=-1, keepdims=True)
    products = ((theta - projected) * (z - projected)).sum(-1)
    assert (products <= 1e-12 * radius * (1 + np.abs(theta).max())).all()


def test_an_overflowing_norm_is_no_silent_zero():
    far = torch.tensor([3e200, -4e200], dtype=torch.float64)
    assert torch.isnan(Ball(radius=2.0).project(far)).all()


@given(theta=points, radius=radii)
def test_numpy_and_torch_agree(theta, radius):
    on_torch = Ball(radius=radius).project(torch.from_numpy(theta)).numpy()
    np.testing.assert_allclose(on_torch, Ball(radius=radius).project(theta), rtol=1e-14, atol=0)
