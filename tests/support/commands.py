"""Real subprocesses of the real command."""

import os
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


def odfl(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """`odfl …` in `cwd`, as a user's shell would start it."""
    command = [sys.executable, "-m", "odfl_cli.cli", *arguments]
    return subprocess.run(
        command, cwd=cwd, env=os.environ | environment, capture_output=True, text=True, timeout=300
    )


def complaints(done: subprocess.CompletedProcess[str]) -> list[str]:
    """Lines on stderr, but for the news that a kernel is compiled on this machine's first run."""
    return [line for line in done.stderr.splitlines() if "compiling the" not in line]


def run_directories(root: Path) -> list[Path]:
    """Finished runs below `root`."""
    return sorted(path.parent for path in root.rglob("summary.json"))
