"""The account of a sweep: what became of every job, in its index and in a table."""

from collections import Counter
from pathlib import Path

from odfl_cli.core.text import printable, relative, table
from odfl_cli.results.runs import StoredRun, inspect
from odfl_cli.results.sweeps import IndexJob, read_index, write_index
from odfl_cli.runs.sweep.journal import Entry

OUTCOMES = ("done", "skipped", "failed", "unfinished")


def close_sweep(sweep: Path, entries: dict[int, Entry]) -> bool:
    """Brings the index up to date and prints the account; whether every job has its result.

    `entries` has the last event of the jobs by number. Of what a job could not tell, because it
    was killed, its directory speaks.
    """
    states = [(job, inspect(job.directory)) for job in read_index(sweep)]
    jobs = [job.judged(state) for job, state in states]
    write_index(sweep, jobs)
    heard = {entry.run: entry for entry in entries.values()}
    outcomes = [_outcome(job, heard.get(job.directory.name)) for job in jobs]
    counts = Counter(outcomes)
    told = ", ".join(f"{counts[outcome]} {outcome}" for outcome in OUTCOMES)
    print(f"{len(jobs)} jobs: {told}; {printable(relative(sweep))}")
    missing = [
        [outcome, job.directory.name, _why(state, heard.get(job.directory.name))]
        for (job, state), outcome in zip(states, outcomes, strict=True)
        if outcome in ("failed", "unfinished")
    ]
    if missing:
        print(table([("state", "run", "error"), *missing]))
        print("Tracebacks are in each run.log; the same command computes what is missing.")
    return not missing


def _outcome(job: IndexJob, heard: Entry | None) -> str:
    if job.state == "failed" or (heard and heard.event == "failed"):
        return "failed"
    if job.state != "finished":
        return "unfinished"
    return "done" if heard and heard.event == "done" else "skipped"


def _why(state: StoredRun, heard: Entry | None) -> str:
    if heard and heard.event == "failed":
        return heard.told
    return state.error or state.reason or ""
