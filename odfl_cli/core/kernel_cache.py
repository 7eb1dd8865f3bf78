"""Compiled kernels on disk: compiled once per machine, loaded by later processes."""

import hashlib
import importlib
import json
import logging
import os
import tempfile
from functools import cache
from pathlib import Path
from types import ModuleType

from odfl_cli.core.files import write_json
from odfl_cli.core.locks import locked

log = logging.getLogger("odfl")


@cache
def load_kernel(name: str) -> ModuleType:
    """The module `name`, whose import compiles its kernels or finds them compiled on disk."""
    directory = cache_directory()
    if directory is None:
        log.warning("no directory can be written for compiled kernels; compiling %s again", name)
        return _import(name, None)
    kernel = name.rsplit(".", 1)[-1]
    try:
        with locked(directory):  # of processes that start together, one compiles
            sealed = _discard_if_damaged(directory, kernel)
            module = _import(name, directory)
            if not sealed:
                write_json(directory / f"{kernel}.json", _checksums(directory, kernel))
    except Exception as error:  # a full disk, a file that numba cannot load
        log.warning("compiled kernels cannot be kept (%s); compiling %s for this run", error, name)
        return _import(name, None)
    return module


def _discard_if_damaged(directory: Path, kernel: str) -> bool:
    """Whether there is a compiled kernel with the recorded checksums; any other is removed.

    Numba runs whatever machine code it finds.
    """
    seal = directory / f"{kernel}.json"
    found = _checksums(directory, kernel)
    if found and seal.is_file() and json.loads(seal.read_text()) == found:
        return True
    if not found:
        return False
    if seal.is_file():
        log.warning("the compiled %s kernel on disk is broken; compiling it anew", kernel)
    for path in _files(directory, kernel):
        path.unlink(missing_ok=True)
    return False


def _checksums(directory: Path, kernel: str) -> dict[str, str]:
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in _files(directory, kernel)
    }


def _files(directory: Path, kernel: str) -> list[Path]:
    return sorted(directory.rglob(f"{kernel}.*.nb[ic]"))


def cache_directory() -> Path | None:
    """The first of the candidate directories that can be written, or None."""
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
    beside = Path(__file__).resolve().parents[1] / "__pycache__"
    return [*([Path(chosen)] if chosen else []), beside, Path(user)]


@cache
def _fingerprint() -> str:
    """Changes with any kernel's source, which numba's own time stamps may miss."""
    package = Path(__file__).resolve().parents[1]
    sources = [path.read_bytes() for path in sorted(package.rglob("*.py"))]
    kernels = [source for source in sources if b"odfl_cli.core.compiling" in source]
    options = (package / "core" / "compiling.py").read_bytes()
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
