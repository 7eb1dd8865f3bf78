"""summary.json: a run's final figures, and all one needs to tell it from another."""

import importlib.metadata
import platform
from typing import Any

import numpy as np

import odfl_cli
from odfl_cli.core.statistics import mean_ci95
from odfl_cli.environments import switches_of
from odfl_cli.runs.simulate import Job, Simulation

LIBRARIES = ("numpy", "numba", "torch", "hydra-core")


def summarise(
    job: Job,
    simulation: Simulation,
    choices: dict[str, str],
    config: dict[str, Any],
    seconds: dict[str, float],
) -> dict[str, Any]:
    """The content of summary.json."""
    return {
        "choices": choices,
        "config": config,
        "seeds": list(job.seeds),
        "rounds": job.horizon.rounds,
        "marks": switches_of(job.environment, job.horizon.rounds),
        "final": {
            name: _final(values[:, -1])
            for name, values in simulation.table.items()
            if name != "t" and np.isfinite(values[:, -1]).all()
        },
        **simulation.report,
        "seconds": {name: round(value, 4) for name, value in seconds.items()},
        "metrics_share": _share(seconds),
        "engine": job.engine.name,
        "versions": versions(),
    }


def versions() -> dict[str, str]:
    """Of this package, Python, and the libraries that make the numbers."""
    found = {name: importlib.metadata.version(name) for name in LIBRARIES}
    return {"odfl": odfl_cli.__version__, "python": platform.python_version(), **found}


def _final(per_seed: np.ndarray) -> dict[str, Any]:
    mean, ci95 = mean_ci95(per_seed)
    return {
        "mean": float(mean),
        "ci95": None if np.isnan(ci95) else float(ci95),
        "per_seed": per_seed.tolist(),
    }


def _share(seconds: dict[str, float]) -> float | None:
    """Seconds of metrics per second of the run itself, which draws and learns."""
    run = seconds["data"] + seconds["learn"]
    return round(seconds["metrics"] / run, 3) if run > 0 else None
