"""`make fuzz`: as many cases as fit in a time, what they found, and how to repeat it."""

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from itertools import islice
from pathlib import Path

from fuzz.cases import Case, all_cases
from fuzz.judge import judge


def main() -> int:
    """Prints what was found; 1 if there is anything."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="of the order and of what is random")
    parser.add_argument("--seconds", type=float, default=900, help="when to stop")
    parser.add_argument("--cases", type=int, default=5000, help="how many at most")
    parser.add_argument("--kind", choices=["key", "file", "rounds"], help="these alone")
    parser.add_argument("--repeat", metavar="JSON", help="one case, as it was printed")
    arguments = parser.parse_args()
    if arguments.repeat:
        chosen = iter([Case(*json.loads(arguments.repeat))])
    else:
        everything = all_cases(arguments.seed)
        chosen = (case for case in everything if arguments.kind in (None, case.kind))
    begun, counts, found = time.monotonic(), Counter[str](), 0
    for case in islice(chosen, arguments.cases):
        if time.monotonic() - begun > arguments.seconds:
            break
        counts[case.kind] += 1
        with tempfile.TemporaryDirectory(prefix="odfl-fuzz-") as root:
            wrong = judge(case, Path(root))
        if wrong:
            found += 1
            print(f"{'; '.join(wrong)}\n  python -m fuzz --repeat '{json.dumps(case)}'", flush=True)
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
    print(f"{counts.total()} cases ({kinds}), seed {arguments.seed}: {found} failed")
    return 1 if found else 0


sys.exit(main())
