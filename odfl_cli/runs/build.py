"""Configuration to objects: the only place that instantiates."""

import re
from importlib.util import find_spec
from typing import Any

from hydra.errors import InstantiationException
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf
from pydantic import ValidationError

from odfl_cli.config.compose import allow_any_class
from odfl_cli.config.identity import plain
from odfl_cli.config.schema import TopLevel, refusal
from odfl_cli.core.errors import UserError, message, refuse_missing_torch, without_exits
from odfl_cli.core.reading import flatten
from odfl_cli.core.text import assignments, did_you_mean
from odfl_cli.environments.base import Environment, shape_of
from odfl_cli.problem.ball import Ball
from odfl_cli.problem.offers import OFFERS
from odfl_cli.problem.predictors import prepared
from odfl_cli.problem.problem import Problem
from odfl_cli.runs.simulate import Job

GROUPS = (
    "algo",
    "data",
    "predictor",
    "polytope",
    "regularizer",
    "oracle",
    "horizon",
    "engine",
    "metrics",
)


@without_exits()
@refuse_missing_torch()
def build(config: DictConfig, **given: Any) -> Job:
    """A job ready to run, or a UserError that says what in the configuration is wrong.

    `given` are objects that replace groups; a regulariser is a function of the polytope, an
    algorithm of the problem.
    """
    if unknown := sorted(set(given).difference(GROUPS)):
        raise UserError(f"{unknown[0]}: there is no such group; there are {', '.join(GROUPS)}")
    environment = Parts(config, given).make("data")
    config = fill_sizes(config, environment)
    top, parts = top_level(config), Parts(config, given)
    polytope = parts.make("polytope")
    if polytope.dimension != environment.items:
        raise UserError(
            f"data.items={environment.items}: the polytope takes decisions of length "
            f"{polytope.dimension}{parts.sizes('polytope')}; the two must agree"
        )
    horizon = parts.make("horizon")
    if check_extent := getattr(environment, "check_extent", None):  # recorded rounds come to an end
        check_extent(top.seed_list(), horizon.rounds)
    shape = shape_of(environment)
    predictor = prepared(parts.make("predictor"), environment.items, shape)
    problem = Problem(
        items=environment.items,
        features=environment.features,
        feature_names=getattr(environment, "feature_names", ()),
        rounds=horizon.rounds,
        theta_set=Ball(radius=getattr(predictor, "radius", None) or top.theta_radius),
        predictor=predictor,
        polytope=polytope,
        regularizer=parts.make("regularizer", polytope=polytope),
        oracle=parts.make("oracle"),
        kappa=top.kappa,
        target=getattr(environment, "target", "raw"),
        X_shape=shape,
    )
    offers_all = getattr(environment, "offers_all", True)
    problem = problem if offers_all else problem.with_offers()
    algorithm = parts.make("algo", problem=problem)
    if not offers_all and not algorithm.takes_offers:
        raise UserError(f"algo={algorithm.name}: it cannot take {OFFERS}")
    engine = parts.make("engine").choose(algorithm)
    return Job(environment, algorithm, engine, horizon, top.seed_list(), parts.make("metrics"))


def fill_sizes(config: DictConfig, environment: Environment) -> DictConfig:
    """The configuration with the number of items that a file or an object turned out to have, and
    with all its seeds and rounds where these are null.
    """
    found: dict[str, Any] = {}
    if OmegaConf.select(config, "data.items", default=None) != environment.items:
        found["data.items"] = environment.items
    for key, value in getattr(environment, "extent", {}).items():
        if OmegaConf.select(config, key, default="") is None:
            found[key] = value
    if not found:
        return config
    config = config.copy()
    for key, value in found.items():
        OmegaConf.update(config, key, value, force_add=True)
    return config


def with_seeds(config: DictConfig) -> DictConfig:
    """The configuration, completed by its data if these decide the seeds."""
    if config.get("seeds", "") is not None:
        return config
    return fill_sizes(config, Parts(config, {}).make("data"))


def top_level(config: DictConfig) -> TopLevel:
    """The keys beside the groups, checked."""
    try:
        return TopLevel(**{str(k): plain(config[k]) for k in config if k not in (*GROUPS, "hydra")})
    except ValidationError as error:
        raise refusal(error, component=TopLevel) from error


def check_objective(column: str, job: Job) -> None:
    """Refuses a column that the job will not have, and names the nearest one."""
    columns = [c for c in job.metrics.columns(job.environment, job.algorithm) if c != "t"]
    if column not in columns:
        hint = did_you_mean(column, columns)
        raise UserError(f"objective={column}: there is no such column; {hint}")


class Parts:
    """The components of a job: from the configuration, or given as objects."""

    def __init__(self, config: DictConfig, given: dict[str, Any]) -> None:
        self._config, self._given = config, given

    def make(self, group: str, **dependencies: Any) -> Any:
        """The object of a group, given the parts it depends on."""
        maker: Any = None
        try:
            if group in self._given:
                maker = self._given[group]
                return maker(**dependencies) if dependencies else maker
            maker = self._partial(group)
            return maker(**dependencies)
        except ValidationError as error:
            raise refusal(error, group, getattr(maker, "func", maker)) from error
        except (ValueError, ArithmeticError, MemoryError, SystemExit) as error:
            raise UserError(f"{group}: {message(error)}") from error

    def sizes(self, group: str) -> str:
        """The plain keys of a group as they were given, in brackets."""
        node = {} if group in self._given else plain(self._config[group])
        own = {f"{group}.{k}": v for k, v in node.items() if isinstance(v, int | str)}
        own.pop(f"{group}._target_", None)
        return f" ({assignments(own)})" if own else ""

    def _partial(self, group: str) -> Any:
        """What the group's `_target_` names, with the group's keys."""
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
