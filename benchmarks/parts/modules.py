"""Torch modules as predictors: against the closed forms, one seed against ten, and PyEPO's loop."""

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from importlib.util import find_spec
from multiprocessing import get_context
from shutil import which

import torch
from support.problems import block_of

from benchmarks.report import Row, Section
from benchmarks.timing import assert_same_costs, busy, job_of, seconds
from odfl_cli.algorithms import on_problem
from odfl_cli.engine import TorchEngine
from odfl_cli.runs.simulate import Job

SIZE = ("data.items=5", "data.features=10")
LINEAR = ("predictor=torch", "predictor.module=support.networks.Linear", "+predictor.features=10")
NETWORK = ("predictor=mlp", "predictor.width=32", "predictor.depth=3")
ROUNDS, REPETITIONS = 200, 9


def sections() -> list[Section]:
    """Processor seconds per seed and round."""
    return [*(linear(algo) for algo in ("pf_ogd", "spo", "df_ogd")), network(), *apart(compiled)]


class Learning:
    """The rounds of a job, played on torch as often as wanted."""

    def __init__(self, algo: str, seeds: int, *more: str) -> None:
        given = f"algo={algo}", *SIZE, *more, f"seeds={seeds}"
        self.job: Job = job_of(*given, rounds=ROUNDS, engine=TorchEngine())
        algorithm = self.job.algorithm
        algorithm = on_problem(algorithm, algorithm.problem.for_seeds(self.job.seeds))
        self.given = algorithm, algorithm.init(seeds, None), *block_of(self.job, 0, ROUNDS)

    def __call__(self) -> None:
        self.state, _ = self.job.engine.advance(*self.given)


def learning(*learners: Learning) -> list[float]:
    """The least seconds of each per seed and round; in turn, so that the load is the same for all."""
    turns = [[busy(learner) for learner in learners] for _ in range(REPETITIONS)]
    least = [min(own) for own in zip(*turns, strict=True)]
    return [
        t / (ROUNDS * len(learner.job.seeds)) for t, learner in zip(least, learners, strict=True)
    ]


def linear(algo: str) -> Section:
    """A linear module against the linear predictor, both on torch."""
    learners = Learning(algo, 1), Learning(algo, 1, *LINEAR), Learning(algo, 10, *LINEAR)
    closed, module, ten = learning(*learners)
    assert_same_costs(learners[0].state.theta, learners[1].state.theta)
    rows = [
        Row("predictor=linear on torch", closed),
        Row("a linear module", module, module / closed, "linear", at_most=1.5),
        Row("one seed, against ten batched", module, module / ten, "ten seeds", at_least=5),
    ]
    if algo == "spo" and find_spec("pyepo"):
        from benchmarks.pyepo_spo import spo_plus

        job = learners[0].job
        data = job.environment.rounds(job.seeds, 0, ROUNDS)
        game = job.algorithm.eta, job.algorithm.problem.theta_set.radius, data.X[0], data.costs[0]
        pyepo = min(busy(lambda: spo_plus(*game)) for _ in range(3)) / ROUNDS
        rows.append(Row("PyEPO's step", pyepo, pyepo / module, "a linear module"))
    return Section(f"{algo}, K=5 p=10, torch: one round of one seed", rows)


def network() -> Section:
    """Three layers of 32 units: what batching gains where a call has more to do."""
    one, ten = learning(Learning("pf_ogd", 1, *NETWORK), Learning("pf_ogd", 10, *NETWORK))
    row = Row("one seed, against ten batched", one, one / ten, "ten seeds", at_least=5)
    return Section("pf_ogd, a network of three layers, torch", [Row("ten seeds batched", ten), row])


def apart(part: Callable[[], Section]) -> Iterator[Section]:
    """The section, measured in a process of its own: torch.compile was seen to end it."""
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        try:
            yield process.submit(part).result()
        except BrokenProcessPool:
            print(f"{part.__name__}: torch.compile ended its process", file=sys.stderr)


def compiled() -> Section:
    """torch.compile of the network's recorded operations: what it takes, and what a round gains."""
    plain, fast = (Learning("pf_ogd", 10, *NETWORK) for _ in range(2))
    rows = [Row("recorded operations", *learning(plain))]
    if which("g++"):
        fast()
        evaluation = fast.given[0].problem.predictor.evaluation
        for traced in (evaluation.value, evaluation.pull):
            traced._graphs = {key: torch.compile(graph) for key, graph in traced._graphs.items()}
        rows.append(Row("torch.compile: once, before", seconds(fast)))
        before, after = learning(plain, fast)
        rows.append(Row("torch.compile", after, before / after, "gain"))
    return Section("pf_ogd, that network for ten seeds, torch", rows)
