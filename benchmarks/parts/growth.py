"""Time per seed and round and peak memory as T, K and S grow; each run in its own process."""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.processes import python
from benchmarks.report import Row, Section

GIGABYTE, LONG = 1000.0, 100_000
MILLION = {"rounds": 1_000_000, "items": 5, "seeds": 4}


def sections() -> Iterator[Section]:
    """DF-OGD along each size, then a million rounds of the others."""
    horizons = [{"rounds": 10**power, "items": 5, "seeds": 4} for power in (3, 4, 5, 6)]
    items = [{"rounds": 1000, "items": K, "seeds": 10} for K in (5, 20, 80, 200, 500)]
    seeds = [{"rounds": 2000, "items": 5, "seeds": S} for S in (1, 10, 50, 200)]
    largest = [{"rounds": 200, "items": 500, "seeds": 200}]
    with tempfile.TemporaryDirectory() as place:
        weigh = Scale(Path(place))
        yield series(weigh, "DF-OGD as T grows", horizons)
        yield series(weigh, "DF-OGD as K grows", items)
        yield series(weigh, "DF-OGD as S grows", seeds)
        yield series(weigh, "DF-OGD, the largest block", largest)
        yield million(weigh)


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
    """DF-OGD at every size, ratios against the first."""
    rows: list[Row] = []
    for size in sizes:
        results = [weigh(size) for _ in range(1 if size["rounds"] >= LONG else 3)]
        what = f"T={size['rounds']:,} K={size['items']} S={size['seeds']}"
        rows.append(row_of(what, results, size, rows))
    return Section(f"{title}: data and learning per seed and round", rows)


def million(weigh: Scale) -> Section:
    """Algorithms without a history, and DF-FTPL with a bounded one: all below a gigabyte."""
    jobs = [(algo,) for algo in ("df_ogd", "pf_ogd", "spo")]
    jobs += [("df_ftpl", f"oracle.history={keep}") for keep in ("window", "reservoir")]
    rows: list[Row] = []
    for algo, *overrides in jobs:
        result = weigh(MILLION, f"algo={algo}", *overrides)
        assert result["rows"] <= 500, "the CSV is thinned"
        rows.append(row_of(" ".join([algo, *overrides]), [result], MILLION, rows))
    return Section("T=1,000,000 K=5 S=4: data and learning per seed and round", rows)


def row_of(
    what: str, results: list[dict[str, Any]], size: dict[str, int], before: list[Row]
) -> Row:
    """The least time and the most memory of several runs, relative to the first of the rows before.

    The memory of every run is bounded, whatever its size.
    """
    least = min(result["data"] + result["learn"] for result in results)
    seconds = least / (size["seeds"] * size["rounds"])
    ratio = seconds / before[0].seconds if before else None
    most = max(result["megabytes"] for result in results)
    against = "the first row" if before else ""
    return Row(what, seconds, ratio, against, most, below_megabytes=GIGABYTE)
