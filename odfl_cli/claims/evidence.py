"""The sweeps that the claims are measured on: run where missing, then read."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from odfl_cli.core.errors import UserError
from odfl_cli.core.text import tell
from odfl_cli.results.grouping import Group, group_runs
from odfl_cli.results.tables import read_runs


@dataclass(frozen=True)
class Sweep:
    """Overrides of `odfl run`, and how many seeds the claims need of it."""

    name: str
    overrides: tuple[str, ...]
    seeds: int

    def command(self, outputs: Path, share: float) -> list[str]:
        """The arguments of `odfl`; `share` scales the number of seeds."""
        seeds = max(2, round(share * self.seeds))
        places = [f"seeds={seeds}", f"sweep=claims-{self.name}", f"outputs={outputs}"]
        return ["run", "-m", *self.overrides, *places]


def collect(sweep: Sweep, outputs: Path, share: float) -> list[Group]:
    """Runs what is missing of a sweep and reads it; finished runs are found again."""
    arguments = sweep.command(outputs, share)
    tell(" ".join(arguments))
    command = [sys.executable, "-m", "odfl_cli.cli", *arguments]
    done = subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
    if done.returncode:
        raise UserError(f"claims: the sweep {sweep.name} failed; see the lines above")
    directory = outputs / "sweeps" / f"claims-{sweep.name}"
    return group_runs(read_runs([directory], tell))


def pick(groups: list[Group], algorithm: str, **settings: object) -> Group:
    """The one group of an algorithm with these settings; in a key, __ stands for a dot."""
    wanted = {key.replace("__", "."): value for key, value in settings.items()}
    found = [
        group
        for group in groups
        if group.algorithm == algorithm
        and all(group.settings.get(key) == value for key, value in wanted.items())
    ]
    if len(found) != 1:
        raise UserError(f"claims: {len(found)} runs of {algorithm} with {wanted}; one is needed")
    return found[0]
