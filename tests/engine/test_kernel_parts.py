"""What the kernels share."""

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
