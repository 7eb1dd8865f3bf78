"""Torch modules as predictors: against the closed forms, one seed against ten, and PyEPO's loop."""

from importlib.util import find_spec
from shutil import which

import torch

from benchmarks.report import Row, Section
from benchmarks.timing import assert_same_costs, best_of, job_of, per_seed_round, repeated
from odfl_cli.engine import TorchEngine
from odfl_cli.problem.predictors.tracing import recorded
from odfl_cli.runs.simulate import Job, Simulation

SIZE = ("data.items=5", "data.features=10")
LINEAR = ("predictor=torch", "predictor.module=support.networks.Linear", "+predictor.features=10")
NETWORK = ("predictor=mlp", "predictor.width=32", "predictor.depth=3")
ROUNDS = 200


def sections() -> list[Section]:
    """Seconds per seed and round."""
    return [*(linear(algo) for algo in ("pf_ogd", "spo", "df_ogd")), network(), compiled()]


def measured(algo: str, seeds: int, *more: str) -> tuple[Job, Simulation, float]:
    """The job, one of its runs, and seconds per seed and round."""
    job = job_of(
        f"algo={algo}", *SIZE, *more, f"seeds={seeds}", rounds=ROUNDS, engine=TorchEngine()
    )
    runs = repeated(job, 7)
    return job, runs[0], per_seed_round(job, "learn", runs)


def linear(algo: str) -> Section:
    """A linear module against the linear predictor, both on torch."""
    job, closed_run, closed = measured(algo, 1)
    _, module_run, module = measured(algo, 1, *LINEAR)
    assert_same_costs(closed_run.state.theta, module_run.state.theta)
    _, _, ten = measured(algo, 10, *LINEAR)
    rows = [
        Row("predictor=linear on torch", closed),
        Row("a linear module", module, module / closed, "linear", at_most=1.5),
        Row("one seed, against ten batched", module, module / ten, "ten seeds", at_least=5),
    ]
    if algo == "spo" and find_spec("pyepo"):
        from benchmarks.pyepo_spo import spo_plus

        data = job.environment.rounds(job.seeds, 0, ROUNDS)
        game = job.algorithm.eta, job.algorithm.problem.theta_set.radius, data.X[0], data.costs[0]
        pyepo = best_of(3, lambda: spo_plus(*game)) / ROUNDS
        rows.append(Row("PyEPO's step", pyepo, pyepo / module, "a linear module"))
    return Section(f"{algo}, K=5 p=10, torch: one round of one seed", rows)


def network() -> Section:
    """Three layers of 32 units: what batching gains where a call has more to do."""
    _, _, one = measured("pf_ogd", 1, *NETWORK)
    _, _, ten = measured("pf_ogd", 10, *NETWORK)
    row = Row("one seed, against ten batched", one, one / ten, "ten seeds", at_least=5)
    return Section("pf_ogd, a network of three layers, torch", [Row("ten seeds batched", ten), row])


def compiled() -> Section:
    """torch.compile of a gradient against the operations that were recorded of it."""
    job, _, _ = measured("pf_ogd", 10, *NETWORK)
    predictor = job.algorithm.problem.for_seeds(job.seeds).predictor
    X = torch.from_numpy(job.environment.rounds(job.seeds, 0, 1).X[:, 0])
    theta = torch.zeros(10, job.algorithm.problem.parameters, dtype=torch.float64)
    tensors = predictor._origin(X), theta, X, torch.ones(X.shape[:-1], dtype=torch.float64)
    plain = recorded(predictor.evaluation.pull._function, tensors)
    with torch.no_grad():
        rows = [Row("recorded operations", best_of(2000, lambda: plain(*tensors)))]
        if which("g++"):
            fast = torch.compile(plain)
            fast(*tensors)
            seconds = best_of(2000, lambda: fast(*tensors))
            rows.append(Row("torch.compile", seconds, rows[0].seconds / seconds, "gain"))
    return Section("The gradient of that network for ten seeds", rows)
