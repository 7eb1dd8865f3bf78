"""Kernels are compiled once per machine and found again by later processes."""

import hashlib
import importlib
import logging
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path
from types import ModuleType

log = logging.getLogger("odfl")


@cache
def load_kernel(name: str) -> ModuleType:
    """The module `name`, whose import compiles its kernels or finds them compiled on disk."""
    directory = cache_directory()
    if directory is None:
        log.warning("no directory can be written for compiled kernels; compiling %s again", name)
        return _import(name, None)
    try:
        return _import(name, directory)
    except Exception as error:  # whatever a damaged file makes numba's loader raise
        log.warning("the compiled %s kernel on disk is broken (%s); compiling it anew", name, error)
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True, exist_ok=True)
        return _import(name, directory)


def cache_directory() -> Path | None:
    """The first of the candidate places that can be written, or None."""
    for base in _candidates():
        directory = base / f"odfl-kernels-{_fingerprint()}"
        try:
            directory.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=directory):
                return directory
        except OSError:
            continue
    return None


def _candidates() -> list[Path]:
    """Numba's own setting, beside the sources, the user's cache."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    user = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    beside = Path(__file__).resolve().parent / "__pycache__"
    return [*([Path(chosen)] if chosen else []), beside, Path(user)]


@cache
def _fingerprint() -> str:
    """Changes with any kernel's source, which numba's own time stamps may miss."""
    package = Path(__file__).resolve().parent
    sources = [path.read_bytes() for path in sorted(package.rglob("*.py"))]
    kernels = [source for source in sources if b"odfl_cli.compiling" in source]
    options = (package / "compiling.py").read_bytes()
    return hashlib.sha256(b"".join([options, *kernels])).hexdigest()[:12]


def _import(name: str, directory: Path | None) -> ModuleType:
    """Imports the module while numba's cache points at `directory` (None: no cache)."""
    import numba

    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(directory or "")
    try:
        return importlib.import_module(name)
    finally:
        numba.config.CACHE_DIR = before
