"""How good an oracle's answer is, and what it costs: a round asked again, with a reference."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from odfl_cli.algorithms import Algorithm, OracleCall
from odfl_cli.core.streams import Draw, draw
from odfl_cli.problem.oracles import Exact, MultiStart, uniform_in_ball
from odfl_cli.problem.oracles.exact import MOST_PARAMETERS

RESTARTS, STEPS = 16, 25  # of the reference solve
ROUNDS = 256  # of a long sum of losses that the search looks at
REPETITIONS = 3

COLUMNS = ("oracle_before", "oracle_after", "xi", "oracle_share")


def oracle_report(
    algorithm: Algorithm,
    state: Any,
    X: np.ndarray,
    costs: np.ndarray,
    draws: dict[str, np.ndarray],
) -> dict[str, np.ndarray]:
    """What the oracle does in the round after `state`, for every seed [S]; empty without an oracle.

    oracle_before and oracle_after are the objective at the warm start and at the answer, xi is by
    how much a reference solve goes below the answer, in the units of the paper's objective: for
    DF-FTPL the sum of losses, not their average. A lazy oracle's standing answer counts as its
    answer. oracle_share is the call's share of the seconds of the whole round, asked here and now.
    """
    call = algorithm.oracle_call(state, X, costs, draws)
    if call is None:
        return {}
    problem, answer, spent = algorithm.problem, call.start, 0.0
    whole, _ = _timed(
        lambda: (algorithm.decide(state, X), algorithm.update(state, X, costs, draws))
    )
    if problem.oracle.answers(state.t + 1):
        spent, answer = _timed(lambda: call.answer(problem))
    value, weight = call.objective.value, call.objective.weight
    after = value(answer)
    lowest = value(reference_answer(algorithm, call, answer, state.t))
    share = np.full(len(costs), min(1.0, spent / whole))
    report = (weight * value(call.start), weight * after, weight * np.maximum(after - lowest, 0))
    return dict(zip(COLUMNS, (*report, share), strict=True))


def reference_answer(
    algorithm: Algorithm, call: OracleCall, answer: np.ndarray, t: int
) -> np.ndarray:
    """A minimiser to measure by, [S, m]: a search of all of Θ if m ≤ 3, else many descents.

    A long sum of losses is searched by a part of its rounds; the best end, and the answer itself,
    are then improved upon with all of them.
    """
    problem, objective = algorithm.problem, call.objective
    coarse = objective.thinned(ROUNDS)
    if problem.parameters <= MOST_PARAMETERS:
        found = Exact().minimise(coarse, problem.theta_set, answer, None)
    else:
        spec = Draw("normal", (RESTARTS, problem.parameters + 2))
        normals = draw((0,), "oracle_report/starts", spec, t, t + 1)[0]
        points = uniform_in_ball(normals, problem.theta_set.radius)
        points = np.broadcast_to(points, (len(answer), *points.shape[1:]))
        search = MultiStart(rule="lbfgs", starts=RESTARTS, steps=STEPS, lr=0.1)
        found = search.minimise(coarse, problem.theta_set, answer, None, points)
    polish = MultiStart(rule="lbfgs", starts=1, steps=STEPS, lr=0.1)
    return polish.minimise(objective, problem.theta_set, found, None, answer[:, None])


def _timed(action: Callable[[], Any]) -> tuple[float, Any]:
    """The least seconds of a few repetitions, and the result."""
    seconds = []
    for _ in range(REPETITIONS):
        begun = time.perf_counter()
        result = action()
        seconds.append(time.perf_counter() - begun)
    return min(seconds), result
