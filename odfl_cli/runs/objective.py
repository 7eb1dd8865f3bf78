"""Which number a sweeper minimises."""

from odfl_cli.core.errors import UserError
from odfl_cli.core.text import did_you_mean
from odfl_cli.runs.simulate import Job


def check_objective(column: str, job: Job) -> None:
    """Refuses a column that the job will not have, and names the nearest one."""
    columns = objectives(job)
    if column not in columns:
        hint = did_you_mean(column, columns)
        raise UserError(f"objective={column}: there is no such column; {hint}")


def objectives(job: Job) -> list[str]:
    """The columns whose final value can be an objective."""
    columns = job.metrics.columns(job.environment, job.algorithm)
    return [column for column in columns if column != "t"]
