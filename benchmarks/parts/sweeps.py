"""A small job in a sweep, against a job that does nothing in Hydra's own sweep."""

import resource
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.processes import python
from benchmarks.report import Row, Section
from benchmarks.timing import seconds

FEW, SEVERAL, MANY, REPETITIONS = 2, 100, 1000, 3
NOOPS = 20


def sections() -> Iterator[Section]:
    """Seconds per job: a long sweep minus a short one, which also starts up and compiles."""
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        odfl_sweep(root, FEW)  # compiles kernels and bytecode
        started = min(odfl_sweep(root, FEW) for _ in range(REPETITIONS))
        odfl_sweep(root, SEVERAL)
        several = peak_megabytes()
        outputs = root / "many"
        each = (odfl_sweep(root, MANY, outputs) - started) / (MANY - FEW)
        many = peak_megabytes()
        skipped = min(odfl_sweep(root, MANY, outputs) for _ in range(REPETITIONS))
        noop = per_noop(root)
    skipped = (skipped - started) / MANY
    yield Section(
        f"a grid of {MANY} jobs, 50 rounds and one seed each: per job",
        [
            Row("a job that does nothing in Hydra's own sweep", noop),
            Row("odfl run -m", each, each / noop, "Hydra", megabytes=many),
            Row("the same, all finished", skipped, skipped / noop, "Hydra"),
            Row(f"memory: {MANY} jobs against {SEVERAL}", None, many / several),
        ],
    )


def odfl_sweep(root: Path, jobs: int, outputs: Path | None = None) -> float:
    """Seconds of a sweep of that many jobs, in a new folder unless one is given."""
    place = outputs or Path(tempfile.mkdtemp(dir=root))
    gammas = ",".join(str(number / jobs) for number in range(jobs))
    command = ("-m", "odfl_cli", "run", "-m", "algo=pf_ogd", "horizon=smoke", "seeds=1")
    grid = (f"data.gamma={gammas}", f"outputs={place}")
    took = seconds(lambda: python(*command, *grid, cwd=root, bytecode=root / "bytecode"))
    assert len(list(place.rglob("summary.json"))) == jobs
    return took


def per_noop(root: Path) -> float:
    """Seconds of a job that does nothing."""
    took = {jobs: min(noop_sweep(root, jobs) for _ in range(REPETITIONS)) for jobs in (FEW, NOOPS)}
    return (took[NOOPS] - took[FEW]) / (NOOPS - FEW)


def noop_sweep(root: Path, jobs: int) -> float:
    numbers = ",".join(map(str, range(jobs)))
    command = ("-m", "benchmarks.noop_sweep", "-m", f"+number={numbers}")
    return seconds(lambda: python(*command, cwd=root, bytecode=root / "bytecode"))


def peak_megabytes() -> float:
    """The peak memory of the largest child process so far."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1000
