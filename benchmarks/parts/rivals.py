"""One round of every algorithm relative to one of DF-OGD, on the default engine."""

from collections.abc import Iterator

from support.problems import choices, composed_job

from benchmarks import timing
from benchmarks.report import Row, Section
from benchmarks.timing import job_of

SEEDS, ROUNDS = 10, 500


def sections() -> Iterator[Section]:
    """The algorithms of conf/algo, the paper's sizes; ratios against DF-OGD of the same moment."""
    rows = [row(algo) for algo in choices("algo") if algo != "df_ogd"]
    title = (
        f"algorithms, K=5 p=10 S={SEEDS} T={ROUNDS}: processor time of learning per seed and round"
    )
    yield Section(title, rows)


def row(algo: str) -> Row:
    """Measures DF-OGD before and after, so that other load affects both."""
    engine = composed_job(f"algo={algo}").engine
    before, taken, after = (learning(one) for one in ("df_ogd", algo, "df_ogd"))
    return Row(f"{algo}, {engine.name}", taken, taken / min(before, after), "DF-OGD")


def learning(algo: str) -> float:
    """Processor seconds per seed and round."""
    return timing.learning(job_of(f"algo={algo}", f"seeds={SEEDS}", rounds=ROUNDS))
