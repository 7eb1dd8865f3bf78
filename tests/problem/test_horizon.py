"""Which rounds are written down."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from odfl_cli.problem.problem import Horizon

lengths = st.integers(1, 200_000)
rows = st.integers(2, 2000)


@given(rounds=lengths, rows=rows)
def test_from_the_first_to_the_last_without_repeats(rounds, rows):
    logged = Horizon(rounds=rounds, rows=rows).logged()
    assert logged[0] == 1
    assert logged[-1] == rounds
    assert (np.diff(logged) > 0).all()
    assert len(logged) <= rows
    assert np.issubdtype(logged.dtype, np.integer)


@given(rounds=st.integers(1, 500))
def test_a_short_run_is_logged_in_full(rounds):
    np.testing.assert_array_equal(Horizon(rounds=rounds, rows=500).logged(), range(1, rounds + 1))


def test_a_long_run_shows_its_beginning_and_its_whole_length():
    """Half evenly spaced, so no gap exceeds two even steps; half log-spaced, so no early decade is empty."""
    logged = Horizon(rounds=100_000, rows=500).logged()
    assert len(logged) > 400
    assert np.diff(logged).max() <= 100_000 / 249 + 1
    for decade in (1, 10, 100, 1000):
        assert ((logged >= decade) & (logged < 10 * decade)).sum() >= 9
