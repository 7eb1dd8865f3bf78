"""The quality and the time of an oracle's answers at some of the evaluation rounds."""

import timeit
from functools import partial
from typing import Any

import numpy as np

from odfl_cli.algorithms.base import Algorithm
from odfl_cli.core.streams import Draw, draw
from odfl_cli.metrics.base import RoundStart
from odfl_cli.problem.oracles.base import OracleCall, uniform_in_ball
from odfl_cli.problem.oracles.descent import MultiStart
from odfl_cli.problem.oracles.exact import MOST_PARAMETERS, Exact

RESTARTS, STEPS = 16, 25  # of the reference solve
MAX_ROUNDS = 256  # of a long sum of losses that the search uses
REPETITIONS = 3
SHARE = "oracle_share"  # in seconds, which differ from run to run: not a column
VALUES = ("oracle_before", "oracle_after", "xi")


def calls_an_oracle(algorithm: Algorithm) -> bool:
    """True if the algorithm calls an oracle."""
    return type(algorithm).oracle_call is not Algorithm.oracle_call


class OracleExaminer:
    """Repeats the oracle call at about `count` of the rounds t [E]."""

    def __init__(self, algorithm: Algorithm, t: np.ndarray, seeds: int, count: int) -> None:
        self._algorithm, self._t = algorithm, t
        self.examined = t[np.unique(np.linspace(0, len(t) - 1, count).round().astype(int))]
        self._values = {name: np.full((seeds, len(t)), np.nan) for name in VALUES}
        self._shares: list[float] = []

    def watch(self, before: RoundStart) -> None:
        """Examines the round if it is one of the chosen ones."""
        report = oracle_report(self._algorithm, before) if before.t in self.examined else {}
        self._shares += [float(report.pop(SHARE).mean())] if report else []
        for name, values in report.items():
            self._values[name][:, self._t.searchsorted(before.t)] = values

    def columns(self) -> dict[str, np.ndarray]:
        """oracle_before, oracle_after and xi, [S, E]; empty if no round is examined."""
        return self._values if len(self.examined) else {}

    def report(self) -> dict[str, Any]:
        """The oracle's share of the seconds of a round, for summary.json."""
        return {SHARE: round(float(np.mean(self._shares)), 3)} if self._shares else {}


def oracle_report(algorithm: Algorithm, before: RoundStart) -> dict[str, np.ndarray]:
    """The oracle call of round t for every seed [S]; empty without an oracle.

    oracle_before and oracle_after are the objective at the warm start and at the answer; xi is the
    answer minus a reference solution, in the units of the paper's objective (for DF-FTPL a sum, not
    an average). In a round without a call the last answer counts. oracle_share is the call's share
    of the seconds of the whole round.
    """
    state, X, costs = before.state, before.rounds.X[:, 0], before.rounds.costs[:, 0]
    draws = {name: values[:, 0] for name, values in before.draws.items()}
    call = algorithm.oracle_call(state, X, costs, draws)
    if call is None:
        return {}
    problem, answer, spent = algorithm.problem, call.start, 0.0
    play = lambda: (algorithm.decide(state, X), algorithm.update(state, X, costs, draws))  # noqa: E731
    whole_round = min(timeit.repeat(play, repeat=REPETITIONS, number=1))
    if problem.oracle.answers(before.t):
        ask = partial(problem.oracle.answer, call)
        answer, spent = ask(), min(timeit.repeat(ask, repeat=REPETITIONS, number=1))
    value, weight = call.objective.value, call.objective.weight
    after = value(answer)
    lowest = value(reference_answer(call._replace(start=answer), before.t - 1))
    share = np.full(len(costs), min(1.0, spent / whole_round))
    report = (weight * value(call.start), weight * after, weight * np.maximum(after - lowest, 0))
    return dict(zip((*VALUES, SHARE), (*report, share), strict=True))


def reference_answer(call: OracleCall, t: int) -> np.ndarray:
    """A minimiser for comparison, [S, m]: a search of all of Θ if m ≤ 3, else many descents.

    A long sum of losses is first searched on a part of its rounds; the best point found and
    `call.start` are then improved with all of them.
    """
    theta_set, (seeds, m) = call.theta_set, call.start.shape
    coarse = OracleCall(call.objective.subsample(MAX_ROUNDS), theta_set, call.start)
    if m <= MOST_PARAMETERS:
        found = Exact().minimise(coarse)
    else:
        normals = draw((0,), "oracle_report/starts", Draw("normal", (RESTARTS, m + 2)), t, t + 1)[0]
        points = uniform_in_ball(normals, theta_set.radius)
        points = np.broadcast_to(points, (seeds, *points.shape[1:]))
        search = MultiStart(rule="lbfgs", starts=RESTARTS, steps=STEPS, lr=0.1)
        found = search.minimise(coarse._replace(points=points))
    polish = MultiStart(rule="lbfgs", starts=1, steps=STEPS, lr=0.1)
    return polish.minimise(OracleCall(call.objective, theta_set, found, points=call.start[:, None]))
