"""Torch modules as predictors: against the linear predictor, and PyEPO's loop."""

from importlib.util import find_spec

from support.problems import block_of

from benchmarks.report import Row, Section
from benchmarks.timing import assert_same_costs, busy, job_of
from odfl_cli.algorithms.base import on_problem
from odfl_cli.engine.torch_engine import TorchEngine
from odfl_cli.runs.simulate import Job

SIZE = ("data.items=5", "data.features=10")
LINEAR = ("predictor=torch", "predictor.module=support.networks.Linear", "+predictor.features=10")
NETWORK = ("predictor=mlp", "predictor.width=32", "predictor.depth=3")
ROUNDS, REPETITIONS = 200, 9


def sections() -> list[Section]:
    """Processor seconds per seed and round."""
    return [*(linear(algo) for algo in ("pf_ogd", "spo", "df_ogd")), network()]


class Learning:
    """The rounds of a job, to be played repeatedly on torch."""

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
    least = [min(times) for times in zip(*turns, strict=True)]
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
        Row("a linear module", module, module / closed, "linear"),
        Row("a linear module, a seed among ten", ten, ten / closed, "linear"),
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
    """Three layers of 32 units."""
    one, ten = learning(Learning("pf_ogd", 1, *NETWORK), Learning("pf_ogd", 10, *NETWORK))
    rows = [Row("one seed", one), Row("a seed among ten", ten)]
    return Section("pf_ogd, a network of three layers, torch", rows)
