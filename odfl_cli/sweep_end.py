"""The account of a sweep: what became of every job, in its index and in a table."""

from collections import Counter
from pathlib import Path

from odfl_cli import journal
from odfl_cli.console import relative, table
from odfl_cli.journal import Entry
from odfl_cli.run_state import inspect
from odfl_cli.sweep_index import IndexJob, read_index, write_index


def close_sweep(sweep: Path, entries: dict[int, Entry]) -> bool:
    """Brings the index up to date and prints the account; whether no job failed or is missing.

    `entries` has the last event of the jobs by number. What a process that was killed could not
    tell is judged by its directory.
    """
    jobs = [job.judged(inspect(job.directory)) for job in read_index(sweep)]
    write_index(sweep, jobs)
    journal.clear(sweep)
    failures = {entry.run: entry.told for entry in entries.values() if entry.event == "failed"}
    for job in jobs:
        if job.state != "finished" and job.directory.name not in failures:
            failures[job.directory.name] = _unfinished(job)
    counts = Counter(entry.event for entry in entries.values())
    unheard = max(0, len(jobs) - len(failures) - counts["done"] - counts["skipped"])
    print(
        f"{len(jobs)} jobs: {counts['done'] + unheard} done, {counts['skipped']} skipped, "
        f"{len(failures)} failed; {relative(sweep)}"
    )
    if failures:
        print(table(["failed", "error"], [[run, told] for run, told in failures.items()]))
        print("Tracebacks are in each run.log; the same command computes what is missing.")
    return not failures


def _unfinished(job: IndexJob) -> str:
    state = inspect(job.directory)
    return state.error or f"{state.state}: {state.reason}"
