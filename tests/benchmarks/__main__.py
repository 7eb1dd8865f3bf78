"""PYTHONPATH=tests python -m benchmarks [PART …]: the files in benchmarks/parts; all by default."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.report import Section, print_table

PARTS = sorted(path.stem for path in Path(__file__).parent.glob("parts/[a-z]*.py"))


def main(names: list[str]) -> int:
    """Measures the parts named and prints one table; a part that is unknown is refused."""
    if unknown := set(names) - set(PARTS):
        print(f"{', '.join(sorted(unknown))}: there are {', '.join(PARTS)}", file=sys.stderr)
        return 2
    print_table([section for name in names or PARTS for section in measured(name)])
    return 0


def measured(name: str) -> Iterator[Section]:
    """The sections of one part."""
    print(f"measuring {name} …", file=sys.stderr, flush=True)
    yield from importlib.import_module(f"benchmarks.parts.{name}").sections()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
