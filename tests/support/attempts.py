"""What the tests of resumed runs and sweeps look at."""

import json
from pathlib import Path
from typing import Any


def computations(run: Path) -> list[str]:
    """The seeds of every computation that was begun in a run directory, as its log has them."""
    lines = (run / "run.log").read_text().splitlines()
    return [
        line.split("computing seeds ")[1].split(", engine")[0]
        for line in lines
        if "computing seeds" in line
    ]


def csvs(root: Path) -> dict[str, bytes]:
    """Every CSV of a run below `root`, by its run's name and its own."""
    return {
        f"{path.parent.name}/{path.name}": path.read_bytes() for path in root.rglob("seed-*.csv")
    }


OF_THE_ATTEMPT = ("seconds", "attempt", "overrides", "seal")


def summary(run: Path) -> dict[str, Any]:
    """The summary without entries that differ between two equal computations."""
    content = json.loads((run / "summary.json").read_text())
    return {key: value for key, value in content.items() if key not in OF_THE_ATTEMPT}
