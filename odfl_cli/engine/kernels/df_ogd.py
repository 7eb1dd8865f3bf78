"""DF-OGD, compiled for four seeds at a time, one in every lane of a register; see odfl_cli.algorithms.df_ogd."""

from typing import cast

import numpy as np
from numba import f8, i8, void

from odfl_cli.algorithms.df_ogd import DFOGD, DFOGDState
from odfl_cli.core.compiling import exact, kernel
from odfl_cli.core.lanes import LANES, in_lanes, load, root, spread, store
from odfl_cli.engine.base import Draws, Play, Trace
from odfl_cli.engine.kernels.linear import descend, played, predict
from odfl_cli.environments.base import Rounds
from odfl_cli.problem.oracles.descent import SGD

SEEDS_AT_ONCE = LANES


@exact
def gather(values, k, out):
    """Round k of the seeds' values [S, B, n] as out [n, LANES]; lanes without a seed repeat the last one."""
    for lane in range(LANES):
        s = min(lane, len(values) - 1)
        for i in range(out.shape[0]):
            out[i, lane] = values[s, k, i]


@exact
def move_between(theta, vartheta, delta, u):
    """ϑ = u, then u = ϑ + δ (θ − ϑ); returns how far ϑ moved."""
    square = spread(0.0)
    for j in range(u.shape[0]):
        new = load(u, (j,))
        way = new - load(vartheta, (j,))
        square = square + way * way
        store(vartheta, (j,), new)
        store(u, (j,), new + delta * (load(theta, (j,)) - new))
    return root(square)


@kernel(
    void(
        f8[:, :, ::1], f8[:, :, ::1], f8[:, :, ::1], i8, f8[:, ::1], f8[:, ::1], f8[:, ::1],
        f8, f8, f8, f8, i8, f8, i8, f8[:, :, ::1],
    )
)  # fmt: skip
def play(
    X, costs, deltas, t, theta, vartheta, path,
    c_alpha, c_eta, n, radius, steps, lr, every, out,
):  # fmt: skip
    """Rounds t + 1, … of some seeds: X [S, B, d·p], costs [S, B, d] and δ [S, B, 1].

    θ [m], ϑ [m] and P [1] of registers are updated in place; out [B, 6] of registers is what was paid,
    the error, α, η, P and the item played.
    """
    items = costs.shape[2]
    x, c, w = np.empty((X.shape[2], LANES)), np.empty((items, LANES)), np.empty((items, LANES))
    u, delta = np.empty_like(theta), np.empty((1, LANES))
    length, scale = load(path, (0,)), n**-0.5
    for k in range(X.shape[1]):
        t += 1
        gather(X, k, x)
        gather(costs, k, c)
        gather(deltas, k, delta)
        predict(x, theta, w)
        item, cost, error = played(w, c)
        alpha = (c_alpha * scale * t**-0.25) * root(root(1.0 + length))
        for j in range(u.shape[0]):
            store(u, (j,), load(vartheta, (j,)))
        # 5: ϑ_t = O_ξ(f̃_t), warm-started at ϑ_{t−1}
        for _ in range(steps if (t - 1) % every == 0 else 0):
            descend(x, c, u, 1.0 / alpha, spread(lr), radius, w, u)
        # 6: u_t = ϑ_t + δ_t (θ_t − ϑ_t)
        way = move_between(theta, vartheta, load(delta, (0,)), u)
        length = length + way if t > 1 else length
        # 7: θ_{t+1} = Π_Θ(θ_t − η_t ∇f̃_t(u_t))
        fourth = root(root(1.0 + length))
        eta = (c_eta * scale * t**-0.75) * (fourth * fourth * fourth)
        descend(x, c, u, 1.0 / alpha, eta, radius, w, theta)
        store(out, (k, 0), cost)
        store(out, (k, 1), error)
        store(out, (k, 2), alpha)
        store(out, (k, 3), eta)
        store(out, (k, 4), length)
        store(out, (k, 5), item)
    store(path, (0,), length)


def prepare(
    algorithm: DFOGD, state: DFOGDState, rounds: Rounds, draws: Draws, trace: Trace
) -> tuple[DFOGDState, Play]:
    """The state after the block, and the function that fills it and the trace for group number k of seeds."""
    radius, oracle = algorithm.problem.theta_set.radius, cast(SGD, algorithm.problem.oracle)
    seeds, length = rounds.costs.shape[:2]
    X, deltas = rounds.X.reshape(seeds, length, -1), draws["df_ogd/delta"][:, :, None]
    descent = radius, oracle.steps, oracle.lr, oracle.every
    constants = algorithm.c_alpha, algorithm.c_eta, algorithm.n, *descent
    theta, vartheta = state.theta.copy(), state.vartheta.copy()
    path, alpha, eta = (np.empty_like(state.alpha) for _ in range(3))
    notes = (trace.notes[name] for name in algorithm.noted)
    filled = trace.cost, trace.mse, *notes, trace.decision

    def play_group(k: int) -> None:
        group = slice(k * LANES, (k + 1) * LANES)
        before = state.theta[group].T, state.vartheta[group].T, state.path_length[None, group]
        own = [in_lanes(values) for values in before]
        out = np.empty((length, len(filled), LANES))
        seen = [np.ascontiguousarray(values[group]) for values in (X, rounds.costs, deltas)]
        play(*seen, state.t, *own, *constants, out)
        count = len(seen[0])
        for number, values in enumerate(filled):
            values[group] = out[:, number, :count].T
        theta[group], vartheta[group] = own[0][:, :count].T, own[1][:, :count].T
        alpha[group], eta[group], path[group] = out[-1, 2:5, :count]

    after = {"theta": theta, "vartheta": vartheta, "path_length": path, "alpha": alpha, "eta": eta}
    return state._replace(t=state.t + length, **after), play_group
