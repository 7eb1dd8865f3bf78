"""The end of a sweep: its index up to date, and a table of what became of its jobs."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

from odfl_cli.core.text import relative, table, tell
from odfl_cli.results.runs import StoredRun, inspect
from odfl_cli.results.sweeps import IndexJob, read_index, update_index
from odfl_cli.runs.sweep.journal import Entry

OUTCOMES = ("done", "skipped", "failed", "unfinished")


def close_sweep(sweep: Path, entries: dict[int, Entry], own: list[IndexJob]) -> bool:
    """Brings the index up to date and prints what became of the jobs; whether all have results.

    `entries` has the last event of the jobs by number. Directories are inspected of jobs that
    did not report their results, such as killed ones. `own` are the jobs of this sweep, all in the
    index where it is empty; those that another sweep of the same name wrote meanwhile stay.
    """
    last = {entry.run: entry for entry in entries.values()}
    rows, jobs, counts = [], [], Counter[str]()
    for before in own or read_index(sweep):
        entry = last.get(before.directory.name)
        job, state = _judge(before, entry)
        outcome = _outcome(job, entry)
        counts[outcome] += 1
        jobs.append(job)
        if outcome in ("failed", "unfinished"):
            rows.append([outcome, job.directory.name, _reason(entry, state)])
    update_index(sweep, jobs)
    remarks = Counter(remark for entry in entries.values() for remark in entry.remarks)
    for remark, number in remarks.items():
        tell(f"{number} of {len(jobs)} jobs: {remark}")
    counted = ", ".join(f"{counts[outcome]} {outcome}" for outcome in OUTCOMES)
    print(f"{len(jobs)} jobs: {counted}; {relative(sweep)}")
    if rows:
        print(table([["state", "run", "error"], *rows]))
        print("Tracebacks are in each run.log; the same command computes what is missing.")
    return not rows


def _judge(job: IndexJob, entry: Entry | None) -> tuple[IndexJob, StoredRun | None]:
    """The job with its state now; the directory's state where it had to be inspected."""
    if entry and (entry.event == "done" or (entry.event == "skipped" and job.state == "finished")):
        return replace(job, state="finished"), None
    state = inspect(job.directory)
    return job.judge(state), state


def _outcome(job: IndexJob, entry: Entry | None) -> str:
    if job.state == "failed" or (entry and entry.event == "failed"):
        return "failed"
    if job.state != "finished":
        return "unfinished"
    return "done" if entry and entry.event == "done" else "skipped"


def _reason(entry: Entry | None, state: StoredRun | None) -> str:
    if entry and entry.event == "failed":
        return entry.message
    return (state and (state.error or state.reason)) or ""
