"""PYTHONPATH=tests python -m benchmarks [rounds] [moments] [barrier] [update] [command] [growth] [sweep] [pages]; all by default."""

import sys

from benchmarks.barrier import barrier
from benchmarks.end_to_end import command
from benchmarks.growth import growth
from benchmarks.moments import moments
from benchmarks.pages import pages
from benchmarks.report import print_table
from benchmarks.rounds import rounds
from benchmarks.spo_update import update
from benchmarks.sweep import sweep

PARTS = {
    "rounds": rounds,
    "moments": moments,
    "barrier": barrier,
    "update": update,
    "command": command,
    "growth": growth,
    "sweep": sweep,
    "pages": pages,
}


def main(names: list[str]) -> int:
    """Measures the parts named and prints their table."""
    if unknown := set(names) - set(PARTS):
        print(f"{', '.join(sorted(unknown))}: there are {', '.join(PARTS)}", file=sys.stderr)
        return 2
    sections = []
    for name in names or PARTS:
        print(f"measuring {name} …", file=sys.stderr, flush=True)
        sections += PARTS[name]()
    print_table(sections)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
