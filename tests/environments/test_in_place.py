"""Data that are filled in place, seed by seed, are what plain array code gives, to the last bit."""

import math

import numpy as np
import pytest

from odfl_cli.core.streams import MANY, Draw, draw
from odfl_cli.environments.base import Rounds
from odfl_cli.environments.polynomial import Polynomial
from odfl_cli.environments.sin4 import Sin4, set_condition, student_scale
from odfl_cli.environments.sin4_law import bump

SEEDS, START, STOP = (3, 0, 2**32 - 1), 250, 700


def normals(name: str, *shape: int) -> np.ndarray:
    return draw(SEEDS, name, Draw("normal", shape), START, STOP)


def sin4(world: Sin4) -> Rounds:
    """All seeds at once, one array operation after another."""
    X = normals("data/covariates", world.items, world.features)
    X[:, :, 1:] *= math.sqrt(1.0 - world.rho**2)
    for item in range(1, world.items):
        X[:, :, item] += world.rho * X[:, :, item - 1]
    if world.features_law == "student":
        X = X / student_scale(SEEDS, "data/covariates", START, STOP, world.items)
    if world.condition > 1:
        X = set_condition(SEEDS, world.condition, X)
    X = np.abs(X) if world.features_law == "positive" else X
    if world.shift_rate > 0:
        X = X + world.shift(SEEDS, X.shape[2:], START, STOP)
    signal = np.einsum("sbkp,sbp->sbk", X, world.drifting_theta(SEEDS, START, STOP))
    costs = (1.0 - world.gamma) * signal + world.gamma * world.amplitude * bump(signal)
    costs = costs + world.noise_std * normals("data/noise", world.items)
    return Rounds(X, np.clip(costs, 0.0, 1.0) if world.clip else costs)


def polynomial(world: Polynomial) -> Rounds:
    """The published generator, one array operation after another."""
    p, d = world.covariates, world.items
    pattern = draw(SEEDS, "data/pattern", Draw("uniform", (d, p))) < 0.5
    rows = pattern * (normals("data/covariates", p) / math.sqrt(p))[:, :, None, :]
    signal = (rows * world.drifting_theta(SEEDS, START, STOP)[:, :, None, :]).sum(-1)
    uniform = draw(SEEDS, "data/noise", Draw("uniform", (d,)), START, STOP)
    factor = 1.0 + world.noise_width * (2.0 * uniform - 1.0)
    base = (signal + 3.0) / 3.5
    value = base.copy()
    for _ in range(world.degree - 1):
        value *= base
    X = np.concatenate([rows, np.ones((*rows.shape[:-1], 1))], axis=-1)
    return Rounds(X, (value + 3.5**-world.degree) * factor)


WORLDS: list[Sin4 | Polynomial] = [
    Sin4(),
    Sin4(items=80),
    Sin4(items=7, features=33, rho=-0.3, gamma=0.4, clip=False),
    Sin4(features_law="positive", shift_rate=0.01, drift="random_walk"),
    Sin4(items=4, features=3, features_law="student", condition=9.0, drift="switching"),
    Polynomial(),
    Polynomial(items=6, covariates=9, degree=6, drift_weight=0.3, drift="periodic"),
]


@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_as_array_code(world: Sin4 | Polynomial) -> None:
    """Sizes below and above the one from which threads share the seeds."""
    expected = sin4(world) if isinstance(world, Sin4) else polynomial(world)
    for ours, theirs in zip(world.rounds(SEEDS, START, STOP), expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_the_worlds_lie_on_both_sides_of_the_threshold() -> None:
    sizes = [3 * 450 * world.items * world.features for world in WORLDS]
    assert min(sizes) < MANY < max(sizes)
