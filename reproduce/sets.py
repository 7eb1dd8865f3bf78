"""The table of algorithms and the decision sets that they accept when a job is built."""

from functools import cache
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
from omegaconf import DictConfig

from odfl_cli.config.compose import compose_job
from odfl_cli.core.errors import UserError
from odfl_cli.runs.build import build

CONF = Path(__file__).parents[1] / "conf"
DATA = Path(__file__).parents[1] / "docs" / "data"
MODEL = (
    "min\n obj: x\nst\n c: x + y + z <= 2\nbounds\n x <= 1\n y <= 1\n z <= 1\nbinary\n x y z\nend\n"
)
TRIANGLE = "1,0,0,>=,0\n0,1,0,>=,0\n0,0,1,>=,0\n1,1,1,=,1\n"
SMALL = {  # what a set needs besides its name
    "assignment": ("polytope.size=2", "data.items=4"),
    "custom": ("data.items=3", "polytope.file={folder}/triangle.csv"),
    "model": ("data.items=3", "polytope.file={folder}/model.lp"),
    "shortest_path": ("polytope.rows=2", "polytope.columns=3", "data.items=7"),
    "solver": ("polytope.solve=numpy.sign", "polytope.sense=max"),
}


def choices(group: str) -> list[str]:
    """The files of a group."""
    return sorted(path.stem for path in (CONF / group).glob("*.yaml"))


def job_config(algo: str, polytope: str, folder: Path) -> DictConfig:
    """A small job; algorithms share the composition of a set."""
    config = _compose(f"polytope={polytope}", *_overrides_of(polytope, folder)).copy()
    config.algo = _compose(f"algo={algo}").algo
    return config


def takes(algo: str, polytope: str, folder: Path) -> bool:
    """True if the parts accept each other."""
    try:
        build(job_config(algo, polytope, folder))
    except UserError:
        return False
    return True


def write_files(folder: Path) -> None:
    """Writes the files from which sets are read."""
    (folder / "triangle.csv").write_text(TRIANGLE)
    (folder / "model.lp").write_text(MODEL)


def main() -> None:
    """Builds every pair and writes docs/data/sets.csv; about half a minute."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder)
        pairs = product(choices("algo"), choices("polytope"))
        rows = [(algo, polytope, takes(algo, polytope, folder)) for algo, polytope in pairs]
    pd.DataFrame(rows, columns=["algo", "polytope", "takes"]).to_csv(DATA / "sets.csv", index=False)


def sets() -> str:
    """One row per group of algorithms that take the same sets, one column per set."""
    table = pd.read_csv(DATA / "sets.csv").pivot(index="algo", columns="polytope", values="takes")
    groups: dict[tuple[bool, ...], list[str]] = {}
    for algo, *marks in table.itertuples():
        groups.setdefault(tuple(marks), []).append(f"`{algo}`")
    rows = [f"| `algo` | {' | '.join(f'`{name}`' for name in table)} |"]
    rows.append("|---" * (len(table.columns) + 1) + "|")
    for marks, algorithms in groups.items():
        signs = " | ".join("✓" if mark else "–" for mark in marks)
        rows.append(f"| {', '.join(algorithms)} | {signs} |")
    return "\n".join(rows)


def _overrides_of(polytope: str, folder: Path) -> tuple[str, ...]:
    given = (word.format(folder=folder) for word in SMALL.get(polytope, ()))
    return (*given, "horizon.rounds=3", "seeds=2")


@cache
def _compose(*overrides: str) -> DictConfig:
    return compose_job(overrides)


if __name__ == "__main__":
    main()
