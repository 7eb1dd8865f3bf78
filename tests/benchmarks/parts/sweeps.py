"""A small job in a sweep, against a job that does nothing in Hydra's own sweep."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import yaml

from benchmarks.processes import python
from benchmarks.report import Row, Section
from benchmarks.timing import seconds
from odfl_cli.config.directory import conf_directory

JOBS, REPETITIONS = 40, 3
SMALL = ("-m", "algo=pf_ogd,spo", "horizon=smoke", "seeds=1")


def sections() -> Iterator[Section]:
    """Seconds per job: a long sweep less a short one, which starts up and compiles as well."""
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        conf = without_callbacks(root)
        commands = {
            "noop": ("-m", "benchmarks.noop_sweep", str(conf)),
            "odfl": ("-m", "odfl_cli.cli", "run"),
        }
        took: dict[tuple[str, int], list[float]] = {}
        for repetition in range(REPETITIONS + 1):
            for (name, command), jobs in ((c, j) for c in commands.items() for j in (2, JOBS)):
                time = seconds(lambda c=command, j=jobs: run(root, c, j))  # type: ignore[misc]
                if repetition:  # the first compiles kernels and bytecode
                    took.setdefault((name, jobs), []).append(time)
    each = {name: per_job(took[name, 2], took[name, JOBS]) for name in commands}
    rows = [
        Row("a job that does nothing", each["noop"]),
        Row("odfl run -m", each["odfl"], each["odfl"] / each["noop"], "Hydra", at_most=2.0),
    ]
    yield Section(f"a grid of {JOBS} jobs, 50 rounds and one seed each: per job", rows)


def per_job(few: list[float], many: list[float]) -> float:
    """From the fastest of each."""
    return (min(many) - min(few)) / (JOBS - 2)


def run(root: Path, command: tuple[str, ...], jobs: int) -> None:
    """Half of the jobs for each of two algorithms."""
    outputs = tempfile.mkdtemp(dir=root)
    gammas = ",".join(str(number / jobs) for number in range(jobs // 2))
    grid = (*SMALL, f"data.gamma={gammas}", f"outputs={outputs}")
    python(*command, *grid, cwd=root, bytecode=root / "bytecode")
    results = len(list(Path(outputs).rglob("summary.json")))
    assert results in (0, jobs), results


def without_callbacks(root: Path) -> Path:
    """The configuration of `odfl run` with nothing of its own around the jobs."""
    conf = Path(shutil.copytree(conf_directory(), root / "conf"))
    content = yaml.safe_load((conf / "config.yaml").read_text())
    del content["hydra"]["callbacks"]
    (conf / "config.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
    return conf
