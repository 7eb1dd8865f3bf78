"""One round of DF-Moments beside the data it learns from, and of a vote beside its experts."""

import numpy as np

from benchmarks import timing
from benchmarks.report import Row, Section
from benchmarks.timing import busy, job_of

SEEDS, ROUNDS, WIDE, REPETITIONS = 10, 2000, 100, 3
EXPERTS = ("df_ogd", "df_ftpl", "rls", "spo", "df_moments")


def sections() -> list[Section]:
    """The paper's two sizes."""
    return [section(items) for items in (5, 80)]


def section(items: int) -> Section:
    """Processor seconds per seed and round."""
    alone = {algo: learning(algo, items) for algo in EXPERTS}
    vote, wide = learning("vote", items), learning("df_moments", items, WIDE, rounds=100)
    ours, together, floor = alone["df_moments"], sum(alone.values()), drawing(items * 11 + 10)
    return Section(
        f"DF-Moments and a vote, K={items} p=10 S={SEEDS} T={ROUNDS}: processor time per seed and round",
        [
            Row("numpy draws the round's normals", floor),
            Row("DF-Moments", ours, ours / floor, "the normals"),
            Row(f"DF-Moments, p={WIDE}", wide, wide / ours, "p=10"),
            Row("five experts, one after another", together),
            Row("a vote of the five", vote, vote / together, "the experts"),
        ],
    )


def drawing(normals: int) -> float:
    """The least processor seconds to draw that many normals."""
    rng = np.random.default_rng(0)
    draws = lambda: rng.standard_normal((ROUNDS, normals))  # noqa: E731
    return min(busy(draws) for _ in range(REPETITIONS)) / ROUNDS


def learning(algo: str, items: int, features: int = 10, rounds: int = ROUNDS) -> float:
    """The least processor seconds to learn from a round."""
    size = (f"algo={algo}", f"data.items={items}", f"data.features={features}", f"seeds={SEEDS}")
    return timing.learning(job_of(*size, rounds=rounds), REPETITIONS)
