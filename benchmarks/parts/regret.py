"""The time that `metrics=regret` adds to a run of the paper's algorithms."""

from collections.abc import Iterator

from benchmarks.report import Row, Section
from benchmarks.timing import busy, job_of
from odfl_cli.runs.simulate import simulate

ALGORITHMS = ("df_ogd", "df_ftpl", "pf_ogd", "spo")
SEEDS, ROUNDS = 10, 5000
REPETITIONS = {5: 20, 80: 5}
"""Short runs are repeated more often, as other processes use the machine."""


def sections() -> Iterator[Section]:
    """The paper's two sizes."""
    for items in REPETITIONS:
        rows = [row(algo, items) for algo in ALGORITHMS]
        yield Section(f"metrics=regret, K={items} S={SEEDS} T={ROUNDS}: processor time", rows)


def row(algo: str, items: int) -> Row:
    """Data, learning and metrics with and without regret, measured in turn."""
    words = (f"algo={algo}", f"data.items={items}", f"seeds={SEEDS}")
    plain, measured = (
        job_of(*words, f"metrics={metrics}", rounds=ROUNDS) for metrics in ("basic", "regret")
    )
    times = [
        (busy(lambda: simulate(plain)), busy(lambda: simulate(measured)))
        for _ in range(REPETITIONS[items] + 1)
    ][1:]  # the first loads what must be loaded
    without, with_regret = (min(column) for column in zip(*times, strict=True))
    share = (with_regret - without) / with_regret
    return Row(f"{algo}: regret", with_regret - without, share, "the run")
