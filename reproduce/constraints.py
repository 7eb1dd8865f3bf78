"""Writes constraints.txt: the installed version of every package that `.[dev]` needs, directly or not."""

import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

TOP = Path(__file__).parents[1]
HEADER = """\
# Versions of all packages with which the tests pass; `make install` takes these. A plain `pip install` keeps to the
# ranges in pyproject.toml. Written by `python reproduce/constraints.py` from the environment it runs in.
"""


def requirements_of(*extras: str) -> Iterator[Requirement]:
    """The requirements in pyproject.toml, with those of the extras."""
    project = tomllib.loads((TOP / "pyproject.toml").read_text())["project"]
    lists = [project["dependencies"], *(project["optional-dependencies"][name] for name in extras)]
    for requirement in (Requirement(text) for one in lists for text in one):
        if requirement.name == project["name"]:
            yield from requirements_of(*requirement.extras)
        else:
            yield requirement


def installed_versions(requirements: Iterator[Requirement]) -> dict[str, str]:
    """Name → installed version of the requirements and of their own requirements."""
    found: dict[str, str] = {}
    seen: set[tuple[str, frozenset[str]]] = set()
    waiting = list(requirements)
    while waiting:
        one = waiting.pop()
        key = canonicalize_name(one.name), frozenset(one.extras)
        if key in seen:
            continue
        seen.add(key)
        try:
            package = distribution(one.name)
        except PackageNotFoundError:
            continue  # another build of torch needs it, or a package that was installed without
        found[key[0]] = re.sub(r"\+.*", "", package.version)
        for needed in map(Requirement, package.requires or ()):
            extras = one.extras or {""}
            if not needed.marker or any(needed.marker.evaluate({"extra": e}) for e in extras):
                waiting.append(needed)
    return found


if __name__ == "__main__":
    versions = installed_versions(requirements_of("dev"))
    lines = [f"{name}=={version}\n" for name, version in sorted(versions.items())]
    (TOP / "constraints.txt").write_text(HEADER + "".join(lines))
