"""Learners inside an algorithm: restarts and mixtures."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.problems import composed_job, make_problem

from odfl_cli.core.errors import RoundError
from odfl_cli.engine.array_engine import ArrayEngine
from odfl_cli.engine.auto import Auto
from odfl_cli.engine.torch_engine import TorchEngine
from odfl_cli.environments.base import Rounds
from odfl_cli.problem.polytopes.knapsack import Knapsack
from odfl_cli.problem.regularizers.log_barrier import LogBarrier
from odfl_cli.runs.simulate import Job, simulate

ROUNDS, SEEDS = 15, 6
RESTARTS = ("algo=restart", "algo.shortest=3")
CHOICES = {
    "restart of ogd": RESTARTS,
    "restart of df_ogd": (*RESTARTS, "algo@algo.base=df_ogd"),
    "restart of spo": (*RESTARTS, "algo@algo.base=spo"),
    "vote": ("algo=vote", "algo.experts=[df_ogd,restart,rls]"),
    "guard": ("algo=guard",),
}
learners = pytest.mark.parametrize("words", CHOICES.values(), ids=CHOICES)


def job_of(words: tuple[str, ...], engine: Any) -> Job:
    job = composed_job(*words, f"horizon.rounds={ROUNDS}", f"seeds={SEEDS}", "data.items=4")
    return replace(job, engine=engine.choose(job.algorithm))


@learners
def test_seeds_threads_and_blocks_change_no_bit(words: tuple[str, ...]) -> None:
    job = job_of(words, Auto(threads=1))
    alone = simulate(job)
    other = simulate(job_of(words, Auto(threads=2)), block=7)
    np.testing.assert_array_equal(other.state.theta, alone.state.theta)
    for name, values in alone.table.items():
        np.testing.assert_array_equal(other.table[name], values, err_msg=name)
    few = simulate(replace(job, seeds=(4, 2, 5)))
    for name, values in alone.table.items():
        np.testing.assert_array_equal(few.table[name], values[[4, 2, 5]], err_msg=name)


@learners
def test_learners_play_alike_on_every_engine(words: tuple[str, ...]) -> None:
    ours, theirs = (simulate(job_of(words, engine)) for engine in (Auto(), ArrayEngine()))
    np.testing.assert_allclose(ours.state.theta, theirs.state.theta, atol=1e-9)
    for name, values in theirs.table.items():
        np.testing.assert_allclose(ours.table[name], values, atol=1e-9, err_msg=name)


def test_the_engine_of_a_mixture_names_those_of_its_learners() -> None:
    names = {words: job_of(words, Auto()).engine.name for words in CHOICES.values()}
    assert names[CHOICES["vote"]] == "array, compiled"
    assert names[CHOICES["guard"]] == "array, compiled"
    assert names[RESTARTS] == "array"


@pytest.mark.parametrize("engine", [ArrayEngine(), TorchEngine()], ids=["array", "torch"])
def test_a_copy_that_fails_names_the_round_and_the_seed(engine: Any) -> None:
    """Seed number 5 learns from round 5 on, counted from 1, and is beyond Newton's reach in the next; others later."""
    polytope = Knapsack(dimension=5, capacity=3.0)
    problem = replace(
        make_problem(items=5, features=2, rounds=9, radius=1e9),
        polytope=polytope,
        regularizer=LogBarrier(polytope=polytope),
    )
    given = composed_job(*RESTARTS, "algo@algo.base=fenchel_young").algorithm
    algorithm = replace(given, problem=problem)
    rng = np.random.default_rng(0)
    X, costs = 1e300 * rng.normal(size=(7, 9, 5, 2)), rng.normal(size=(7, 9, 5))
    X[:, :6] = 0.0
    X[5, 4:] = 1e300
    start = algorithm.init(7, None)
    draws = {name: rng.random((7, 9, *spec.shape)) for name, spec in algorithm.draws().items()}
    with pytest.raises(RoundError) as refusal:
        engine.advance(algorithm, start, Rounds(X, costs), draws)
    assert (refusal.value.round_index, refusal.value.seed_index) == (5, 5)
