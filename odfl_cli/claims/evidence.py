"""The sweeps that the claims are measured on: run where missing, then read."""

import hashlib
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from odfl_cli.core.errors import UserError
from odfl_cli.core.text import tell
from odfl_cli.results.grouping import Group, group_runs
from odfl_cli.results.tables import read_runs

FIRST_SEED = 30_000
"""Claims are measured on the seeds from here on, on which nothing was chosen."""

Player = str | tuple[str, dict[str, Any]]
"""An algorithm, or one with settings."""


class Sweep:
    """How many seeds the claims need, and the overrides of `odfl run` for each of its parts."""

    def __init__(self, name: str, count: int, *parts: str) -> None:
        self.name, self.count, self.parts = name, count, parts

    def seeds(self, share: float) -> list[int]:
        """The first seeds: a `share` of the count, at least two."""
        return [FIRST_SEED + k for k in range(max(2, round(share * self.count)))]

    def commands(self, outputs: Path, share: float) -> list[list[str]]:
        """The arguments of `odfl` for every part."""
        seeds = f"seeds=[{','.join(map(str, self.seeds(share)))}]"
        return [
            ["run", "-m", *part.split(), seeds, f"sweep={name}", f"outputs={outputs}"]
            for part, name in zip(self.parts, self.sweeps(), strict=True)
        ]

    def sweeps(self) -> list[str]:
        """The name of the sweep of each part, which depends on its overrides."""
        digests = [hashlib.sha256(part.encode()).hexdigest()[:6] for part in self.parts]
        return [f"claims-{self.name}-{digest}" for digest in digests]


def collect(sweep: Sweep, outputs: Path, share: float) -> list[Group]:
    """Runs what is missing of a sweep and reads it; finished runs are found again."""
    for part, arguments in zip(sweep.parts, sweep.commands(outputs, share), strict=True):
        tell(f"claims: {sweep.name}: {part}")
        command = [sys.executable, "-m", "odfl_cli.cli", *arguments]
        done = subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
        if done.returncode:
            raise UserError(f"claims: the sweep {sweep.name} failed; see the lines above")
    directories = [outputs / "sweeps" / name for name in sweep.sweeps()]
    asked = sweep.seeds(share)
    return [
        replace(group, rows=group.rows[group.rows["seed"].isin(asked)])
        for group in group_runs(read_runs(directories, tell))
    ]


def pick(groups: list[Group], player: Player, settings: dict[str, Any] | None = None) -> Group:
    """The one group of a player with these settings."""
    algorithm, own = (player, {}) if isinstance(player, str) else player
    wanted = {**(settings or {}), **own}
    found = [
        group
        for group in groups
        if group.algorithm == algorithm
        and all(group.settings.get(key) == value for key, value in wanted.items())
    ]
    if len(found) != 1:
        raise UserError(f"claims: {len(found)} runs of {algorithm} with {wanted}; one is needed")
    return found[0]
