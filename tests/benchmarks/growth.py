"""Time per seed and round and peak memory as T, K and S grow; each run a process of its own."""

import json
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.processes import python
from benchmarks.report import Row, Section

GIGABYTE = 1000.0
MILLION = {"rounds": 1_000_000, "items": 5, "seeds": 4}
BOUNDED = ("window", "reservoir")


def growth() -> list[Section]:
    """DF-OGD along each size, then a million rounds of the others."""
    horizons = [{"rounds": 10**power, "items": 5, "seeds": 4} for power in (3, 4, 5, 6)]
    items = [{"rounds": 1000, "items": K, "seeds": 10} for K in (5, 20, 80, 200, 500)]
    seeds = [{"rounds": 2000, "items": 5, "seeds": S} for S in (1, 10, 50, 200)]
    with tempfile.TemporaryDirectory() as place:
        weigh = Scale(Path(place))
        return [
            series(weigh, "DF-OGD as T grows", horizons),
            series(weigh, "DF-OGD as K grows", items),
            series(weigh, "DF-OGD as S grows", seeds),
            series(
                weigh, "DF-OGD, the largest block", [{"rounds": 200, "items": 500, "seeds": 200}]
            ),
            million(weigh),
        ]


class Scale:
    """Runs jobs one after another in the same directory."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self({"rounds": 50, "items": 5, "seeds": 1})  # kernels and bytecode

    def __call__(self, size: dict[str, int], *overrides: str) -> dict[str, Any]:
        """Seconds by phase, peak megabytes, rows of a CSV."""
        sizes = (
            f"horizon.rounds={size['rounds']}",
            f"data.items={size['items']}",
            f"seeds={size['seeds']}",
        )
        arguments = ("-m", "benchmarks.weighed_run", *sizes, *overrides)
        printed = python(*arguments, cwd=self._root, bytecode=self._root / "bytecode")
        return json.loads(printed.splitlines()[-1])


def series(weigh: Scale, title: str, sizes: list[dict[str, int]]) -> Section:
    """One row per size; ratios against the first."""
    rows: list[Row] = []
    for size in sizes:
        row = measured(
            f"T={size['rounds']:,} K={size['items']} S={size['seeds']}", weigh(size), size
        )
        first = rows[0] if rows else row
        rows.append(
            Row(row.what, row.seconds, row.seconds / first.seconds, "first row", row.megabytes)
        )
    return Section(f"{title}: data and learning per seed and round", rows)


def million(weigh: Scale) -> Section:
    """Every algorithm that keeps no history, and DF-FTPL with a bounded one, below a gigabyte."""
    jobs = [(algo,) for algo in ("df_ogd", "pf_ogd", "spo")]
    jobs += [("df_ftpl", f"oracle.history={keep}") for keep in BOUNDED]
    rows = []
    for algo, *overrides in jobs:
        result = weigh(MILLION, f"algo={algo}", *overrides)
        assert result["rows"] <= 500, "the CSV is thinned"
        rows.append(measured(" ".join([algo, *overrides]), result, MILLION, at_most=GIGABYTE))
    return Section("T=1,000,000 K=5 S=4: data and learning per seed and round", rows)


def measured(what: str, result: dict[str, Any], size: dict[str, int], **bound: float) -> Row:
    """Seconds per seed and round, and memory."""
    per_round = (result["data"] + result["learn"]) / (size["seeds"] * size["rounds"])
    return Row(what, per_round, megabytes=result["megabytes"], **bound)
