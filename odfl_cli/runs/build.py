"""Builds objects from configurations; no other module instantiates them."""

import re
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from hydra.errors import InstantiationException
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from pydantic import ValidationError

from odfl_cli.algorithms.base import Algorithm
from odfl_cli.algorithms.observed import observe
from odfl_cli.algorithms.units import in_units
from odfl_cli.config.bookkeeping import SWEEP_GROUPS
from odfl_cli.config.compose import allow_any_class
from odfl_cli.config.identity import plain, resolve
from odfl_cli.config.schema import TopLevel, refusal
from odfl_cli.core.errors import (
    UserError,
    is_foreign,
    message,
    refuse_missing_torch,
    without_exits,
)
from odfl_cli.core.reading import flatten
from odfl_cli.core.text import assignments, did_you_mean
from odfl_cli.engine.base import EngineChoice
from odfl_cli.environments.base import Environment, knows_means, shape_of
from odfl_cli.feedback.base import Feedback
from odfl_cli.metrics.base import Metrics
from odfl_cli.problem.ball import Ball
from odfl_cli.problem.offers import OFFERS
from odfl_cli.problem.oracles.base import Oracle
from odfl_cli.problem.polytopes.linear import DecisionSet
from odfl_cli.problem.polytopes.solver import as_decision_set
from odfl_cli.problem.predictors.base import Predictor, prepare_predictor
from odfl_cli.problem.problem import UNBOUNDED, Horizon, Problem
from odfl_cli.problem.regularizers.base import Regularizer
from odfl_cli.results.summary import CUMULATIVE
from odfl_cli.runs.closed_loop import close_loop
from odfl_cli.runs.simulate import Job

Convert = Callable[[Any], Any]
CONTRACTS: dict[str, type] = {
    "algo": Algorithm,
    "data": Environment,
    "predictor": Predictor,
    "polytope": DecisionSet,
    "regularizer": Regularizer,
    "oracle": Oracle,
    "horizon": Horizon,
    "engine": EngineChoice,
    "metrics": Metrics,
    "feedback": Feedback,
}
"""Group → the contract of its parts."""
GROUPS = tuple(CONTRACTS)


@without_exits()
@refuse_missing_torch()
def build(config: DictConfig, **given: Any) -> Job:
    """A job ready to run; `given` are objects that replace groups, or functions of the parts they depend on."""
    if unknown := sorted(set(given).difference(GROUPS)):
        raise UserError(f"{unknown[0]}: there is no such group; there are {', '.join(GROUPS)}")
    environment = Parts(config, given).make("data", close_loop)
    config = fill_sizes(config, environment)
    top, parts = top_level(config), Parts(config, given)
    polytope = parts.make("polytope", lambda part: as_decision_set(part, environment.items))
    if polytope.dimension != environment.items:
        raise UserError(
            f"data.items={environment.items}: the polytope takes decisions of length "
            f"{polytope.dimension}{parts.sizes('polytope')}; the two must agree"
        )
    horizon = parts.make("horizon")
    if check_extent := getattr(environment, "check_extent", None):  # recorded rounds are limited
        check_extent(top.seed_list(), horizon.rounds)
    shape = shape_of(environment)
    predictor = parts.make(
        "predictor", lambda part: prepare_predictor(part, environment.items, shape)
    )
    radius = UNBOUNDED if top.theta_radius == "auto" else top.theta_radius
    problem = Problem(
        items=environment.items,
        features=environment.features,
        feature_names=getattr(environment, "feature_names", ()),
        rounds=horizon.rounds,
        theta_set=Ball(radius=getattr(predictor, "radius", None) or radius),
        auto_radius=top.theta_radius == "auto",
        predictor=predictor,
        polytope=polytope,
        regularizer=parts.make("regularizer", polytope=polytope),
        oracle=parts.make("oracle"),
        kappa=top.kappa,
        kappa_rule=top.kappa_rule,
        target=getattr(environment, "target", "raw"),
        X_shape=shape,
    )
    offers_all = getattr(environment, "offers_all", True)
    problem = problem if offers_all else problem.with_offers()
    algorithm = in_units(parts.make("algo", problem=problem))
    algorithm = observe(algorithm, parts.make("feedback"))
    if not offers_all and not algorithm.takes_offers:
        raise UserError(f"algo={algorithm.name}: it cannot take {OFFERS}")
    if top.kappa_rule == "worst" and (algorithm.learners or not knows_means(environment)):
        raise UserError("kappa_rule=worst: the data's law and one learner are needed; choose line")
    engine = parts.make("engine").choose(algorithm)
    return Job(
        environment, algorithm, engine, horizon, top.seed_list(), parts.make("metrics"),
        resolve(config),
    )  # fmt: skip


