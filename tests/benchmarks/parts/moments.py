"""One round of DF-Moments beside the data it learns from, and of a vote beside its experts."""

from benchmarks.report import Row, Section
from benchmarks.timing import job_of, per_seed_round, repeated
from odfl_cli.engine import CompiledEngine

SEEDS, ROUNDS, WIDE = 10, 2000, 100
EXPERTS = ("df_ogd", "df_ftpl", "rls", "spo", "df_moments")
MOST = {5: 10.0, 80: 1.6}
"""Of the data's time: about 10 µs at K = 5 and 20 µs at K = 80 where numpy draws 65 normals in 1 µs."""


def sections() -> list[Section]:
    """The paper's two sizes."""
    return [section(items, most) for items, most in MOST.items()]


def section(items: int, most: float) -> Section:
    """Seconds per seed and round on one thread."""
    alone = {algo: learning(f"algo={algo}", items)[0] for algo in EXPERTS}
    vote, floor = learning("algo=vote", items)
    wide, _ = learning("algo=df_moments", items, features=WIDE, rounds=100)
    ours, together = alone["df_moments"], sum(alone.values())
    return Section(
        f"DF-Moments and a vote, K={items} p=10 S={SEEDS} T={ROUNDS}: per seed and round",
        [
            Row("draw the data and do nothing", floor),
            Row("DF-Moments", ours, ours / floor, "the data", at_most=most),
            Row(f"DF-Moments, p={WIDE}", wide, wide / ours, "p=10"),
            Row("five experts, one after another", together),
            Row("a vote of the five", vote, vote / together, "the experts", at_most=1.2),
        ],
    )


def learning(
    algo: str, items: int, features: int = 10, rounds: int = ROUNDS
) -> tuple[float, float]:
    """The least seconds to learn from a round, and to draw one."""
    size = (algo, f"data.items={items}", f"data.features={features}", f"seeds={SEEDS}")
    job = job_of(*size, rounds=rounds, engine=CompiledEngine(threads=1))
    runs = repeated(job, 3)
    return per_seed_round(job, "learn", runs), per_seed_round(job, "data", runs)
