"""Rounds of small jobs, for learners that should have the numbers of a run."""

from functools import cache

import numpy as np

from odfl_cli import Learner
from odfl_cli.config.directory import choices_of, conf_directory
from odfl_cli.environments.base import Rounds
from odfl_cli.runs.simulate import Simulation, simulate
from support.problems import composed_job

NEED_TRUTH = {"clairvoyant"}
ALGORITHMS = sorted(set(choices_of("algo", [conf_directory()])) - NEED_TRUTH)
OFTEN = {"df_ogd", "df_ftpl", "rls", "hedge"}
SEED, T = 3, 200


@cache
def play_job(*overrides: str, rounds: int = T) -> tuple[Rounds, Simulation]:
    """The rounds of a job's only seed, and what `odfl run` makes of them."""
    job = composed_job(*overrides, f"horizon.rounds={rounds}", f"seeds=[{SEED}]")
    return job.environment.rounds((SEED,), 0, rounds), simulate(job)


def start_learner(algo: str = "df_ogd", rounds: int = T, **params: object) -> Learner:
    return Learner(algo=algo, horizon={"rounds": rounds}, seed=SEED, **params)


def assert_same_state(one: object, other: object) -> None:
    """Two states with the same bits."""
    if isinstance(one, tuple):
        for part, others in zip(one, other, strict=True):
            assert_same_state(part, others)
    elif isinstance(one, np.ndarray):
        np.testing.assert_array_equal(one, other)
    else:
        assert one == other


def assert_same(learner: Learner, simulation: Simulation) -> None:
    """The state and the mean cost of a run, to the last bit."""
    assert_same_state(learner._place.state, simulation.state)
    np.testing.assert_array_equal(learner.theta_, simulation.state.theta[0])
    assert learner.cost_ == simulation.table["avg_cost"][0, -1]
    assert learner.rounds_ == simulation.table["t"][0, -1]
