"""How kernels are compiled."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba

VECTORISE = {"reassoc", "contract", "arcp", "nsz"}
"""Sums may be reordered to fill vector registers; infinities and NaN keep their meaning."""

OPTIONS = {"fastmath": VECTORISE, "nogil": True, "error_model": "numpy"}

inner: Callable[..., Any] = numba.njit(**OPTIONS, forceinline=True)
"""For functions that kernels call. Inlined, because a process that has just compiled a kernel would
call their stand-alone versions and one that found it on disk the kernel's own: other last digits."""


def kernel(signature: str) -> Callable[..., Any]:
    """Compiles for the signature at once; kept on disk where numba has been given a place."""

    def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
        name = function.__module__.rsplit(".", 1)[-1]
        place = numba.config.CACHE_DIR
        if not place or not any(Path(place).rglob(f"{name}.*.nbi")):
            print(f"odfl: compiling the {name} kernel …", file=sys.stderr, flush=True)
        return numba.njit(signature, cache=bool(place), **OPTIONS)(function)

    return compiled
