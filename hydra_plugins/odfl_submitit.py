"""Runs jobs through submitit, on Slurm or in local processes, and waits for all of them.

Hydra looks for launchers in the namespace package hydra_plugins. The submitit plugin's own
launcher starts all local processes at once, ends with the first cancelled job, and on a cluster
without accounting waits for that job forever. Single jobs still run through the plugin.
"""

import subprocess
import time
from collections.abc import Sequence
from typing import Any

from hydra.core.singleton import Singleton
from hydra.core.utils import JobReturn, JobStatus
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig, OmegaConf

PATIENCE = 3
"""Consecutive polls without the job or its result before it counts as lost."""


class OdflSubmititLauncher(Launcher):
    """Keeps at most `at_once` jobs submitted; a killed job fails, the others continue."""

    def __init__(
        self,
        cluster: str,
        submitit_folder: str,
        at_once: int,
        poll_seconds: float,
        **parameters: Any,
    ) -> None:
        self.cluster, self.folder = cluster, submitit_folder
        self.at_once, self.poll_seconds = at_once, poll_seconds
        self.parameters = parameters

    def setup(
        self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig
    ) -> None:
        from hydra_plugins.hydra_submitit_launcher.submitit_launcher import BaseSubmititLauncher

        self.run_one = BaseSubmititLauncher()
        self.run_one.setup(hydra_context=hydra_context, task_function=task_function, config=config)
        self.config = config

    def launch(
        self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int
    ) -> Sequence[JobReturn]:
        """Submits the jobs, at most `at_once` at a time, and returns their results in order."""
        executor, state = self._executor(), Singleton.get_state()
        waiting = [
            (list(overrides), "hydra.sweep.dir", number, str(number), state)
            for number, overrides in enumerate(job_overrides, initial_job_idx)
        ]
        running: list[_Running] = []
        ended: dict[int, JobReturn] = {}
        while waiting or running:
            room = self.at_once - len(running)
            batch, waiting = waiting[:room], waiting[room:]
            if batch:
                jobs = executor.map_array(self.run_one, *zip(*batch, strict=True))
                running += [
                    _Running(call[2], call[0], job) for call, job in zip(batch, jobs, strict=True)
                ]
            time.sleep(self.poll_seconds)
            alive = self._alive(running)
            ended |= {job.number: self._outcome(job) for job in running if job.is_over(alive)}
            running = [job for job in running if job.number not in ended]
        return [ended[number] for number in sorted(ended)]

    def _executor(self) -> Any:
        import submitit
        from hydra_plugins.hydra_submitit_launcher.config import BaseQueueConf

        shared = OmegaConf.structured(BaseQueueConf).keys()
        executor = submitit.AutoExecutor(folder=self.folder, cluster=self.cluster)
        executor.update_parameters(
            **{
                key if key in shared else f"{self.cluster}_{key}": value
                for key, value in self.parameters.items()
            }
        )
        return executor

    def _outcome(self, job: "_Running") -> JobReturn:
        """The result of the job; for a lost one, the value of a failed job."""
        from odfl_cli.core.text import tell
        from odfl_cli.runs.sweep.job import worst_value

        try:
            if job.has_result():
                return job.handle.results()[0]
            reason = "cancelled or killed"
        except (
            Exception
        ) as error:  # submitit's: the job reached its time limit, or its result cannot be read
            reason = " ".join(str(error).split())
        log = job.handle.paths.stderr
        tell(f"job {job.number} ({job.id}): {reason}; see {log}")
        lost = JobReturn(overrides=job.overrides, status=JobStatus.COMPLETED)
        lost.return_value = worst_value(self.config.hydra)
        return lost

    def _alive(self, running: list["_Running"]) -> set[str]:
        """The ids of the jobs that run or queue."""
        if self.cluster == "local":
            return {job.id for job in running if not job.handle.done()}
        try:
            return set(_squeue().split())
        except (OSError, subprocess.SubprocessError):  # the controller is away for a moment
            return {job.id for job in running}


def _squeue() -> str:
    """The ids of queued jobs, one per line; unlike sacct, squeue needs no accounting."""
    command = ["squeue", "--me", "--noheader", "--array", "--format=%i"]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


class _Running:
    """A submitted job."""

    def __init__(self, number: int, overrides: list[str], handle: Any) -> None:
        self.number, self.overrides, self.handle = number, overrides, handle
        self.id, self.polls_without_it = handle.job_id, 0

    def is_over(self, alive: set[str]) -> bool:
        """True if its result exists, or if the job has been gone for a while without one."""
        self.polls_without_it = 0 if self.id in alive else self.polls_without_it + 1
        return self.has_result() or self.polls_without_it >= PATIENCE

    def has_result(self) -> bool:
        """True if it ended by itself."""
        return self.handle.paths.result_pickle.exists()
