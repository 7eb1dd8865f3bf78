"""Configuration to objects: the only place that instantiates."""

from typing import Any

from hydra.errors import InstantiationException
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf
from pydantic import ValidationError

from odfl_cli.ball import Ball
from odfl_cli.environments import Environment
from odfl_cli.errors import UserError
from odfl_cli.naming import plain
from odfl_cli.problem import Problem
from odfl_cli.schema import TopLevel, refusal
from odfl_cli.simulate import Job

GROUPS = (
    "algo",
    "data",
    "predictor",
    "polytope",
    "regularizer",
    "oracle",
    "solver",
    "horizon",
    "engine",
)


def build(config: DictConfig) -> Job:
    """A job ready to run, or a UserError that says what in the configuration is wrong."""
    top = _top_level(config)
    environment = _component(config, "data")
    config = sized(config, environment)
    polytope = _component(config, "polytope")
    if polytope.dimension != environment.items:
        raise UserError(
            f"data.items={environment.items}: the polytope takes decisions of length "
            f"{polytope.dimension}; the two must agree"
        )
    horizon = _component(config, "horizon")
    if check_extent := getattr(environment, "check_extent", None):  # recorded rounds come to an end
        check_extent(top.seed_list(), horizon.rounds)
    problem = Problem(
        items=environment.items,
        features=environment.features,
        rounds=horizon.rounds,
        theta_set=Ball(radius=top.theta_radius),
        predictor=_component(config, "predictor"),
        polytope=polytope,
        regularizer=_component(config, "regularizer", polytope=polytope),
        oracle=_component(config, "oracle"),
        solver=_component(config, "solver"),
    )
    algorithm = _component(config, "algo", problem=problem)
    engine = _component(config, "engine").choose(algorithm)
    return Job(environment, algorithm, engine, horizon, top.seed_list())


def sized(config: DictConfig, environment: Environment) -> DictConfig:
    """The configuration with the number of items that a file turned out to have."""
    if OmegaConf.select(config, "data.items", default=0) is not None:
        return config
    config = config.copy()
    OmegaConf.update(config, "data.items", environment.items, force_add=True)
    return config


def _top_level(config: DictConfig) -> TopLevel:
    try:
        return TopLevel(**{str(k): plain(config[k]) for k in config if k not in (*GROUPS, "hydra")})
    except ValidationError as error:
        raise refusal(error) from error


def _component(config: DictConfig, group: str, **parts: Any) -> Any:
    """The object that the group's `_target_` names, given the parts it stands on."""
    node = config.get(group)
    if not isinstance(node, DictConfig) or "_target_" not in node:
        raise UserError(f"{group}={node}: choose one of the group's files, see odfl run --help")
    try:
        return instantiate(node, _convert_="all", _partial_=True)(**parts)
    except ValidationError as error:
        raise refusal(error, group) from error
    except InstantiationException as error:
        cause = error.__cause__ or error
        raise UserError(f"{group}: {node['_target_']}: {' '.join(str(cause).split())}") from error
