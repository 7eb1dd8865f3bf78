"""`odfl run` from start to prompt, against a process that only draws and writes."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from support.problems import composed_job

from benchmarks.processes import python
from benchmarks.report import Row, Section
from benchmarks.timing import seconds

RUN = ("algo=df_ogd", "horizon=paper", "seeds=10")
REPETITIONS = 7


def sections() -> Iterator[Section]:
    """Both in turn, so that a busy moment of the machine hits both."""
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        whole, floor = [], []
        for repetition in range(REPETITIONS + 1):
            pair = seconds(lambda: odfl_run(root)), seconds(lambda: draw_and_write(root))
            if repetition:  # the first compiles kernels and bytecode
                whole.append(pair[0])
                floor.append(pair[1])
        assert_same_size(root)
    title = f"odfl run {' '.join(RUN)}, from start to prompt"
    rows = [
        Row("import hydra and numpy, draw normals, write CSVs", min(floor)),
        Row("odfl run", min(whole), min(whole) / min(floor), "that process", at_most=2.2),
    ]
    yield Section(title, rows)


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
