"""Online decision-focused learning: run experiments, write CSVs, draw regret and MSE curves.

    from odfl_cli import load, run, sweep

    result = run(algo="df_ogd", data={"gamma": 0.5}, seeds=3)
    result.final["avg_cost"]
    result.plot()

The names in `__all__` are also what you write your own parts with (`from odfl_cli import Algorithm`).
Each is imported when it is first used, so that `odfl --help` imports none of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path
    from typing import Literal, TypeAlias

    from pandas import DataFrame

    from odfl_cli.algorithms.base import (
        Algorithm,
        State,
        drawn_problem,
        smoothing_draws,
        start_draws,
        start_points,
    )
    from odfl_cli.core.arrays import array_namespace, dot
    from odfl_cli.core.errors import UserError
    from odfl_cli.core.settings import settings
    from odfl_cli.core.streams import Draw, draw
    from odfl_cli.engine.base import EngineChoice
    from odfl_cli.environments.base import Environment, KnownLaw, Rounds
    from odfl_cli.learner.learner import Learner
    from odfl_cli.metrics.base import Metrics
    from odfl_cli.metrics.metric import Metric
    from odfl_cli.plotting.result import Result
    from odfl_cli.problem.ball import Ball
    from odfl_cli.problem.oracles.base import Oracle, OracleCall
    from odfl_cli.problem.polytopes.linear import LinearSet, Polytope
    from odfl_cli.problem.polytopes.solver import Solver
    from odfl_cli.problem.predictors.base import Predictor
    from odfl_cli.problem.problem import Horizon, Problem
    from odfl_cli.problem.regularizers.base import Regularizer
    from odfl_cli.problem.surrogate import SmoothedCost
    from odfl_cli.runs.closed_loop import Simulator

    Keys: TypeAlias = Mapping[str, Any]
    Choice: TypeAlias = str | Keys | tuple[str, Keys]
    Recorded: TypeAlias = DataFrame | tuple[DataFrame, Keys]
    Radius: TypeAlias = float | Literal["auto"]

__version__ = "0.3.0"

_PUBLIC = {
    "algorithms.base": "Algorithm State drawn_problem smoothing_draws start_draws start_points",
    "core.arrays": "array_namespace dot",
    "core.errors": "UserError",
    "core.settings": "settings",
    "core.streams": "Draw draw",
    "engine.base": "EngineChoice",
    "environments.base": "Environment KnownLaw Rounds",
    "learner.learner": "Learner",
    "metrics.base": "Metrics",
    "metrics.metric": "Metric",
    "plotting.result": "Result",
    "problem.ball": "Ball",
    "problem.oracles.base": "Oracle OracleCall",
    "problem.polytopes.linear": "LinearSet Polytope",
    "problem.polytopes.solver": "Solver",
    "problem.predictors.base": "Predictor",
    "problem.problem": "Horizon Problem",
    "problem.regularizers.base": "Regularizer",
    "problem.surrogate": "SmoothedCost",
    "runs.closed_loop": "Simulator",
}
_MODULES = {name: module for module, names in _PUBLIC.items() for name in names.split()}
__all__ = ["load", "run", "sweep", *_MODULES]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    """Imports a name of `__all__` from the module that defines it (PEP 562)."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"odfl_cli.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def run(
    *overrides: str,
    algo: "Choice | Callable[..., Algorithm] | None" = None,
    data: "Choice | Recorded | Environment | Simulator | Callable[[], Environment] | None" = None,
    predictor: "Choice | Predictor | Callable[[], Predictor] | None" = None,
    polytope: "Choice | Polytope | Callable[[], Polytope] | None" = None,
    regularizer: "Choice | Regularizer | Callable[..., Regularizer] | None" = None,
    oracle: "Choice | Oracle | Callable[[], Oracle] | None" = None,
    horizon: "Choice | Horizon | None" = None,
    engine: "Choice | EngineChoice | None" = None,
    metrics: "Choice | Metrics | Callable[[], Metrics] | None" = None,
    seeds: "int | Sequence[int] | None" = None,
    theta_radius: "Radius | None" = None,
    progress: bool | None = None,
    **keys: Any,
) -> "Result":
    """Runs one job and writes nothing; the numbers are those of `odfl run`.

    A group takes the name of a choice, a mapping of keys, or both as a pair:

        run(algo="pf_ogd", data={"gamma": 0.5}, seeds=3)
        run(algo=("pf_ogd", {"eta": 0.02}), horizon={"rounds": 1000})

    It also takes a part of your own: a class, a functools.partial or an instance. Algorithms must be
    classes or partials, which are called with problem=…. A class of a regulariser is called with
    polytope=…, any other without arguments:

        run(algo=partial(MyAlgorithm, rate=0.1), data=MyEnvironment(items=7))

    `data` may be a pandas DataFrame in the form of a file for data=replay, alone or with its keys:

        run(algo="rls", data=(frame, {"columns": {"round": "day"}}))

    An object with `observe(t) -> X` and `respond(t, w) -> costs` is a simulator, whose costs may depend
    on decisions.

    `overrides` are words of the command line. You can mix all forms; a keyword wins over an override of
    the same key. Any other keyword is a key at the top of the configuration. `progress` shows or hides
    the bar, which by default appears on a terminal and in a notebook; False also hides remarks on the data.
    """
    from odfl_cli.plotting.result import Result
    from odfl_cli.runs.in_memory import compute, plan_one

    keywords = _without_none(
        algo=algo, data=data, predictor=predictor, polytope=polytope, regularizer=regularizer,
        oracle=oracle, horizon=horizon, engine=engine, metrics=metrics, seeds=seeds,
        theta_radius=theta_radius, **keys,
    )  # fmt: skip
    return Result(*zip(*compute(plan_one(overrides, keywords), progress), strict=True))


