"""The loop over rounds in arrays, all seeds at once, for any algorithm with `decide` and `update`."""

from typing import Any, cast

import numpy as np

from odfl_cli.algorithms.base import Algorithm
from odfl_cli.core.arrays import Array, array_namespace, dot, to_numpy
from odfl_cli.core.errors import RoundError, RowError, UserError
from odfl_cli.engine.base import KAPPA_GAP, MEANS, SOLVER_LIMITS, Trace, note_names
from odfl_cli.problem.problem import predicted_gap, worst_within


def play_rounds(
    algorithm: Algorithm, state: Any, X: Array, costs: Array, draws: dict[str, Array]
) -> tuple[Any, Trace]:
    """The state after the rounds X [S, B, d, p], costs [S, B, d], and their trace."""
    names, problem, rows = note_names(algorithm), algorithm.problem, []
    _check_theta(algorithm, state, "init", len(costs))
    for i in range(costs.shape[1]):
        X_t, c_t = X[:, i], costs[:, i]
        draws_t = {name: values[:, i] for name, values in draws.items()}
        learned = problem.learning_target(c_t, X_t)
        try:
            prediction, decision = algorithm.act(state, X_t, draws_t)
            if MEANS in draws_t:
                chosen = problem.polytope, prediction, draws_t[MEANS], problem.kappa
                decision = worst_within(*chosen)
            state = algorithm.update(state, X_t, learned, draws_t)
        except RowError as error:  # the first axis is the seeds
            raise RoundError(i, error.row * len(costs) // error.rows, str(error)) from error
        if i == 0:
            _check_theta(algorithm, state, "update", len(costs))
        notes = [getattr(state, name) for name in algorithm.noted]  # in the order of `names`
        if KAPPA_GAP in names:
            notes.append(predicted_gap(problem.polytope, prediction, decision))
        if SOLVER_LIMITS in names:
            notes.append(cast(Any, problem.polytope).take_limited(len(costs)))
        missed = problem.squared_error(prediction, learned)
        rows.append((dot(c_t, decision), missed, decision, *notes))
    cost, mse, decisions, *columns = map(_stack, zip(*rows, strict=True))
    return state, Trace(cost, mse, dict(zip(names, columns, strict=True)), decisions)


def _check_theta(algorithm: Algorithm, state: Any, function: str, seeds: int) -> None:
    """Raises if the state of a user's algorithm lacks θ [S, m]."""
    expected = (seeds, algorithm.problem.parameters)
    found = getattr(getattr(state, "theta", None), "shape", None)
    if found is None or tuple(found) != expected:
        shape = f"of shape {tuple(found)}" if found is not None else "missing"
        raise UserError(
            f"{algorithm.name}: theta is {shape} in the state that {function} returns; "
            f"[seeds, parameters] are {expected}"
        )


def _stack(values: Any) -> np.ndarray:
    """Stacks arrays [S, …] of consecutive rounds in double precision, [S, B, …]."""
    if isinstance(values[0], np.ndarray):
        if len(values) == 1:  # np.stack takes ten times as long
            return values[0][:, None].astype(np.float64)
        return np.stack(values, axis=1, dtype=np.float64)
    return to_numpy(array_namespace(values[0]).stack(values, axis=1)).astype(np.float64)
