"""Compiles kernels with numba and caches them on disk, in a directory that only this user can enter.

Numba checks that a cached kernel has the same signature, source file, numba version and processor.
It does not check the functions that a kernel calls, so the folder of a kernel is named by a hash of them.
"""

import hashlib
import logging
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from threading import RLock
from types import CodeType, ModuleType
from typing import Any

import numba
import numpy as np

from odfl_cli.core.files import make_private, user_cache
from odfl_cli.core.text import tell

log = logging.getLogger("odfl")

REORDER = {"reassoc", "contract", "arcp", "nsz"}
"""Sums may be reordered to fill vector registers; infinities and NaN keep their meaning."""
COMMON = {"nogil": True, "error_model": "numpy"}
OPTIONS = {"fastmath": REORDER, **COMMON}

# Always inlined: a kernel from the cache could otherwise call another copy of a function than a
# fresh one does, and the two could differ in the last digit.
inner = numba.njit(forceinline=True, **OPTIONS)
exact = numba.njit(forceinline=True, fastmath=False, **COMMON)
"""For functions that kernels call. `exact` keeps the order of sums, so that ties stay ties."""
ordered = numba.njit(forceinline=True, fastmath={"contract"}, **COMMON)
"""Like `exact`, but a·b + c may be rounded once."""
strict = numba.njit(fastmath=False, **COMMON)
"""Like `exact` but not inlined, which compiles faster: without reordering, all copies give the same digits."""

_configuring = RLock()  # held while numba's configuration names the folder of a kernel


def kernel(signature: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compiles a function for one signature when its module is imported; other types raise a TypeError."""

    def compile_now(function: Callable[..., Any]) -> Callable[..., Any]:
        folder = _kernel_folder(function)
        if folder is None or not folder.is_dir():
            name = function.__module__.rsplit(".", 1)[-1]
            tell(f"compiling {name}.{function.__name__}, once for this machine …")
        try:
            return _compile(function, signature, folder)
        except Exception as error:  # a full disk, a damaged file
            if folder is None:
                raise
            log.warning("the cache of compiled kernels fails (%s); compiling for this run", error)
            shutil.rmtree(folder, ignore_errors=True)
            return _compile(function, signature, None)

    return compile_now


def _compile(function: Callable[..., Any], signature: Any, folder: Path | None) -> Any:
    with _configuring:
        before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(folder or "")
        try:
            return numba.njit(signature, cache=folder is not None, **OPTIONS)(function)
        finally:
            numba.config.CACHE_DIR = before


def _kernel_folder(function: Any) -> Path | None:
    """The cache folder of a kernel; None without a private directory."""
    directory = cache_directory(numba.config.CACHE_DIR)
    digest = hashlib.sha256(numba.__version__.encode())
    for ingredient in _ingredients(function, set()):
        digest.update(ingredient)
    return directory and directory / f"{function.__name__}-{digest.hexdigest()[:12]}"


@cache
def cache_directory(chosen: str) -> Path | None:
    """The first private directory of: numba's setting, beside the sources, the user's cache."""
    beside = Path(__file__).resolve().parents[1] / "__pycache__"
    for base in (Path(chosen) if chosen else None, beside, user_cache()):
        if base and make_private(base / "odfl-kernels"):
            return base / "odfl-kernels"
    log.warning("no private directory for compiled kernels: they are compiled in every process")
    return None


def _ingredients(function: Any, seen: set[Any]) -> Iterator[bytes]:
    """The sources of a function and of the compiled functions it calls, and the constants they use."""
    for path in (function.__code__.co_filename, __file__):
        if path not in seen:
            seen.add(path)
            yield Path(path).read_bytes()
    for name, value in _named_values(function):
        if called := getattr(value, "py_func", None):
            if called not in seen:
                seen.add(called)
                yield from _ingredients(called, seen)
        elif isinstance(value, int | float | str | tuple | type | np.generic):
            yield f"{name} = {getattr(value, '_fields', value)!r}".encode()


def _named_values(function: Any) -> Iterator[tuple[str, Any]]:
    """The globals that a function uses, and the attributes of modules among them."""
    names, package = sorted(_names(function.__code__)), function.__module__.split(".")[0]
    for name in names:
        value = function.__globals__.get(name)
        if isinstance(value, ModuleType) and value.__name__.startswith(f"{package}."):
            yield from ((f"{name}.{one}", vars(value).get(one)) for one in names)
        else:
            yield name, value


def _names(code: CodeType) -> set[str]:
    """The global names in a function's code and in the functions inside it."""
    inside = (value for value in code.co_consts if isinstance(value, CodeType))
    return set(code.co_names).union(*map(_names, inside))
