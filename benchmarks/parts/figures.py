"""`make figures`: processor time of its commands, after kernels and bytecode are compiled."""

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.processes import python
from benchmarks.report import Row, Section
from benchmarks.timing import busy_child

MAKEFILE = Path(__file__).parents[2] / "Makefile"


def sections() -> Iterator[Section]:
    """Every command in a fresh folder, after a short run of the same kind that compiles."""
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        for words in commands():
            if words[0] == "run":
                odfl(root / "warm", *words, "horizon.rounds=5", "seeds=1")
        rows = [Row(" ".join(words), odfl(root, *words)) for words in commands()]
    total = sum(row.seconds or 0.0 for row in rows)
    yield Section("make figures: processor time", [*rows, Row("all", total, at_most_seconds=120.0)])


def commands() -> list[list[str]]:
    """The commands of the target, as arguments of `odfl`."""
    recipe = re.search(r"^figures:.*\n((?:\t.*\n)+)", MAKEFILE.read_text(), re.MULTILINE)
    assert recipe, "the Makefile has a target figures"
    return [line.split()[1:] for line in recipe[1].splitlines()]


def odfl(root: Path, *words: str) -> float:
    """Processor seconds of a command."""
    root.mkdir(exist_ok=True)
    command = ("-m", "odfl_cli", *words)
    return busy_child(lambda: python(*command, cwd=root, bytecode=root.parent / "bytecode"))
