"""A round of RLS by what is seen of it: with all costs at once nothing stands between, and nothing is paid."""

from dataclasses import replace

from benchmarks.report import Row, Section
from benchmarks.timing import job_of, learning

SEEDS, ROUNDS, REPETITIONS = 10, 1000, 5
SEEN = ("feedback=full", "feedback=semi_bandit", "feedback=bandit", "feedback.delay=10")


def sections() -> list[Section]:
    """Processor seconds per seed and round, beside the algorithm that was never given a feedback."""
    size = ("algo=rls", "engine=array", "data.items=5", f"seeds={SEEDS}")
    jobs = {words: job_of(*size, words, rounds=ROUNDS) for words in SEEN}
    plain = jobs["feedback=full"]
    alone = replace(plain, algorithm=replace(plain.algorithm))
    least = min(learning(alone, 1) for _ in range(REPETITIONS))
    rows = [Row("the algorithm alone", least)]
    for words, job in jobs.items():
        taken = min(learning(job, 1) for _ in range(REPETITIONS))
        rows.append(Row(words, taken, taken / least, "alone"))
    return [Section(f"RLS, K=5 p=10 S={SEEDS} T={ROUNDS}, by feedback: processor time", rows)]
