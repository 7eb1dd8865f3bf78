"""Hedge over a discretised Θ, compiled; see odfl_cli.algorithms.hedge."""

import numpy as np

from odfl_cli.algorithms import Hedge
from odfl_cli.algorithms.hedge import HedgeState
from odfl_cli.core.compiling import inner, kernel
from odfl_cli.core.signatures import f8, void
from odfl_cli.engine.base import Play, Trace
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
from odfl_cli.engine.parts import parts_of
from odfl_cli.environments import Rounds


@inner
def add_losses(parts, X, costs, t, experts, prediction, w, losses):
    """L_k ← L_k + ⟨c_t, w*(θ_k)⟩ for every expert."""
    for k in range(experts.shape[0]):
        predict(parts.predictor, X[t], experts[k], prediction)
        minimise(parts.polytope, parts.numbers, prediction, w)
        losses[k] += dot(costs[t], w)


@kernel(
    void(
        PARTS, f8, f8[:, ::1], f8[:, :, ::1], f8[:, ::1], f8[::1],
        f8[::1], f8[::1], PLAYED,
    )
)  # fmt: skip
def play(parts, eta, experts, X, costs, uniform, theta, losses, played):
    """Rounds of one seed; θ [m] and the experts' losses [N] are updated in place."""
    prediction, w = np.empty(costs.shape[1]), np.empty(costs.shape[1])
    weights = np.empty(experts.shape[0])
    for t in range(costs.shape[0]):
        decide(parts, X, costs, t, theta, prediction, w, played)
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

    def play_seed(s: int) -> None:
        seen = rounds.X[s], rounds.costs[s], choice[s]
        left = theta[s], losses[s], played_by(s, trace)
        play(parts, algorithm.eta, experts, *seen, *left)

    return HedgeState(state.t + rounds.costs.shape[1], theta, losses), play_seed
