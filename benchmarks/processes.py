"""Child processes whose time or memory is measured."""

import os
import subprocess
import sys
from pathlib import Path


def python(*arguments: str, cwd: Path, bytecode: Path | None = None) -> str:
    """Runs `python …` with bytecode kept, as on a user's machine; returns its output."""
    environment = os.environ | ({"PYTHONPYCACHEPREFIX": str(bytecode)} if bytecode else {})
    environment |= {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        [sys.executable, *arguments], cwd=cwd, env=environment, capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(arguments)}: {done.stderr}")
    return done.stdout
