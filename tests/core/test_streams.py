"""Every draw is a function of (seed, name, round) alone."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odfl_cli.core.streams import (
    LONGEST_BLOCK,
    METHODS,
    SHORTEST_BLOCK,
    Draw,
    block_length,
    draw,
    stable_hash,
)

KINDS = ("uniform", "normal", "exponential")
SHAPES = ((), (3,), (40, 50))  # blocks of 256, 256 and 16 rounds


@given(
    kind=st.sampled_from(KINDS),
    shape=st.sampled_from(SHAPES),
    cuts=st.lists(st.integers(0, 2100), min_size=2, max_size=6),
)
def test_any_split_of_the_rounds_equals_one_draw(kind, shape, cuts):
    cuts = sorted(cuts) if shape != (40, 50) else sorted(cut // 20 for cut in cuts)
    spec = Draw(kind, shape)
    whole = draw((3, 8), "a/name", spec, 0, cuts[-1])
    pieces = [draw((3, 8), "a/name", spec, start, stop) for start, stop in pairwise(cuts)]
    np.testing.assert_array_equal(np.concatenate(pieces, axis=1), whole[:, cuts[0] :])


@given(seeds=st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=6, unique=True))
def test_a_seed_does_not_see_the_other_seeds(seeds):
    spec = Draw("normal", (4,))
    together = draw(tuple(seeds), "a/name", spec, 1020, 1030)
    for row, seed in enumerate(seeds):
        np.testing.assert_array_equal(draw((seed,), "a/name", spec, 1020, 1030)[0], together[row])


def test_other_seeds_names_and_blocks_are_other_streams():
    spec = Draw("uniform")
    length = block_length(())
    streams = np.concatenate(
        [
            draw((seed,), name, spec, block * length, (block + 1) * length)
            for seed in (0, 1, 2**32 - 1)
            for name in ("data/noise", "data/drift", "data/noise ")
            for block in (0, 1)
        ]
    )
    assert np.unique(streams).size == streams.size
    correlation = np.corrcoef(streams) - np.eye(len(streams))
    assert np.abs(correlation).max() < 5 / np.sqrt(length)


@pytest.mark.parametrize(
    ("kind", "t", "numbers"),
    [
        ("uniform", 255, [0.10806881183707384, 0.2060500429131299]),
        ("uniform", 256, [0.9155579180112761, 0.022655825995298806]),  # of the next block
        ("normal", 3, [-0.9244407451493609, -0.7231761123904753]),
        ("exponential", 3, [1.348253190878039, 1.022556332983382]),
    ],
)
def test_the_numbers_of_a_known_stream(kind, t, numbers):
    """They define the format: with others, in any process, earlier results could not be repeated."""
    assert draw((0, 7), "data/noise", Draw(kind, (2,)), t, t + 1)[1, 0].tolist() == numbers


@pytest.mark.parametrize(
    ("kind", "mean", "variance", "fourth_central_moment", "support"),
    [
        ("uniform", 1 / 2, 1 / 12, 1 / 80, (0, 1)),
        ("normal", 0, 1, 3, (-np.inf, np.inf)),
        ("exponential", 1, 1, 9, (0, np.inf)),
    ],
)
def test_moments(kind, mean, variance, fourth_central_moment, support):
    values = draw(tuple(range(8)), "a/name", Draw(kind, (5,)), 0, 5000)
    centred = values - mean
    standard_error = np.sqrt(variance / values.size)
    assert abs(centred.mean()) < 4 * standard_error
    spread = np.sqrt((fourth_central_moment - variance**2) / values.size)
    assert abs((centred**2).mean() - variance) < 4 * spread
    assert support[0] <= values.min()
    assert values.max() < support[1]
    # neighbouring rounds and neighbouring entries are uncorrelated
    for product in (centred[:, 1:] * centred[:, :-1], centred[..., 1:] * centred[..., :-1]):
        assert abs(product.mean()) < 4 * variance / np.sqrt(product.size)


@given(shape=st.lists(st.integers(1, 3000), max_size=3).map(tuple))
def test_block_length_is_a_power_of_two_within_bounds(shape):
    length = block_length(shape)
    assert length.bit_count() == 1
    assert SHORTEST_BLOCK <= length <= LONGEST_BLOCK


@given(
    kind=st.sampled_from(KINDS),
    shape=st.sampled_from(SHAPES),
    seed=st.integers(0, 2**32 - 1),
    block=st.integers(0, 700),
)
def test_a_block_is_what_numpy_draws(kind, shape, seed, block):
    rng = np.random.default_rng([seed, stable_hash("a/name"), block])
    length = block_length(shape)
    drawn = draw((seed,), "a/name", Draw(kind, shape), block * length, (block + 1) * length)
    np.testing.assert_array_equal(drawn[0], getattr(rng, METHODS[kind])((length, *shape)))
