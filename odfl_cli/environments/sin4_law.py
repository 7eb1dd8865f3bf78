"""E[c | X] of the sin⁴ data, where X_tθ*_t is Gaussian given X_t."""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

CELLS, PARTS = 8192, 8  # of the signal's axis; a cell holds the mean over its parts
LEVELS = 64  # of the deviation's axis, denser towards 0
# link=reversing turns at this many times ‖θ*‖: 2 deviations at drift_weight 1/2
REVERSAL = math.sqrt(2.0)
TAIL = 8.0  # standard deviations beyond which a Gaussian is negligible


class CostLaw(NamedTuple):
    """The cost of a signal s = ⟨x, θ*_t⟩: (1 − γ) s + γ A link(s) + ε, clipped or not."""

    gamma: float
    amplitude: float
    noise_std: float
    clip: bool
    turn: float | None = None  # None: the link is sin⁴(1/(2s)); a number: s, and −2s beyond it


def expected_cost(
    law: CostLaw, mean: np.ndarray, deviation: np.ndarray, reach: float, widest: float
) -> np.ndarray:
    """E[c] for signals N(mean, deviation²), elementwise.

    A table covers means up to `reach` and deviations up to `widest`, as most are. Tables for other
    powers of 16 cover larger and much smaller ones, so that no value depends on the others.
    """
    if widest == 0.0:
        return _linear_part(law, mean) + cost_at(law, mean)
    size = np.maximum(np.abs(mean) / reach, deviation / widest)
    if size.size and size.min() > 1 / 16 and size.max() <= 1.0:
        return _look_up(law, mean, deviation, reach, widest)
    powers, out = np.ceil(np.log2(np.maximum(size, 16.0**-4)) / 4.0), np.empty(mean.shape)
    for power in np.unique(powers):
        there, scale = powers == power, 16.0**power
        out[there] = _look_up(law, mean[there], deviation[there], scale * reach, scale * widest)
    return out


def _look_up(
    law: CostLaw, mean: np.ndarray, deviation: np.ndarray, reach: float, widest: float
) -> np.ndarray:
    """E[c] for signals with |mean| ≤ reach and deviation ≤ widest, from a table."""
    from odfl_cli.environments.sin4_kernel import interpolate

    table = cost_table(law, _power_of_two_above(reach), _power_of_two_above(widest))
    out = np.empty(mean.shape)
    interpolate(*table, *(np.ascontiguousarray(part).ravel() for part in (mean, deviation, out)))
    return _linear_part(law, mean) + out


def cost_at(law: CostLaw, signal: np.ndarray) -> np.ndarray:
    """E[c | s] over the noise ε; without clipping, only the part of the link.

    E clip(y + σε, 0, 1) = σ (ψ(y/σ) − ψ((y − 1)/σ)) with ψ(a) = a Φ(a) + φ(a).
    """
    if not law.clip:
        return law.gamma * law.amplitude * link(law, signal)
    y = mean_cost(law, signal)
    if law.noise_std == 0.0:
        return np.clip(y, 0.0, 1.0)
    scaled, unit = y / law.noise_std, 1.0 / law.noise_std
    return law.noise_std * (_ramp(scaled) - _ramp(scaled - unit))


def mean_cost(law: CostLaw, signal: np.ndarray) -> np.ndarray:
    """E[c | s] before clipping, elementwise."""
    return (1.0 - law.gamma) * signal + law.gamma * law.amplitude * link(law, signal)


def link(law: CostLaw, signal: np.ndarray) -> np.ndarray:
    """sin⁴(1 / (2s)), or s and −2s beyond `turn`, elementwise."""
    if law.turn is None:
        return bump(signal)
    return np.where(np.abs(signal) <= law.turn, signal, -2.0 * signal)


def bump(signal: np.ndarray) -> np.ndarray:
    """sin⁴(1 / (2s)), elementwise."""
    wave = np.sin(0.5 / signal)
    wave *= wave
    wave *= wave
    return wave


@lru_cache(maxsize=16)
def cost_table(law: CostLaw, reach: float, widest: float) -> tuple[np.ndarray, float, float]:
    """Gaussian averages of `cost_at` [LEVELS + 1, CELLS], one row per deviation, and the ends of the axes.

    Cells of the signal hold means, as sin⁴(1/(2s)) oscillates infinitely often near 0. A
    Gaussian average is a convolution, done by the fast Fourier transform on an axis long enough that
    its wrap-around is negligible.
    """
    reach += TAIL * widest
    width = 2 * reach / (CELLS * PARTS)
    parts = -reach + width * (np.arange(CELLS * PARTS) + 0.5)
    cells = cost_at(law, parts).reshape(CELLS, PARTS).mean(-1)
    frequency = 2 * math.pi * np.fft.rfftfreq(CELLS, d=2 * reach / CELLS)
    deviations = widest * (np.arange(LEVELS + 1) / LEVELS) ** 2
    damping = np.exp(-0.5 * (deviations[:, None] * frequency) ** 2)
    return np.fft.irfft(np.fft.rfft(cells) * damping, CELLS), reach, widest


def _linear_part(law: CostLaw, mean: np.ndarray) -> np.ndarray | float:
    """(1 − γ) E[s], which needs no table; 0 if costs are clipped."""
    return 0.0 if law.clip else (1.0 - law.gamma) * mean


def _ramp(a: np.ndarray) -> np.ndarray:
    """ψ(a) = E max(a + ε, 0) for ε ~ N(0, 1)."""
    from scipy.special import ndtr

    return a * ndtr(a) + np.exp(-0.5 * a * a) / math.sqrt(2 * math.pi)


def _power_of_two_above(value: float) -> float:
    """The next power of two, so that many samples share one table."""
    return 2.0 ** math.ceil(math.log2(max(value, 1e-300)))
