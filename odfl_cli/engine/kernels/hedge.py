"""Hedge over a discretised Θ, compiled; see odfl_cli.algorithms.hedge."""

import numpy as np

from odfl_cli.algorithms import Hedge
from odfl_cli.algorithms.hedge import HedgeState
from odfl_cli.core.compiling import exact, inner, kernel
from odfl_cli.core.lanes import LANES, in_lanes, store
from odfl_cli.core.signatures import f8, void
from odfl_cli.engine.base import Play, Trace
from odfl_cli.engine.kernels import linear_lanes
from odfl_cli.engine.kernels.inner import (
    PARTS,
    PLAYED,
    apart,
    decide,
    dot,
    exponential_weights,
    played_by,
    sampled,
)
from odfl_cli.engine.kernels.polytopes import minimise
from odfl_cli.engine.kernels.predictors import predict
from odfl_cli.engine.parts import LINEAR, SIMPLEX, parts_of
from odfl_cli.environments import Rounds


@inner
def add_losses(parts, X, costs, t, experts, prediction, w, losses):
    """L_k ← L_k + ⟨c_t, w*(θ_k)⟩ for every expert."""
    for k in range(experts.shape[0]):
        predict(parts.predictor, X[t], experts[k], prediction)
        minimise(parts.polytope, parts.numbers, prediction, w)
        losses[k] += dot(costs[t], w)


@exact
def add_losses_in_lanes(X, costs, t, lanes, prediction, paid, losses):
    """The same where predictions are linear and one item is chosen, for experts [N/LANES, m] of registers."""
    for k in range(lanes.shape[0]):
        linear_lanes.predict(X[t].reshape(X[t].size), lanes[k], prediction)
        store(paid, (k,), linear_lanes.played(prediction, costs[t])[0])
    for k in range(losses.shape[0]):
        losses[k] += paid[k // LANES, k % LANES]


@kernel(
    void(
        PARTS, f8, f8[:, ::1], f8[:, :, ::1], f8[:, :, ::1], f8[:, ::1], f8[::1],
        f8[::1], f8[::1], PLAYED,
    )
)  # fmt: skip
def play(parts, eta, experts, lanes, X, costs, uniform, theta, losses, played):
    """Rounds of one seed; θ [m] and the experts' losses [N] are updated in place."""
    d, weights = costs.shape[1], np.empty(experts.shape[0])
    prediction, w = np.empty(d), np.empty(d)
    predictions, paid = np.empty((d, LANES)), np.empty((lanes.shape[0], LANES))
    for t in range(costs.shape[0]):
        decide(parts, X, costs, t, theta, prediction, w, played)
        if parts.predictor == LINEAR and parts.polytope == SIMPLEX:
            add_losses_in_lanes(X, costs, t, lanes, predictions, paid, losses)
        else:
            add_losses(parts, X, costs, t, experts, prediction, w, losses)
        weights[:] = 1.0
        exponential_weights(losses, eta, weights)
        theta[:] = experts[sampled(weights, uniform[t])]


def prepare(
    algorithm: Hedge, state: HedgeState, rounds: Rounds, draws: dict[str, np.ndarray], trace: Trace
) -> tuple[HedgeState, Play]:
    """The state after the block, and the function that fills it and the trace for seed number s."""
    parts, choice = parts_of(algorithm.problem), draws["hedge/choice"]
    theta, losses = apart(state.theta), apart(state.losses)
    experts = np.ascontiguousarray(algorithm.design)
    groups = np.array_split(experts, range(LANES, len(experts), LANES))
    lanes = np.stack([in_lanes(group.T) for group in groups])

    def play_seed(s: int) -> None:
        seen = rounds.X[s], rounds.costs[s], choice[s]
        left = theta[s], losses[s], played_by(s, trace)
        play(parts, algorithm.eta, experts, lanes, *seen, *left)

    return HedgeState(state.t + rounds.costs.shape[1], theta, losses), play_seed
