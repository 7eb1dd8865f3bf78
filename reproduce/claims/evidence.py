"""The sweeps on which the claims are measured: missing ones are run, then all are read."""

import hashlib
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from odfl_cli.core.errors import UserError
from odfl_cli.core.reading import read_yaml
from odfl_cli.core.text import tell
from odfl_cli.results.finding import Where
from odfl_cli.results.grouping import Group, group_runs
from odfl_cli.results.tables import read_runs

FIRST_SEED = 150_001
"""Claims are measured on seeds from this one on, on which nothing was chosen."""

Player = str | tuple[str, dict[str, Any]]
"""An algorithm, or one with settings."""


@dataclass(frozen=True)
class Sweep:
    """The number of seeds that the claims need, and the overrides of `odfl run` for each part."""

    name: str
    count: int
    parts: Sequence[str]

    def seeds(self, share: float) -> list[int]:
        """The first seeds: a `share` of the count, at least two."""
        return [FIRST_SEED + k for k in range(max(2, round(share * self.count)))]

    def commands(self, share: float) -> dict[str, list[str]]:
        """The name of each part's sweep, which depends on its overrides, and the words of `odfl run`."""
        seeds = f"seeds=[{','.join(map(str, self.seeds(share)))}]"
        digests = [hashlib.sha256(part.encode()).hexdigest()[:6] for part in self.parts]
        names = [f"claims-{self.name}-{digest}" for digest in digests]
        return {
            name: ["run", "-m", *part.split(), seeds, f"sweep={name}"]
            for name, part in zip(names, self.parts, strict=True)
        }

    def collect(self, outputs: Path, share: float) -> list[Group]:
        """Runs what is missing and reads all; finished runs are not repeated."""
        commands = self.commands(share)
        for words in commands.values():
            tell(f"claims: {self.name}: {' '.join(words[2:-2])}")
            command = [sys.executable, "-m", "odfl_cli", *words, f"outputs={outputs}"]
            if subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode:
                raise UserError(f"claims: the sweep {self.name} failed; see the lines above")
        places = [outputs / "sweeps" / name for name in commands]
        where = Where({}, tuple(self.seeds(share)))
        return group_runs(read_runs(places, tell, where))


_FILE = read_yaml(Path(__file__).with_name("sweeps.yaml"))
SWEEPS = {name: Sweep(name, one["seeds"], one["parts"]) for name, one in _FILE["sweeps"].items()}
READINGS: dict[str, str] = _FILE["readings"]
"""Sweeps over γ with other settings, in words."""


def pick(groups: list[Group], player: Player, settings: dict[str, Any] | None = None) -> Group:
    """The one group of a player with these settings."""
    algorithm, extra = (player, {}) if isinstance(player, str) else player
    wanted = {**(settings or {}), **extra}
    found = [
        group
        for group in groups
        if group.algorithm == algorithm
        and all(group.settings.get(key) == value for key, value in wanted.items())
    ]
    if len(found) != 1:
        raise UserError(f"claims: {len(found)} runs of {algorithm} with {wanted}; one is needed")
    return found[0]
