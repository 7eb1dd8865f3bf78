"""What the kernels share."""

import math

import numpy as np
import pytest

from odfl_cli.core.kernel_cache import load_kernel

CACHE_LINE = 64


@pytest.mark.parametrize("shape", [(5,), (4, 1), (3, 10), (2, 16), (3, 2, 7, 7), (1, 200)])
def test_rows_apart_share_no_cache_line_and_are_contiguous(shape: tuple[int, ...]) -> None:
    values = np.random.default_rng(0).normal(size=shape)
    rows = load_kernel("odfl_cli.engine.kernels.inner").apart(values)
    np.testing.assert_array_equal(rows, values)
    assert not np.shares_memory(rows, values)
    lines: set[int] = set()
    for row in rows:
        first = np.asarray(row).__array_interface__["data"][0] if row.ndim else None
        if first is None:
            continue
        assert row.flags.c_contiguous
        own = set(range(first // CACHE_LINE, (first + row.nbytes - 1) // CACHE_LINE + 1))
        assert not own & lines
        lines |= own
    assert rows.strides[0] >= 2 * CACHE_LINE


def test_the_exponential_is_the_c_librarys_to_one_unit_in_the_last_place() -> None:
    exp = load_kernel("odfl_cli.engine.kernels.exponential").exp
    exponents = -708.0 * np.random.default_rng(0).random(20_000) ** np.arange(1, 5).repeat(5_000)
    exponents[:3] = 0.0, -708.0, -5e-324
    known = np.array([math.exp(x) for x in exponents])
    ours = np.array([exp(x) for x in exponents])
    assert (abs(ours - known) <= np.spacing(known)).all()
    assert exp(0.0) == 1.0


@pytest.mark.parametrize("x", [-708.1, -1e9, -np.inf])
def test_the_exponential_is_zero_where_it_would_be_subnormal(x: float) -> None:
    assert load_kernel("odfl_cli.engine.kernels.exponential").exp(x) == 0.0


def test_the_exponential_of_what_is_no_number_is_none() -> None:
    assert math.isnan(load_kernel("odfl_cli.engine.kernels.exponential").exp(math.nan))


@pytest.mark.parametrize("items", range(1, 10))
def test_the_transposed_product_takes_every_item_once(items: int) -> None:
    rng = np.random.default_rng(items)
    X, v, out = rng.normal(size=(items, 3)), rng.normal(size=items), np.empty(3)
    load_kernel("odfl_cli.engine.kernels.predictors").vjp_linear(X, v, out)
    np.testing.assert_allclose(out, X.T @ v, rtol=1e-13)
