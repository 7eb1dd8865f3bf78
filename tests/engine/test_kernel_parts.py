"""What the kernels share."""

import math
from importlib import import_module

import numpy as np
import pytest


def test_the_exponential_is_the_c_librarys_to_one_unit_in_the_last_place() -> None:
    exp = import_module("odfl_cli.engine.kernels.exponential").exp
    exponents = -708.0 * np.random.default_rng(0).random(20_000) ** np.arange(1, 5).repeat(5_000)
    exponents[:3] = 0.0, -708.0, -5e-324
    known = np.array([math.exp(x) for x in exponents])
    ours = np.array([exp(x) for x in exponents])
    assert (abs(ours - known) <= np.spacing(known)).all()
    assert exp(0.0) == 1.0


@pytest.mark.parametrize("x", [-708.1, -1e9, -np.inf])
def test_the_exponential_is_zero_where_it_would_be_subnormal(x: float) -> None:
    assert import_module("odfl_cli.engine.kernels.exponential").exp(x) == 0.0


def test_the_exponential_of_what_is_no_number_is_none() -> None:
    assert math.isnan(import_module("odfl_cli.engine.kernels.exponential").exp(math.nan))


@pytest.mark.parametrize("items", range(1, 10))
def test_the_transposed_product_takes_every_item_once(items: int) -> None:
    rng = np.random.default_rng(items)
    X, v, out = rng.normal(size=(items, 3)), rng.normal(size=items), np.empty(3)
    import_module("odfl_cli.engine.kernels.matrices").vjp(X, v, out)
    np.testing.assert_allclose(out, X.T @ v, rtol=1e-13)
