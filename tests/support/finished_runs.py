"""Run directories in every state, written without the package's writers."""

import hashlib
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from support.synthetic_runs import write_run

HYDRA_YAML = """\
hydra:
  callbacks: {check: {_target_: odfl_cli.runs.callbacks.CheckBeforeStart}}
  runtime: {choices: {algo: ALGO, data: sin4, hydra/launcher: basic}}
"""


def write_finished(
    directory: Path,
    algo: str = "df_ogd",
    levels: Mapping[int, float] | None = None,
    age: float = 0.0,
    **details: Any,
) -> Path:
    """A run of `write_run` whose summary is `age` seconds old."""
    write_run(directory, algo, levels, **details)
    then = time.time() - age
    os.utime(directory / "summary.json", (then, then))
    return directory


def write_unfinished(directory: Path, algo: str = "df_ogd") -> Path:
    """Writes the files that a killed run leaves."""
    write_hydra(directory, algo)
    (directory / "run.log").write_text("begun\n")
    (directory / ".lock").write_text("odfl lock: somewhere 1\n")
    return directory


def write_hydra(directory: Path, algo: str = "df_ogd") -> None:
    """The files that Hydra writes when a run begins."""
    (directory / ".hydra").mkdir(parents=True)
    (directory / ".hydra" / "hydra.yaml").write_text(HYDRA_YAML.replace("ALGO", algo))
    (directory / ".hydra" / "config.yaml").write_text("data: {items: 5}\nk: ${data.items}\n")


def write_failed(directory: Path, algo: str = "df_ogd", error: str = "no luck") -> Path:
    """Writes the files of a run whose algorithm raised."""
    write_unfinished(directory, algo)
    content = {"error": error, "versions": {"odfl": "0.1.0"}}
    (directory / "failed.json").write_text(json.dumps(content))
    return directory


def content(tree: Path) -> dict[str, str]:
    """Every path below the tree with what it is: a digest, a link's target, or a directory."""
    found = {}
    for path in sorted(tree.rglob("*")):
        if path.is_symlink():
            kind = f"link to {os.readlink(path)}"
        else:
            kind = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "other"
        found[str(path.relative_to(tree))] = kind
    return found
