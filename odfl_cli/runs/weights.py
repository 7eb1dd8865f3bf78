"""What a predictor that is a torch module has learnt: the module itself, and its file beside the CSV."""

from pathlib import Path
from typing import Any

from odfl_cli import __version__
from odfl_cli.core.errors import UserError
from odfl_cli.core.files import atomic
from odfl_cli.results.summary import file_record, weights_file
from odfl_cli.runs.simulate import Job


def check_has_weights(job: Job, key: str) -> None:
    """Refuses a predictor that is not a torch module, in the name of `key`."""
    predictor = job.algorithm.problem.predictor
    if not hasattr(predictor, "trained"):
        raise UserError(f"{key}: predictor {type(predictor).__name__} is not a torch module")


def learnt_module(job: Job, state: Any, seed: int) -> Any:
    """The torch module of a seed with the parameters that the last state holds."""
    check_has_weights(job, "module")
    if seed not in job.seeds:
        raise UserError(f"module: there is no seed {seed}; there are {list(job.seeds)}")
    predictor: Any = job.algorithm.problem.predictor
    return predictor.trained(state.theta[job.seeds.index(seed)], seed)


def write_weights(directory: Path, job: Job, state: Any) -> dict[str, dict[str, Any]]:
    """Writes seed-<seed>.safetensors for every seed; the records of the files, by name."""
    from odfl_cli.problem.predictors.weights import packed_weights

    records = {}
    for seed in job.seeds:
        content = packed_weights(learnt_module(job, state, seed))
        with atomic(directory / weights_file(seed), "wb") as file:
            file.write(content)
        records[weights_file(seed)] = file_record(content, __version__)
    return records
