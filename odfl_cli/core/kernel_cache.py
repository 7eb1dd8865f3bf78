"""Compiled kernels on disk: compiled once per machine, loaded by later processes."""

import hashlib
import importlib
import json
import logging
import os
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from threading import RLock
from types import ModuleType
from typing import Any

from odfl_cli.core import compiling
from odfl_cli.core.files import is_own, make_private, user_cache, write_json
from odfl_cli.core.locks import locked
from odfl_cli.core.machine_code import target

log = logging.getLogger("odfl")

WAYS = ("compiling", "machine_code", "signatures")
"""The modules of this room that decide how a kernel is compiled and stored."""


_modules: dict[str, ModuleType] = {}
_loading = RLock()
"""Held while a kernel is loaded; a fork waits for it, for its copy could not release a lock."""
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_loading.acquire,
        after_in_parent=_loading.release,
        after_in_child=_loading.release,
    )


def load_kernel(name: str) -> ModuleType:
    """The module `name`, whose import compiles its kernels or finds them compiled on disk.

    Of threads that need it at once, one loads it and the others wait.
    """
    if name not in _modules:
        with _loading:
            _modules[name] = _modules.get(name) or _loaded(name)
    return _modules[name]


def _loaded(name: str) -> ModuleType:
    directory = cache_directory()
    if directory is None:
        log.warning(
            "no directory of this user alone for compiled kernels; compiling %s again", name
        )
        return _import(name, None)
    kernel = name.rsplit(".", 1)[-1]
    place = directory / kernel
    try:
        place.mkdir(mode=0o700, exist_ok=True)
        with locked(place):  # of processes that start together, one compiles
            found = _intact(place, kernel)
            module = _import(name, place)
            if {path.name for path in _files(place, kernel)} != found.keys():
                write_json(place / f"{kernel}.json", _checksums(place, kernel))
    except Exception as error:  # a full disk, a file that cannot be loaded
        log.warning("compiled kernels cannot be kept (%s); compiling %s for this run", error, name)
        return _import(name, None)
    return module


def kernels() -> dict[str, str]:
    """Name → module, of all kernels of this package."""
    package = Path(__file__).resolve().parents[1]
    files = [path for path, source in _sources(package) if b"\n@kernel(" in source]
    modules = [Path(path).relative_to(package.parent).with_suffix("").parts for path in files]
    return {parts[-1]: ".".join(parts) for parts in modules}


def is_compiled(kernel: str) -> bool:
    """Whether this machine has the kernel on disk."""
    directory = cache_directory()
    return directory is not None and (directory / kernel / f"{kernel}.json").is_file()


def _intact(directory: Path, kernel: str) -> dict[str, str]:
    """The checksums of the compiled kernel if they are the recorded ones; any other is removed."""
    seal = directory / f"{kernel}.json"
    found = _checksums(directory, kernel)
    if not found or (seal.is_file() and is_own(seal) and _recorded(seal) == found):
        return found
    if seal.is_file():
        log.warning("the compiled %s kernel on disk is broken; compiling it anew", kernel)
    for path in _files(directory, kernel):
        path.unlink(missing_ok=True)
    return {}


def _recorded(seal: Path) -> Any:
    """What the file holds, None if it is damaged."""
    with suppress(ValueError):
        return json.loads(seal.read_bytes())
    return None


def _checksums(directory: Path, kernel: str) -> dict[str, str]:
    """Of the kernel's files by name; one of another user has none."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() if is_own(path) else "not ours"
        for path in _files(directory, kernel)
    }


def _files(directory: Path, kernel: str) -> list[Path]:
    return sorted(directory.glob(f"{kernel}.*.o"))


def cache_directory() -> Path | None:
    """The first of the candidate directories that only this user can enter and write, or None."""
    places = (base / f"odfl-kernels-{_fingerprint()}" for base in _candidates())
    return next((place for place in places if make_private(place)), None)


def _candidates() -> list[Path]:
    """Numba's own setting, beside the sources, the user's cache."""
    chosen, user = os.environ.get("NUMBA_CACHE_DIR"), user_cache()
    beside = Path(__file__).resolve().parents[1] / "__pycache__"
    return [*([Path(chosen)] if chosen else []), beside, *([user] if user else [])]


@cache
def _fingerprint() -> str:
    """Changes with any kernel's source and with the CPU.

    A source is one that names odfl_cli.core.compiling, as those do whose constants kernels take.
    """
    package = Path(__file__).resolve().parents[1]
    kernels = [source for _, source in _sources(package) if b"odfl_cli.core.compiling" in source]
    ways = [(package / "core" / f"{name}.py").read_bytes() for name in WAYS]
    return hashlib.sha256(b"".join([target().encode(), *ways, *kernels])).hexdigest()[:12]


def _sources(package: Path) -> Iterator[tuple[str, bytes]]:
    """The package's files and what is in them, in order; every run reads them all."""
    for directory, below, names in os.walk(package):
        below[:] = sorted(name for name in below if name != "__pycache__")
        for name in sorted(names):
            if name.endswith(".py"):
                path = os.path.join(directory, name)
                with open(path, "rb", buffering=0) as file:
                    yield path, file.read()


def _import(name: str, directory: Path | None) -> ModuleType:
    """Imports the module while kernels are kept in `directory` (None: nowhere)."""
    before = compiling.directory.set(directory)
    try:
        return importlib.import_module(name)
    finally:
        compiling.directory.reset(before)
