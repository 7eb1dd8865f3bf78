"""Stores the state after the last round of a run, with the weights of torch modules, and continues from it."""

from collections.abc import Mapping
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from odfl_cli.algorithms.base import for_seeds
from odfl_cli.core.arrays import join_arrays, map_arrays
from odfl_cli.core.errors import UserError
from odfl_cli.engine.base import Trace
from odfl_cli.environments.base import shape_of
from odfl_cli.metrics.base import Run
from odfl_cli.results.finding import locate
from odfl_cli.results.runs import StoredRun, inspect
from odfl_cli.results.summary import state_file
from odfl_cli.runs.records import write_file
from odfl_cli.runs.simulate import Job, Past, Simulation
from odfl_cli.runs.snapshot import Snapshot, pack, read_snapshot, settings_of

MAY_DIFFER = ("seeds", "horizon.", "metrics.")
"""Settings in which a run may differ from the one that it continues."""
RECORDED = ("cost", "mse", "decision")
"""The fields of a trace with a number for every round."""


def write_states(directory: Path, job: Job, simulation: Simulation) -> dict[str, dict[str, Any]]:
    """Writes the state and the trace of every seed; returns the records of the files by name."""
    records = {}
    algorithm = for_seeds(job.algorithm, job.seeds)
    for row, seed in enumerate(job.seeds):
        one = slice(row, row + 1)
        state = map_arrays(simulation.state, np.ndarray, itemgetter(one))
        weights = module_arrays(algorithm.problem.predictor, state.theta[0], seed)
        header = {
            "kind": "run",
            "settings": settings_of(job.config),
            "seed": seed,
            "rounds": job.horizon.rounds,
            "items": job.environment.items,
            "shape": shape_of(job.environment),
            "offers_all": job.algorithm.problem.offers_all,
        }
        content = pack(header, state, _trace_arrays(simulation.trace, one) | weights)
        records[state_file(seed)] = write_file(directory / state_file(seed), content)
    return records


def read_state(run: StoredRun, seed: int) -> Snapshot:
    """The snapshot of a seed of a run; raises a UserError if there is none."""
    if not run.has_file(state_file(seed)):
        raise UserError(
            f"{run.directory.name}: no state of seed {seed} is kept; {run.command} save_state=true keeps it"
        )
    return read_snapshot(run.directory / state_file(seed))


def read_past(name: str, outputs: Path, job: Job) -> Past:
    """The rounds of the run `name` for the seeds of the job; raises a UserError if settings differ."""
    key = f"continue={name}"
    algorithm, environment = job.algorithm, job.environment
    if algorithm.uses_horizon:
        raise UserError(
            f"{key}: the schedules of {algorithm.name} depend on horizon.rounds, so a continued "
            "run differs from a longer one; start a new run with all rounds"
        )
    if hasattr(environment, "blank"):
        raise UserError(f"{key}: the data depend on decisions, and their own state is not kept")
    recorder = job.metrics.recorder(Run(environment, algorithm, job.horizon, job.seeds))
    if len(recorder.watched):
        raise UserError(f"{key}: these metrics follow θ, which is not kept; choose metrics=basic")
    try:
        run = inspect(locate(name, outputs))
    except UserError as error:
        raise UserError(f"continue: {error}") from error
    snapshots = [read_state(run, seed) for seed in job.seeds]
    for snapshot in snapshots:
        snapshot.check_settings(settings_of(job.config), MAY_DIFFER)
    rounds = snapshots[0].header["rounds"]
    if rounds >= job.horizon.rounds:
        raise UserError(
            f"{key}: it has {rounds} rounds; set horizon.rounds={2 * rounds}, or another number"
        )
    template = for_seeds(algorithm, job.seeds[:1]).init(1, None)
    state = join_arrays([snapshot.restore(template) for snapshot in snapshots])
    trace = Trace.join([_trace_of(snapshot.arrays) for snapshot in snapshots], axis=0)
    return Past(rounds, state, trace)


def _trace_arrays(trace: Trace | None, part: slice) -> dict[str, np.ndarray]:
    """`trace.<name>` → the records of every round, for some seeds."""
    if trace is None:
        return {}
    fields = {name: getattr(trace, name)[part] for name in RECORDED}
    notes = {f"notes.{name}": values[part] for name, values in trace.notes.items()}
    return {f"trace.{name}": values for name, values in (fields | notes).items()}


def _trace_of(arrays: Mapping[str, np.ndarray]) -> Trace:
    fields = {name: arrays[f"trace.{name}"] for name in RECORDED}
    start = "trace.notes."
    notes = {name.removeprefix(start): x for name, x in arrays.items() if name.startswith(start)}
    return Trace(**fields, notes=notes)


def learnt_module(job: Job, state: Any, seed: int) -> Any:
    """The torch module of a seed with the parameters of the last state."""
    predictor: Any = job.algorithm.problem.predictor
    if not hasattr(predictor, "trained_module"):
        raise UserError(f"module: predictor {type(predictor).__name__} is not a torch module")
    if seed not in job.seeds:
        raise UserError(f"module: there is no seed {seed}; there are {list(job.seeds)}")
    return predictor.trained_module(state.theta[job.seeds.index(seed)], seed)


def module_arrays(predictor: Any, theta: np.ndarray, seed: int) -> dict[str, np.ndarray]:
    """`module.<name>` → the parameters and buffers of a torch module at θ [m]; empty for other predictors."""
    if not hasattr(predictor, "trained_module"):
        return {}
    tensors = predictor.trained_module(theta, seed).state_dict()
    return {f"module.{name}": tensor.numpy() for name, tensor in tensors.items()}