def fill_sizes(config: DictConfig, environment: Environment) -> DictConfig:
    """The configuration with the environment's number of items, and its seeds and rounds if they are null."""
    found: dict[str, Any] = {}
    if OmegaConf.select(config, "data.items", default=None) != environment.items:
        found["data.items"] = environment.items
    for key, value in getattr(environment, "extent", {}).items():
        if OmegaConf.select(config, key, default="") is None:
            found[key] = value
    config = config.copy() if found else config
    for key, value in found.items():
        OmegaConf.update(config, key, value, force_add=True)
    return config


def with_seeds(config: DictConfig) -> DictConfig:
    """The configuration, with the seeds of its data if they are null."""
    if config.get("seeds", "") is not None:
        return config
    return fill_sizes(config, Parts(config, {}).make("data", close_loop))


def top_level(config: DictConfig) -> TopLevel:
    """The validated keys outside the groups."""
    others = (*GROUPS, *SWEEP_GROUPS, "hydra")
    try:
        return TopLevel(**{str(k): plain(config[k]) for k in config if k not in others})
    except ValidationError as error:
        raise refusal(error, component=TopLevel) from error


def refuse_sweep_groups(config: DictConfig, why: str) -> None:
    """Raises for groups of a sweep as a whole if there is no sweep."""
    for group in SWEEP_GROUPS:
        if group in config:
            raise UserError(f"{group}: {why}")


def final_columns(job: Job) -> list[str]:
    """The columns that have a value after the last round."""
    columns = [c for c in job.metrics.columns(job.environment, job.algorithm) if c != "t"]
    return columns + [f"avg_{name}" for name in CUMULATIVE if name in columns]


def check_objective(column: str, job: Job) -> None:
    """Raises for a column that the job will not have, with the nearest one."""
    columns = final_columns(job)
    if column not in columns:
        hint = did_you_mean(column, columns)
        raise UserError(f"objective={column}: there is no such column; {hint}")


class Parts:
    """The components of a job, from the configuration or given as objects."""

    def __init__(self, config: DictConfig, given: dict[str, Any]) -> None:
        self._config, self._given = config, given

    def make(self, group: str, convert: Convert = lambda part: part, **dependencies: Any) -> Any:
        """The object of a group, called with the parts it depends on and converted by `convert`."""
        maker: Any = None
        try:
            maker = self._given[group] if group in self._given else self._partial(group)
            is_made = group in self._given and not dependencies
            part = convert(maker if is_made else maker(**dependencies))
        except ValidationError as error:
            raise refusal(error, group, getattr(maker, "func", maker)) from error
        except OmegaConfBaseException as error:
            what = str(error).splitlines()[0]
            raise UserError(f"{error.full_key or group}: {what}") from error
        except (ValueError, ArithmeticError, MemoryError) as error:
            raise UserError(f"{group}: {message(error)}") from error
        except (Exception, SystemExit) as error:
            ended = isinstance(error, SystemExit)
            if isinstance(error, UserError) or not (ended or is_foreign(error, below=1)):
                raise
            raise self._refusal(group, message(error)) from error
        needed = (name for name in dir(CONTRACTS.get(group, object)) if not name.startswith("_"))
        if lacking := [n for n in needed if not hasattr(type(part), n) and not hasattr(part, n)]:
            raise self._refusal(group, f"{type(part).__name__} has no {', '.join(lacking)}")
        return part

    def _refusal(self, group: str, reason: str) -> UserError:
        """The error for a part that violates its contract."""
        target = "" if group in self._given else f" {self._config[group]['_target_']}:"
        contract = CONTRACTS.get(group, object)
        named = f"{contract.__name__} in {contract.__module__}"
        return UserError(f"{group}:{target} {reason}; its contract is {named}")

    def sizes(self, group: str) -> str:
        """The plain keys of a group as they were given, in brackets."""
        node = {} if group in self._given else plain(self._config[group])
        values = {f"{group}.{k}": v for k, v in node.items() if isinstance(v, int | str)}
        values.pop(f"{group}._target_", None)
        return f" ({assignments(values)})" if values else ""

    def _partial(self, group: str) -> Any:
        """The class or function of the group's `_target_`, as a partial with the group's keys."""
        node = self._config.get(group)
        if not isinstance(node, DictConfig) or "_target_" not in node:
            raise UserError(f"{group}={node}: choose one of the group's files, see odfl run --help")
        try:
            for key, value in flatten({group: plain(node)}).items():
                if "???" in (value if isinstance(value, list) else [value]):
                    raise UserError(f"{key}: a value is needed")
            with allow_any_class():
                return instantiate(node, _convert_="all", _partial_=True)
        except (InstantiationException, TypeError, ImportError, AttributeError) as error:
            reason = " ".join(str(error.__cause__ or error).split())
            if flag := re.search(r"(_\w+_) flag must be (\S+ \S+?),.* full_key: (\S+)", reason):
                raise UserError(f"{flag[3]}.{flag[1]}: must be {flag[2]}") from error
            root = str(node["_target_"]).partition(".")[0]
            if root.isidentifier() and find_spec(root) is None:
                reason = (
                    f"there is no module {root} here; start odfl in the directory that holds it"
                )
            raise UserError(f"{group}: {node['_target_']}: {reason}") from error
