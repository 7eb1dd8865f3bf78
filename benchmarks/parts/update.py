"""One online update of SPO+: numpy, torch, and PyEPO."""

from collections.abc import Iterator
from importlib.util import find_spec

from benchmarks.report import Row, Section
from benchmarks.timing import assert_same_costs, best_of, job_of, per_seed_round, repeat
from odfl_cli.engine.array_engine import ArrayEngine
from odfl_cli.engine.base import Engine
from odfl_cli.engine.torch_engine import TorchEngine
from odfl_cli.runs.simulate import Job, Simulation

SIZE = ("algo=spo", "data.items=5", "data.features=10")
ROUNDS = 1000


def sections() -> Iterator[Section]:
    """Seconds per update; PyEPO if it is installed (pip install 'odfl[bench]')."""
    job, (run, *_), alone = measure(ArrayEngine(), seeds=1)
    _, _, arrays = measure(ArrayEngine(), seeds=10)
    _, (other, *_), torch = measure(TorchEngine(), seeds=1)
    _, _, batched = measure(TorchEngine(), seeds=10)
    assert_same_costs(run.table["cost"], other.table["cost"])
    assert_same_costs(run.state.theta, other.state.theta)
    rows = [
        Row("numpy, ten seeds batched", arrays),
        Row("numpy, one seed", alone, alone / arrays, "numpy"),
        Row("torch, ten seeds batched", batched, batched / arrays, "numpy"),
        Row("torch, one seed", torch, torch / arrays, "numpy"),
    ]
    rows.append(pyepo_row(job, run, arrays))
    yield Section("SPO+, K=5 p=10: one online update", rows)


def measure(engine: Engine, seeds: int) -> tuple[Job, list[Simulation], float]:
    """The job, its runs, and seconds per seed and round, play included."""
    job = job_of(*SIZE, f"seeds={seeds}", rounds=ROUNDS, engine=engine)
    runs = repeat(job, 5)
    return job, runs, per_seed_round(job, "learn", runs)


def pyepo_row(job: Job, run: Simulation, fast: float) -> Row:
    """PyEPO's update on the same rounds, which ends at the same θ."""
    if find_spec("pyepo") is None:
        return Row("PyEPO's SPO+: skipped, pyepo is not installed (the bench extra)")
    from benchmarks.pyepo_spo import spo_plus

    data = job.environment.rounds(job.seeds, 0, ROUNDS)
    game = job.algorithm.eta, job.algorithm.problem.theta_set.radius, data.X[0], data.costs[0]
    assert_same_costs(run.state.theta[0], spo_plus(*game))
    pyepo = best_of(3, lambda: spo_plus(*game)) / ROUNDS
    return Row("PyEPO's SPO+, one seed", pyepo, pyepo / fast, "numpy")
