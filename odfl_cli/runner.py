"""One job from its configuration to its files."""

import logging
import time
from pathlib import Path
from typing import Any

from omegaconf import DictConfig

from odfl_cli.build import build, sized
from odfl_cli.console import print_result, progress_bar
from odfl_cli.naming import resolved
from odfl_cli.records import write_json, write_seed
from odfl_cli.simulate import simulate
from odfl_cli.summary import summarise

log = logging.getLogger("odfl")


def run_job(config: DictConfig, choices: dict[str, str], directory: Path) -> dict[str, Any]:
    """Computes the job, writes its files into `directory`, and returns the summary."""
    job = build(config)
    begun = time.perf_counter()
    label = choices["algo"]
    log.info(
        "%s: %d rounds, seeds %s, engine %s", label, job.horizon.rounds, job.seeds, job.engine.name
    )
    with progress_bar(label, job.horizon.rounds) as progress:
        simulation = simulate(job, progress=progress)
    writing = time.perf_counter()
    for row, seed in enumerate(job.seeds):
        write_seed(directory, seed, simulation.table, row)
    done = time.perf_counter()
    seconds = {"wall": done - begun, **simulation.seconds, "write": done - writing}
    summary = summarise(job, simulation, choices, resolved(sized(config, job.environment)), seconds)
    write_json(directory / "summary.json", summary)
    log.info("finished in %.2f s", seconds["wall"])
    print_result(label, summary, directory)
    return summary
