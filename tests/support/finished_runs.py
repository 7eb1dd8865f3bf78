"""Run directories in every state, written without the package's writers."""

import hashlib
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

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
    version: str = "0.1.0",
    age: float = 0.0,
    **details: Any,
) -> Path:
    """A run of `write_run` with the rest of its records; `age` in seconds."""
    write_run(directory, algo, levels, **details)
    summary = json.loads((directory / "summary.json").read_text())
    tables = [pd.read_csv(directory / f"seed-{seed}.csv") for seed in summary["seeds"]]
    files = sorted(directory.glob("seed-*.csv"))
    summary |= {
        "final": {
            column: {"per_seed": [float(table[column].iloc[-1]) for table in tables]}
            for column in tables[0].columns.drop("t")
        },
        "files": {file.name: _record(file, version) for file in files},
        "versions": {"odfl": version},
        "format": 1,
    }
    (directory / "summary.json").write_text(json.dumps(summary))
    then = time.time() - age
    os.utime(directory / "summary.json", (then, then))
    return directory


def write_unfinished(directory: Path, algo: str = "df_ogd") -> Path:
    """What a killed run leaves behind."""
    (directory / ".hydra").mkdir(parents=True)
    (directory / ".hydra" / "hydra.yaml").write_text(HYDRA_YAML.replace("ALGO", algo))
    (directory / ".hydra" / "config.yaml").write_text("data: {items: 5}\nk: ${data.items}\n")
    (directory / "run.log").write_text("begun\n")
    return directory


def write_failed(directory: Path, algo: str = "df_ogd", error: str = "no luck") -> Path:
    """What a run leaves behind whose algorithm raised."""
    write_unfinished(directory, algo)
    content = {"error": error, "versions": {"odfl": "0.1.0"}}
    (directory / "failed.json").write_text(json.dumps(content))
    return directory


def change_summary(run: Path, **changes: Any) -> None:
    """Edits summary.json by hand."""
    summary = json.loads((run / "summary.json").read_text())
    (run / "summary.json").write_text(json.dumps(summary | changes))


def record_again(run: Path) -> None:
    """Makes the records of a run fit its CSVs."""
    summary = json.loads((run / "summary.json").read_text())
    files = {name: _record(run / name, record["odfl"]) for name, record in summary["files"].items()}
    change_summary(run, files=files)


def _record(file: Path, version: str) -> dict[str, Any]:
    content = file.read_bytes()
    return {
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "odfl": version,
    }
