"""One round of every algorithm against one of DF-OGD, on whatever engine runs it."""

from collections.abc import Iterator

from support.problems import choices, composed_job

from benchmarks.report import Row, Section
from benchmarks.timing import job_of, per_seed_round, repeated

SEEDS, ROUNDS = 10, 500
TARGETS = {"restart", "hedge", "policy_gradient", "rls", "perturbed", "fenchel_young"}


def sections() -> Iterator[Section]:
    """The algorithms of conf/algo, the paper's sizes; ratios against DF-OGD of the same moment."""
    rows = [row(algo) for algo in choices("algo") if algo != "df_ogd"]
    yield Section(f"algorithms, K=5 p=10 S={SEEDS} T={ROUNDS}: learning per seed and round", rows)


def row(algo: str) -> Row:
    """DF-OGD before and after, so that a busy moment of the machine hits both."""
    engine = composed_job(f"algo={algo}").engine
    before, own, after = (learning(one) for one in ("df_ogd", algo, "df_ogd"))
    ratio = own / min(before, after)
    bound = 10.0 if algo in TARGETS else None
    return Row(f"{algo}, {engine.name}", own, ratio, "DF-OGD", at_most=bound)


def learning(algo: str) -> float:
    """Seconds per seed and round."""
    job = composed_job(f"algo={algo}", f"seeds={SEEDS}")
    job = job_of(f"algo={algo}", f"seeds={SEEDS}", rounds=ROUNDS, engine=job.engine)
    return per_seed_round(job, "learn", repeated(job, 3))
