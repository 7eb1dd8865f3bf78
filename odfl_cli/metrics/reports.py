"""What a report tells of every seed, so that reports of several computations can be joined."""

from collections.abc import Iterable
from typing import Any


def by_seed(seeds: Iterable[int], values: Iterable[float]) -> dict[str, float]:
    """Seed → value, with keys as JSON has them."""
    return {str(seed): value for seed, value in zip(seeds, values, strict=True)}


def with_earlier(report: Any, earlier: Any, computed: Iterable[int], kept: Iterable[int]) -> Any:
    """The report on the computed seeds, with what the earlier one tells of the kept seeds.

    Only values by seed can be joined; everything else is as the newer report has it.
    """
    if not isinstance(report, dict):
        return report
    earlier = earlier if isinstance(earlier, dict) else {}
    computed, kept = list(computed), list(kept)
    if set(report) == {str(seed) for seed in computed}:
        joined = {str(seed): earlier[str(seed)] for seed in kept if str(seed) in earlier} | report
        return {seed: joined[seed] for seed in sorted(joined, key=int)}
    return {
        key: with_earlier(value, earlier.get(key), computed, kept) for key, value in report.items()
    }
