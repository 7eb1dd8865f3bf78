"""`from odfl_cli import run`: the command line's job from Python, with objects of your own."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from odfl_cli.config.compose import compose_job
from odfl_cli.runs.build import build
from odfl_cli.runs.simulate import Job, Simulation, simulate

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Result:
    """What a job computed."""

    job: Job
    simulation: Simulation

    @property
    def rows(self) -> "pd.DataFrame":
        """One row per seed and logged round: seed, then the columns of the CSVs."""
        import pandas as pd

        tables = [
            pd.DataFrame(
                {"seed": seed, **{name: of[row] for name, of in self.simulation.table.items()}}
            )
            for row, seed in enumerate(self.job.seeds)
        ]
        return pd.concat(tables, ignore_index=True).astype({"t": int})

    @property
    def final(self) -> "pd.DataFrame":
        """The last round of every seed, indexed by the seed."""
        rows = self.rows
        return rows[rows["t"] == self.job.horizon.rounds].set_index("seed")

    @property
    def state(self) -> Any:
        """The algorithm's last state: `state.theta` is [S, m]."""
        return self.simulation.state


def run(*overrides: str, **components: Any) -> Result:
    """Runs one job and writes nothing.

    `overrides` are those of the command line: run("algo=df_ogd", "data.gamma=0.5", "seeds=3").
    `components` take the place of whole groups: `data`, `polytope`, `predictor`, `oracle`,
    `horizon`, `engine` are objects; `regularizer` is called with polytope=…, `algo` with
    problem=…, so that a class or a functools.partial of one will do.
    """
    job = build(compose_job(overrides), **components)
    return Result(job, simulate(job))
