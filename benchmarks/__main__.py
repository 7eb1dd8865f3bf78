"""PYTHONPATH=.:tests python -m benchmarks [PART …] [--record]: the files in benchmarks/parts; all by default.

With --record the measurements are written into docs/data/speed.csv, from which `make documents` makes tables.
"""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.report import Section, print_table, record

PARTS = sorted(path.stem for path in Path(__file__).parent.glob("parts/[a-z]*.py"))
RECORD, SPEED = "--record", Path(__file__).parents[1] / "docs" / "data" / "speed.csv"


def main(names: list[str]) -> int:
    """Measures the named parts and prints one table; unknown parts are refused."""
    parts = [name for name in names if name != RECORD]
    if unknown := set(parts) - set(PARTS):
        print(f"{', '.join(sorted(unknown))}: there are {', '.join(PARTS)}", file=sys.stderr)
        return 2
    results = {name: list(measure(name)) for name in parts or PARTS}
    print_table([section for sections in results.values() for section in sections])
    if RECORD in names:
        for name, sections in results.items():
            record(name, sections, SPEED)
    return 0


def measure(name: str) -> Iterator[Section]:
    """The sections of one part."""
    print(f"measuring {name} …", file=sys.stderr, flush=True)
    yield from importlib.import_module(f"benchmarks.parts.{name}").sections()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
