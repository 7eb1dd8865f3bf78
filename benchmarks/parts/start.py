"""`odfl run` from start to end, with and without compiled kernels, and commands that run nothing."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

from benchmarks.processes import python
from benchmarks.report import Row, Section
from benchmarks.timing import busy_child

ODFL = ("-m", "odfl_cli")
RUN = (*ODFL, "run", "algo=df_ogd", "horizon=paper", "seeds=10", "force=true")
KERNELS = """
import importlib, pathlib, odfl_cli
root = pathlib.Path(odfl_cli.__file__).parent
for file in sorted(root.rglob("*.py")):
    if "@kernel(" in file.read_text():
        importlib.import_module(".".join(("odfl_cli", *file.relative_to(root).with_suffix("").parts)))
"""


def sections() -> Iterator[Section]:
    """Processor time, all threads and child processes together."""
    yield Section(
        f"{' '.join(RUN[2:-1])}: processor time",
        [
            Row("warm", least(*RUN), at_most_seconds=1.6),
            Row("the first time, with nothing compiled", from_nothing(*RUN), at_most_seconds=15),
            Row("all kernels, from nothing", from_nothing("-c", KERNELS), at_most_seconds=90),
        ],
    )
    prompts = [("--help",), ("--version",), ("completion", "bash")]
    rows = [Row(f"odfl {' '.join(w)}", least(*ODFL, *w), at_most_seconds=0.15) for w in prompts]
    with patch.dict(os.environ, COMP_LINE="odfl run algo=df"):
        rows.append(Row("a tab after algo=", least(*ODFL, "-sc", "query=bash")))
    yield Section("processor time without a run", rows)


def least(*command: str) -> float:
    """The least processor seconds of three processes, after one that compiles the kernels."""
    with tempfile.TemporaryDirectory() as place:
        return min(processor_seconds(Path(place), *command) for _ in range(4))


def from_nothing(*command: str) -> float:
    """Processor seconds of a process without compiled kernels."""
    with tempfile.TemporaryDirectory() as place:
        processor_seconds(Path(place), *ODFL, "--version")  # compiles some of the bytecode
        kernels = Path(place, "kernels")
        kernels.mkdir(mode=0o700)
        with patch.dict(os.environ, NUMBA_CACHE_DIR=str(kernels)):
            return processor_seconds(Path(place), *command)


def processor_seconds(place: Path, *command: str) -> float:
    return busy_child(lambda: python(*command, cwd=place, bytecode=place / "bytecode"))
