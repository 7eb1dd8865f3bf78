"""AdaNormalHedge with sleeping copies, compiled; see odfl_cli.algorithms.vote."""

from typing import NamedTuple

import numpy as np

from odfl_cli.algorithms.vote import TINY, Vote, VoteState
from odfl_cli.core.compiling import inner, kernel
from odfl_cli.core.signatures import b1, f8, i8, record, void
from odfl_cli.engine.base import Play, Trace
from odfl_cli.engine.kernels.mixture import Experts
from odfl_cli.environments import Rounds


class Counts(NamedTuple):
    """The fields of VoteState that are updated in place, of one seed."""

    weights: np.ndarray  # [N]
    gains: np.ndarray  # [L, N]
    sizes: np.ndarray  # [L, N]
    potential: np.ndarray  # [1]
    scale: np.ndarray  # [1]
    paid: np.ndarray  # [N]
    detour: np.ndarray  # [1]
    certificate: np.ndarray  # [1]


VECTOR, MATRIX = f8[::1], f8[:, ::1]
COUNTS = record(Counts, VECTOR, MATRIX, MATRIX, *[VECTOR] * 5)
NO_WEIGHT = np.log(TINY) - np.log(2.0)
"""ln of the weight of a copy with R ≤ −1."""


@inner
def heaviest(weights):
    """The first of the largest."""
    best = 0
    for k in range(weights.shape[0]):
        if weights[k] > weights[best]:
            best = k
    return best


@inner
def log_weight(R, C):
    """ln ½ (Φ(R + 1, C + 1) − Φ(R − 1, C + 1))."""
    if R <= -1.0:
        return NO_WEIGHT
    above, below = (R + 1.0) ** 2 / (3.0 * (C + 1.0)), max(R - 1.0, 0.0) ** 2 / (3.0 * (C + 1.0))
    return above + np.log(max(-np.expm1(below - above), TINY)) - np.log(2.0)


@inner
def count(paid, t, lengths, prior, mixed, counts):
    """R, C, B and s after round t, in which the experts paid [N]; copies begin anew."""
    before, least, most = counts.scale[0], np.inf, -np.inf
    for k in range(paid.shape[0]):
        least, most = min(least, paid[k]), max(most, paid[k])
    scale = max(before, most - least)
    part, unit = before / max(scale, TINY), max(before, TINY)
    for level in range(prior.shape[0]):
        anew = level > 0 and t % lengths[level] == 0
        for k in range(paid.shape[0]):
            r = part * (mixed - paid[k])
            counts.potential[0] += 1.5 * prior[level] * abs(r) / (counts.sizes[level, k] + unit)
            counts.gains[level, k] = 0.0 if anew else counts.gains[level, k] + r
            counts.sizes[level, k] = 0.0 if anew else counts.sizes[level, k] + abs(r)
    for k in range(paid.shape[0]):
        counts.paid[k] += paid[k]
    counts.scale[0] = scale


@inner
def reweigh(log_prior, counts, logs):
    """p_k ∝ Σ_copies q w(R/s, C/s)."""
    L, N = logs.shape
    unit, top, total = max(counts.scale[0], TINY), -np.inf, 0.0
    for level in range(L):
        for k in range(N):
            R, C = counts.gains[level, k] / unit, counts.sizes[level, k] / unit
            logs[level, k] = log_weight(R, C) + log_prior[level]
            top = max(top, logs[level, k])
    counts.weights[:] = 0.0
    for level in range(L):
        for k in range(N):
            weight = np.exp(logs[level, k] - top)
            counts.weights[k] += weight
            total += weight
    for k in range(N):
        counts.weights[k] /= total


@inner
def certify(t, q, counts):
    """The bound on the regret to every expert, per round."""
    least, reached = np.inf, np.inf
    log = np.log(counts.potential[0] / q)
    for k in range(counts.paid.shape[0]):
        bound = np.sqrt(3.0 * counts.sizes[0, k] * counts.scale[0] * log)
        least, reached = min(least, counts.paid[k]), min(reached, counts.paid[k] + bound)
    counts.certificate[0] = (reached - least + counts.scale[0] + counts.detour[0]) / t


@kernel(void(i8, b1, i8[::1], VECTOR, MATRIX, COUNTS, VECTOR, VECTOR, i8[::1]))
def weigh(start, mixes, lengths, prior, paid, counts, cost, certificate, leader):
    """What the vote pays in rounds of one seed after round `start`, from what its experts pay [B, N]."""
    logs, log_prior = np.empty(counts.gains.shape), np.log(prior)
    for i in range(paid.shape[0]):
        mixed = paid[i, 0]
        for k in range(1, paid.shape[1]):
            mixed += counts.weights[k] * (paid[i, k] - paid[i, 0])
        leader[i] = heaviest(counts.weights)
        cost[i] = mixed if mixes else paid[i, leader[i]]
        counts.detour[0] += cost[i] - mixed
        count(paid[i], start + i + 1, lengths, prior, mixed, counts)
        reweigh(log_prior, counts, logs)
        certify(start + i + 1, prior[0], counts)
        certificate[i] = counts.certificate[0]


def prepare(
    algorithm: Vote, state: VoteState, rounds: Rounds, draws: dict[str, np.ndarray], trace: Trace
) -> tuple[VoteState, Play]:
    """The state after the block, and the function that fills it and the trace for seed number s."""
    experts = Experts(algorithm, state, rounds, draws, trace)
    filled = {name: getattr(state, name).copy() for name in Counts._fields}
    theta, length = np.zeros_like(state.theta), rounds.costs.shape[1]
    lengths, prior = np.array([0, *algorithm.lengths]), algorithm.prior[:, 0].copy()
    rules = state.t, algorithm.play == "mixed", lengths, prior

    def play_seed(s: int) -> None:
        fields = (filled[name][s : s + 1] for name in Counts._fields)
        counts = Counts(*(x if x.ndim == 1 else x[0] for x in fields))
        paid, leader = experts.paid(s), np.empty(length, dtype=np.int64)
        weigh(*rules, paid, counts, trace.cost[s], trace.notes["certificate"][s], leader)
        experts.report(s, leader)
        best = int(counts.weights.argmax())
        if algorithm.sharing[best]:
            theta[s] = experts.states[best].theta[s]

    after = state._replace(t=state.t + length, theta=theta, states=experts.states, **filled)
    return after, play_seed