def sweep(
    *overrides: str,
    algo: "Choice | Callable[..., Algorithm] | list[Any] | None" = None,
    data: "Choice | Recorded | Environment | Callable[[], Environment] | list[Any] | None" = None,
    predictor: "Choice | Predictor | Callable[[], Predictor] | list[Any] | None" = None,
    polytope: "Choice | Polytope | Callable[[], Polytope] | list[Any] | None" = None,
    regularizer: "Choice | Regularizer | Callable[..., Regularizer] | list[Any] | None" = None,
    oracle: "Choice | Oracle | Callable[[], Oracle] | list[Any] | None" = None,
    horizon: "Choice | Horizon | list[Any] | None" = None,
    engine: "Choice | EngineChoice | None" = None,
    metrics: "Choice | Metrics | Callable[[], Metrics] | None" = None,
    seeds: "int | Sequence[int] | None" = None,
    theta_radius: "Radius | list[Radius] | None" = None,
    experiment: str | None = None,
    progress: bool | None = None,
    **keys: Any,
) -> "Result":
    """Runs every combination of the values in lists, one after another, and writes nothing.

        sweep(algo=["df_ogd", "pf_ogd"], data={"gamma": [0, 0.5, 1]}, seeds=3)
        sweep(experiment="main", horizon="smoke")

    The arguments are those of `run`. A list holds alternatives, except for `seeds`; write a value that is
    itself a list as a tuple. A key that the experiment sweeps may get other values. A job that fails is
    left out with a warning.
    """
    from odfl_cli.plotting.result import Result
    from odfl_cli.runs.in_memory import compute, plan_sweep

    keywords = _without_none(
        algo=algo, data=data, predictor=predictor, polytope=polytope, regularizer=regularizer,
        oracle=oracle, horizon=horizon, engine=engine, metrics=metrics, seeds=seeds,
        theta_radius=theta_radius, experiment=experiment, **keys,
    )  # fmt: skip
    return Result(*zip(*compute(plan_sweep(overrides, keywords), progress), strict=True))


def load(*places: "str | Path", seeds: "str | int | Iterable[int] | None" = None) -> "Result":
    """Reads finished runs from their files; unreadable ones are left out with a warning.

    A place is a directory of a run, a sweep or several runs, or the name of a sweep or run under
    outputs/. Without a place, `load` reads what finished last. `seeds` names the seeds to read, as in
    "0-19"; by default they are those of the last request.

        load("outputs/sweeps/main")
        load("main").plot("avg_regret")
    """
    from odfl_cli.plotting.result import load_runs

    return load_runs(places, seeds)


def _without_none(**keywords: Any) -> dict[str, Any]:
    return {name: value for name, value in keywords.items() if value is not None}
