"""Child processes that are timed or weighed."""

import os
import subprocess
import sys
from pathlib import Path


def python(*arguments: str, cwd: Path, bytecode: Path | None = None) -> str:
    """`python …` as on a user's machine, where bytecode is kept; returns what it printed."""
    environment = os.environ | ({"PYTHONPYCACHEPREFIX": str(bytecode)} if bytecode else {})
    environment |= {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        [sys.executable, *arguments], cwd=cwd, env=environment, capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(arguments)}: {done.stderr}")
    return done.stdout
