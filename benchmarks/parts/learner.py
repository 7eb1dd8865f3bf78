"""`Learner`, a round at a time and many at once, beside river."""

import time
from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.report import Row, Section
from benchmarks.timing import job_of
from odfl_cli import Learner
from odfl_cli.core.streams import draw_all
from odfl_cli.environments.base import Rounds
from odfl_cli.runs.simulate import Job

ITEMS, FEATURES, ROUNDS, MANY = 5, 10, 100, 10_000
MOST = {"df_ogd": 200e-6, "pf_ogd": 100e-6, "df_moments": 400e-6}
"""Algorithm → the most seconds of processor time for predict_one and learn_one."""
REPETITIONS = 15


def sections() -> Iterator[Section]:
    """One round, then many."""
    rng = np.random.default_rng(0)
    X, costs = rng.normal(size=(MANY, ITEMS, FEATURES)), rng.random((MANY, ITEMS))
    river = least(lambda: river_rounds(X, costs), ROUNDS)
    rows = [Row("river's LinearRegression, one item", river)]
    for algo, most in MOST.items():
        learner = Learner(algo=algo).partial_fit(X[:300], costs[:300])
        seconds = least(lambda learner=learner: play(learner, X, costs), ROUNDS)
        rows.append(Row(algo, seconds, seconds / river, "river", at_most_seconds=most))
    yield Section(
        f"predict_one + learn_one, K={ITEMS} p={FEATURES}: processor time per round", rows
    )
    yield Section(f"partial_fit of {MANY} rounds beside a run's learning", list(blocks()))


def blocks() -> Iterator[Row]:
    """Ratios to the time of the engine of `odfl run` for the same rounds."""
    for algo in MOST:
        job = job_of(f"algo={algo}", "seeds=[0]", rounds=MANY)
        data = job.environment.rounds((0,), 0, MANY)
        learn = least(lambda job=job, data=data: advance(job, data))
        X, costs = data.X[0], data.costs[0]
        learners = iter(
            [Learner(algo=algo).partial_fit(X[:1], costs[:1]) for _ in range(REPETITIONS)]
        )
        fit = least(lambda one=learners, X=X, c=costs: next(one).partial_fit(X, c))
        yield Row(algo, fit, fit / learn, "a run's learning", at_most=1.3)


def advance(job: Job, data: Rounds) -> None:
    """Plays a run's rounds in its blocks."""
    state, block = job.algorithm.init(1, None), job.choose_block_rounds()
    for start in range(0, MANY, block):
        part = slice(start, min(start + block, MANY))
        draws = draw_all((0,), job.algorithm.draws(), part.start, part.stop)
        rounds = Rounds(data.X[:, part], data.costs[:, part])
        state, _ = job.engine.advance(job.algorithm, state, rounds, draws)


def play(learner: Learner, X: np.ndarray, costs: np.ndarray) -> None:
    """Plays rounds one by one."""
    for x, c in zip(X[:ROUNDS], costs[:ROUNDS], strict=True):
        learner.predict_one(x)
        learner.learn_one(x, c)


def river_rounds(X: np.ndarray, costs: np.ndarray) -> None:
    """Plays as many rounds of river's regression on one item."""
    from river.linear_model import LinearRegression

    model = LinearRegression()
    for x, c in zip(X[:ROUNDS, 0].tolist(), costs[:ROUNDS, 0].tolist(), strict=True):
        features = dict(enumerate(x))
        model.predict_one(features)
        model.learn_one(features, c)


def least(function: Callable[[], object], rounds: int = 1) -> float:
    """The least processor seconds of several calls, per round."""
    found = []
    for _ in range(REPETITIONS):
        begun = time.process_time()
        function()
        found.append((time.process_time() - begun) / rounds)
    return min(found)
