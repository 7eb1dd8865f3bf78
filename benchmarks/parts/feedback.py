"""A round of RLS by kind of feedback; full, immediate feedback has no overhead."""

from dataclasses import replace

from benchmarks.report import Row, Section
from benchmarks.timing import job_of, learning

SEEDS, ROUNDS, REPETITIONS = 10, 1000, 5
SEEN = ("feedback=full", "feedback=semi_bandit", "feedback=bandit", "feedback.delay=10")


def sections() -> list[Section]:
    """Processor seconds per seed and round, compared with the algorithm without a feedback."""
    size = ("algo=rls", "engine=array", "data.items=5", f"seeds={SEEDS}")
    jobs = {words: job_of(*size, words, rounds=ROUNDS) for words in SEEN}
    plain = jobs["feedback=full"]
    alone = replace(plain, algorithm=replace(plain.algorithm))
    turns = [{name: learning(job, 1) for name, job in {"alone": alone, **jobs}.items()}
             for _ in range(REPETITIONS)]  # fmt: skip
    least, *taken = (min(turn[name] for turn in turns) for name in ("alone", *SEEN))
    rows = [Row("the algorithm alone", least)]
    rows += [Row(words, t, t / least, "alone") for words, t in zip(SEEN, taken, strict=True)]
    return [Section(f"RLS, K=5 p=10 S={SEEDS} T={ROUNDS}, by feedback: processor time", rows)]
