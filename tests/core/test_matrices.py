"""Batches of small matrices against numpy's own."""

import numpy as np
import pytest

from odfl_cli.core.matrices import (
    invert,
    product,
    solve,
    times,
    trace_of_square,
    weighted_gram,
    weighted_sum,
)

RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(2, 3, 5, 5))
D, x, r = RNG.normal(size=(3, 7, 5)), RNG.normal(size=(3, 5)), RNG.normal(size=(3, 7))


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (product(A, B), A @ B),
        (times(A, x), (A @ x[..., None])[..., 0]),
        (trace_of_square(A), np.trace(A @ A, axis1=1, axis2=2)),
        (weighted_gram(D, r), np.einsum("sdm,sd,sdn->smn", D, r, D)),
        (weighted_sum(D, r), np.einsum("sdm,sd->sm", D, r)),
        (invert(A @ A.swapaxes(1, 2) + np.eye(5)), np.linalg.inv(A @ A.swapaxes(1, 2) + np.eye(5))),
        (solve(np.eye(5) + B @ B.swapaxes(1, 2), x), np.linalg.solve(np.eye(5) + B @ B.swapaxes(1, 2), x[..., None])[..., 0]),
    ],
)  # fmt: skip
def test_as_numpy_computes_it(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)


def test_units_of_the_columns_cost_no_digits():
    positive, units = A @ A.swapaxes(1, 2) + np.eye(5), 10.0 ** np.arange(-6, 9, 3)
    scaled = units[:, None] * positive * units
    np.testing.assert_allclose(units[:, None] * invert(scaled) * units, invert(positive), 1e-12)
    np.testing.assert_allclose(units * solve(scaled, units * x), solve(positive, x), 1e-12)
