"""The folder of configuration files, in a wheel or in the repository, and its groups."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml

from odfl_cli.core.reading import FAST_LOADER


def conf_directory() -> Path:
    """The first of odfl_cli/conf and odfl_cli/../conf that holds config.yaml."""
    package = Path(__file__).resolve().parents[1]
    for candidate in (package / "conf", package.parent / "conf"):
        if (candidate / "config.yaml").is_file():
            return candidate
    raise FileNotFoundError(f"the installation lacks its conf/ folder beside {package}")


TUNED = "tuned/"
"""Groups below this prefix set values of one group for a choice of another; users do not select them."""
TUNED_BEFORE = {"oracle_for", "algo_for", "algo_data_for"}
"""Their names up to 0.2.0, in the records of runs."""


def is_tuning(group: str) -> bool:
    """True if a group sets another group's values for a pair of choices."""
    return group.startswith(TUNED) or group in TUNED_BEFORE


def choices_of(group: str, directories: list[Path]) -> list[str]:
    """The choices of a group: the names of its files, in any of the directories."""
    paths = (path for folder in directories for path in (folder / group).glob("*.yaml"))
    return sorted({path.stem for path in paths if path.is_file()})  # no broken links


@cache
def variants() -> dict[str, Any]:
    """Choices of algo that are another choice with other values: name → content."""
    return yaml.load((conf_directory() / "variants.yaml").read_bytes(), FAST_LOADER)


def list_groups(directories: list[Path]) -> str:
    """`group: choice, choice, …`, one line per group that users select from."""
    choices: dict[str, set[str]] = {}
    for directory in directories:
        for path in directory.rglob("*.yaml"):
            group = path.parent.relative_to(directory).as_posix()
            choices.setdefault(group, set()).add(path.stem)
    shown = [g for g in sorted(choices) if g != "." and not is_tuning(g) and "hydra" not in g]
    lines = [f"{group}: {', '.join(sorted(choices[group]))}" for group in shown]
    return "\n".join([*lines, f"variants of algo: {', '.join(variants())}"])
