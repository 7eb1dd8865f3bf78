"""`odfl run` from start to prompt, against a process that only draws and writes."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

from support.problems import composed_job

from benchmarks.processes import python
from benchmarks.report import Row, Section
from benchmarks.timing import busy_child, seconds

RUN = ("algo=df_ogd", "horizon=paper", "seeds=10")
REPETITIONS = 7


def sections() -> Iterator[Section]:
    """Both in turn, so that a busy moment of the machine hits both."""
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        odfl_run(root)  # compiles kernels and bytecode
        draw_and_write(root)
        assert_same_size(root)
        pairs = [
            (seconds(lambda: odfl_run(root)), seconds(lambda: draw_and_write(root)))
            for _ in range(REPETITIONS)
        ]
        whole, floor = (min(column) for column in zip(*pairs, strict=True))
        work, least = (
            min(busy_child(lambda: process(root)) for _ in range(3))  # noqa: B023
            for process in (odfl_run, draw_and_write)
        )
    title = f"odfl run {' '.join(RUN)}, from start to prompt"
    rows = [
        Row("import hydra and numpy, draw normals, write CSVs", floor),
        Row("odfl run", whole, whole / floor, "that process", at_most=2.2),
        Row("processor time of both", work, work / least, "that process", at_most=2.2),
    ]
    yield Section(title, rows)
    yield Section(
        "processor time without a run",
        [*map(prompt, ("--help", "--version")), prompt("completion", "bash"), choices()],
    )


def prompt(*words: str) -> Row:
    """A command that should feel instant."""
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        command = ("-m", "odfl_cli.cli", *words)
        python(*command, cwd=root, bytecode=root)
        took = min(busy_child(lambda: python(*command, cwd=root, bytecode=root)) for _ in range(3))
    return Row(f"odfl {' '.join(words)}", took, below_seconds=0.1)


def choices() -> Row:
    """What a shell asks for at a tab after `algo=`."""
    with patch.dict(os.environ, COMP_LINE="odfl run algo=df"):
        return prompt("-sc", "query=bash")


def odfl_run(root: Path) -> None:
    (root / "run").mkdir(exist_ok=True)
    python(
        "-m",
        "odfl_cli.cli",
        "run",
        *RUN,
        "force=true",
        cwd=root / "run",
        bytecode=root / "bytecode",
    )


def draw_and_write(root: Path) -> None:
    (root / "floor").mkdir(exist_ok=True)
    job = composed_job(*RUN)
    rounds, rows = job.horizon.rounds, len(job.horizon.logged())
    normals = job.environment.items * (job.environment.features + 3)
    sizes = (str(n) for n in (rounds, rows, len(job.seeds), normals))
    floor = ("-m", "benchmarks.draw_and_write", *sizes, ".")
    python(*floor, cwd=root / "floor", bytecode=root / "bytecode")


def assert_same_size(root: Path) -> None:
    """As many files, as many lines."""
    lines = [
        sorted(len(path.read_text().splitlines()) for path in (root / name).rglob("seed-*.csv"))
        for name in ("run", "floor")
    ]
    assert lines[0] == lines[1], lines
