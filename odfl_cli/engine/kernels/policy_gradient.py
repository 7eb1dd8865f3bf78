"""The score-function gradient of a softmax policy, compiled; see odfl_cli.algorithms.policy_gradient."""

import numpy as np

from odfl_cli.algorithms import PolicyGradient
from odfl_cli.algorithms.policy_gradient import PolicyGradientState
from odfl_cli.core.compiling import kernel
from odfl_cli.core.signatures import f8, i8, void
from odfl_cli.engine.base import Play, Trace
from odfl_cli.engine.kernels.inner import PARTS, PLAYED, apart, decide, played_by, sampled, step
from odfl_cli.engine.kernels.predictors import vjp
from odfl_cli.engine.kernels.smoothing import softmax
from odfl_cli.engine.parts import parts_of
from odfl_cli.environments import Rounds


@kernel(
    void(
        PARTS, f8, f8, f8, i8, f8[:, :, ::1], f8[:, ::1], f8[::1],
        f8[::1], f8[::1], PLAYED,
    )
)  # fmt: skip
def play(parts, alpha, eta, radius, t, X, costs, uniform, theta, baseline, played):
    """Rounds t + 1, … of one seed; θ [m] and the baseline [1] are updated in place."""
    prediction, policy = np.empty(costs.shape[1]), np.empty(costs.shape[1])
    gradient = np.empty_like(theta)
    for k in range(costs.shape[0]):
        t += 1
        decide(parts, X, costs, k, theta, prediction, policy, played)
        softmax(prediction, alpha, policy)
        item = sampled(policy, uniform[k])
        lead = costs[k, item] - baseline[0]
        # ∇_ĉ log π_i = (π − e_i)/α
        policy[item] -= 1.0
        for i in range(policy.shape[0]):
            policy[i] *= lead / alpha
        vjp(parts.predictor, X[k], policy, gradient)
        step(theta, eta, gradient, radius)
        baseline[0] += lead / t


def prepare(
    algorithm: PolicyGradient,
    state: PolicyGradientState,
    rounds: Rounds,
    draws: dict[str, np.ndarray],
    trace: Trace,
) -> tuple[PolicyGradientState, Play]:
    """The state after the block, and the function that fills it and the trace for seed number s."""
    problem, uniform = algorithm.problem, draws["policy_gradient/item"]
    theta, baseline = apart(state.theta), apart(state.baseline[:, None])
    rates = algorithm.alpha, algorithm.eta, problem.theta_set.radius
    constants = parts_of(problem), *rates, state.t

    def play_seed(s: int) -> None:
        seen = rounds.X[s], rounds.costs[s], uniform[s]
        play(*constants, *seen, theta[s], baseline[s], played_by(s, trace))

    t = state.t + rounds.costs.shape[1]
    return PolicyGradientState(t, theta, baseline[:, 0]), play_seed
