"""Where θ* goes: each kind's law, random access to every round, and what the law says of it."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.commands import odfl, run_directories
from support.samples import examples

from odfl_cli.environments.drift import STRIDE, random_walk
from odfl_cli.environments.polynomial import Polynomial
from odfl_cli.environments.sin4 import Sin4

SEEDS = (3, 8, 21)
KINDS = ("paper", "none", "switching", "periodic", "linear", "random_walk")
MOVING = ("switching", "periodic", "linear", "random_walk")
SMALL = {"items": 4, "features": 3, "drift_period": 10, "drift_rate": 0.05}


def environment(kind, drift, **settings):
    return kind(drift=drift, **(SMALL | settings))


def means(env, start, stop):
    return env.mean_theta(SEEDS, start, stop)


@pytest.mark.parametrize("kind", [Sin4, Polynomial])
@pytest.mark.parametrize("drift", KINDS)
@examples(0.4)
@given(start=st.integers(0, 3 * STRIDE), length=st.integers(1, 40), row=st.integers(0, 2))
def test_a_round_is_a_function_of_seed_and_t(kind, drift, start, length, row):
    """Bitwise, whatever block and company it comes in; also across the checkpoints of a walk."""
    env = environment(kind, drift, drift_weight=0.3, shift_rate=0.01)
    block = env.rounds(SEEDS, start, start + length)
    for t in {start, start + length - 1}:
        alone = env.rounds(SEEDS[row : row + 1], t, t + 1)
        for name in block._fields:
            np.testing.assert_array_equal(
                getattr(alone, name)[0, 0], getattr(block, name)[row, t - start]
            )


@pytest.mark.parametrize("kind", [Sin4, Polynomial])
def test_the_paper_s_world_stands_still_and_none_has_no_noise(kind):
    paper, none = (environment(kind, drift, drift_weight=0.4) for drift in ("paper", "none"))
    np.testing.assert_array_equal(means(paper, 0, 9), np.tile(means(paper, 0, 1), (1, 9, 1)))
    np.testing.assert_array_equal(none.drifting_theta(SEEDS, 0, 9), means(none, 0, 9))
    without = environment(kind, "paper", drift_weight=0.0).rounds(SEEDS, 0, 9)
    np.testing.assert_array_equal(none.rounds(SEEDS, 0, 9).costs, without.costs)
    assert (paper.rounds(SEEDS, 0, 9).costs != without.costs).any()


@pytest.mark.parametrize("kind", [Sin4, Polynomial])
@pytest.mark.parametrize("drift", MOVING)
def test_every_kind_starts_at_theta_star_and_leaves_it(kind, drift):
    env = environment(kind, drift, features=6)
    start = environment(kind, "paper", features=6).mean_theta(SEEDS, 0, 1)
    np.testing.assert_allclose(means(env, 0, 1), start, rtol=1e-14)
    moved = np.abs(means(env, 0, 40) - start).max(-1)
    assert (moved.max(-1) > 0.1).all()


def test_switching_keeps_a_parameter_for_a_period_and_then_draws_another():
    env = environment(Sin4, "switching", features=200, items=2)
    theta = means(env, 0, 35)
    for first in (0, 10, 20, 30):
        segment = theta[:, first : first + 10]
        np.testing.assert_array_equal(segment, np.tile(segment[:, :1], (1, segment.shape[1], 1)))
    directions = theta[:, ::10] / math.sqrt(200)
    np.testing.assert_allclose((directions**2).sum(-1), 1.0, rtol=1e-12)
    cosines = np.einsum("skp,slp->skl", directions, directions)[:, *np.triu_indices(4, 1)]
    assert (np.abs(cosines) < 5 / math.sqrt(200)).all()
    assert env.switches(35) == [11, 21, 31]
    assert env.switches(31) == [11, 21, 31]
    assert env.switches(30) == [11, 21]
    assert environment(Sin4, "periodic").switches(35) == []


def test_periodic_goes_round_a_circle():
    theta = means(environment(Sin4, "periodic"), 0, 31)
    np.testing.assert_allclose((theta**2).sum(-1), 3.0, rtol=1e-12)
    np.testing.assert_allclose(theta[:, 5], -theta[:, 0], rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(theta[:, 10], theta[:, 0])
    cosine = (theta[:, 1:] * theta[:, :-1]).sum(-1) / 3.0
    np.testing.assert_allclose(cosine, math.cos(2 * math.pi / 10), rtol=1e-12)


def test_linear_goes_straight_at_its_rate():
    theta = means(environment(Sin4, "linear"), 0, 20)
    steps = np.diff(theta, axis=1)
    np.testing.assert_allclose(np.sqrt((steps**2).sum(-1)), 0.05, rtol=1e-9)
    np.testing.assert_allclose(steps, np.tile(steps[:, :1], (1, 19, 1)), atol=1e-13)


def test_the_random_walk_has_the_steps_of_a_walk():
    """Independent standard normal steps, in a stride, over its border, and between far rounds."""
    seeds, p = tuple(range(150)), 5
    walk = random_walk(seeds, p, STRIDE - 3, STRIDE + 3)
    assert (random_walk(seeds, p, 0, 1) == 0).all()
    steps = np.diff(walk, axis=1).swapaxes(0, 1).reshape(5, -1)
    many = steps.shape[1]
    covariance = steps @ steps.T / many
    assert (np.abs(covariance - np.eye(5)) < 5 * math.sqrt(2 / many)).all()
    for t in (100, STRIDE, 2 * STRIDE + 512):
        spread = (random_walk(seeds, p, t, t + 1) ** 2).mean() / t
        assert abs(spread - 1) < 5 * math.sqrt(2 / many)


@pytest.mark.parametrize("kind", [Sin4, Polynomial])
def test_the_covariates_move_at_their_rate(kind):
    still, moving = (environment(kind, "none", shift_rate=rate) for rate in (0.0, 0.5))
    moved = moving.rounds(SEEDS, 0, 9).X - still.rounds(SEEDS, 0, 9).X
    t = np.arange(9)
    if kind is Sin4:  # every item goes its own way
        lengths = np.sqrt((moved**2).sum(-1))
        np.testing.assert_allclose(lengths, np.tile(0.5 * t[:, None], (3, 1, 4)), atol=1e-12)
    else:  # the x_t behind all items does; an item sees the coordinates of its pattern, over √p
        np.testing.assert_allclose(moved, t[:, None, None] * moved[:, 1:2], atol=1e-12)
        assert (np.abs(moved[..., :3]).max((1, 2)) * math.sqrt(3) <= 8 * 0.5).all()
        assert np.abs(moved[:, -1]).max() > 0


@pytest.mark.parametrize("kind", [Sin4, Polynomial])
@pytest.mark.parametrize("drift", KINDS)
def test_only_what_never_moves_is_stationary(kind, drift):
    env = environment(kind, drift)
    assert env.stationary == (drift in ("paper", "none"))
    assert not replace(env, shift_rate=0.1).stationary


@pytest.mark.parametrize("drift", MOVING)
@pytest.mark.parametrize("t", [0, 27])
def test_fresh_samples_follow_the_law_of_their_round(drift, t):
    """E[c | X] of the fresh sample is the cost of a world without noise at θ*_t, given its own X."""
    env = environment(Sin4, drift, gamma=0.0, clip=False, drift_weight=0.4, shift_rate=0.02)
    fresh = env.fresh(SEEDS, t, 50)
    theta = 0.6 * env.theta_star(SEEDS, t)
    np.testing.assert_allclose(fresh.costs, np.einsum("snkp,sp->snk", fresh.X, theta), atol=1e-9)
    base = replace(env, shift_rate=0.0).fresh(SEEDS, t, 50).X
    np.testing.assert_allclose(
        fresh.X - base, np.broadcast_to(env.shift(SEEDS, (4, 3), t, t + 1), base.shape), atol=1e-12
    )
    # the rounds themselves agree: the noise is all that is left
    env = replace(env, noise_std=0.0, drift_weight=0.0)
    rounds = env.rounds(SEEDS, t, t + 1)
    expected = np.einsum("snkp,sp->snk", rounds.X, env.theta_star(SEEDS, t))
    np.testing.assert_allclose(rounds.costs, expected, atol=1e-12)


@pytest.mark.parametrize("drift", MOVING)
def test_fresh_polynomial_samples_follow_the_law_of_their_round(drift):
    """At degree 1 the mean cost is (s + 4)/3.5 with s = X E θ*_t."""
    env = environment(Polynomial, drift, degree=1, drift_weight=0.4, shift_rate=0.02)
    fresh = env.fresh(SEEDS, 27, 50)
    mean = 0.6 * means(env, 27, 28)
    s = np.einsum("snkp,sp->snk", fresh.X[..., :3], mean[:, 0])
    np.testing.assert_allclose(fresh.costs, (s + 4) / 3.5, rtol=1e-10)
    rounds = replace(env, noise_width=0.0, drift_weight=0.0).rounds(SEEDS, 20, 35)
    s = np.einsum("snkp,snp->snk", rounds.X[..., :3], means(env, 20, 35))
    np.testing.assert_allclose(rounds.costs, (s + 4) / 3.5, rtol=1e-10)


def test_the_switches_are_in_the_summary(tmp_path):
    run = ("run", "algo=uniform", "horizon=smoke", "seeds=1")
    done = odfl(*run, "data.drift=switching", "data.drift_period=20", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (directory,) = run_directories(tmp_path)
    assert json.loads((directory / "summary.json").read_text())["marks"] == [21, 41]
