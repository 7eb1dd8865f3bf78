"""`make fuzz`: hostile cases on all cores; what they found, and how to repeat it."""

import argparse
import json
import math
import resource
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context

from fuzz.cases import Case, all_cases
from fuzz.judge import try_case

TASKS_PER_WORKER = 500
MEMORY = 12 * 2**30  # bytes of address space: a case that wants more must say so


def main() -> int:
    """Prints what was found; 1 if there is anything."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="of the order and of what is random")
    parser.add_argument("--seconds", type=float, default=math.inf, help="when to stop")
    parser.add_argument("--cases", type=int, default=5000, help="how many at most")
    parser.add_argument("--kind", help="these alone")
    parser.add_argument("--repeat", metavar="JSON", help="one case, as it was printed")
    arguments = parser.parse_args()
    if arguments.repeat:
        chosen = iter([Case(*json.loads(arguments.repeat))])
    else:
        everything = all_cases(arguments.seed)
        chosen = (case for case in everything if arguments.kind in (None, case.kind))
    begun, counts, found = time.monotonic(), Counter[str](), 0
    spawn = get_context("spawn")
    # A worker imports torch and keeps what it has composed: new ones bound the memory.
    with ProcessPoolExecutor(
        mp_context=spawn,
        max_tasks_per_child=TASKS_PER_WORKER,
        initializer=resource.setrlimit,
        initargs=(resource.RLIMIT_AS, (MEMORY, MEMORY)),
    ) as pool:
        for part in batches(islice(chosen, arguments.cases), 100):
            if counts.total() % 1000 == 0:
                print(f"{counts.total()} cases, {found} failed", file=sys.stderr, flush=True)
            if time.monotonic() - begun > arguments.seconds:
                break
            for case, wrong in zip(part, pool.map(try_case, part), strict=True):
                counts[case.kind] += 1
                if wrong:
                    found += 1
                    repeat = f"python -m fuzz --repeat '{json.dumps(case)}'"
                    print(f"{'; '.join(wrong)}\n  {repeat}", flush=True)
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
    print(f"{counts.total()} cases ({kinds}), seed {arguments.seed}: {found} failed")
    return 1 if found else 0


def batches(cases: Iterator[Case], size: int) -> Iterator[list[Case]]:
    """Lists of at most `size` cases."""
    while part := list(islice(cases, size)):
        yield part


if __name__ == "__main__":
    sys.exit(main())
