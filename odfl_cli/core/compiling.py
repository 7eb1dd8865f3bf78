"""How kernels are compiled."""

from collections.abc import Callable
from typing import Any

import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.runtime import rtsys

from odfl_cli.core.text import tell

LIGHT = "0.68."
"""The version of numba whose kernels are known to load lightly; a test loads every one of them."""

VECTORISE = {"reassoc", "contract", "arcp", "nsz"}
"""Sums may be reordered to fill vector registers; infinities and NaN keep their meaning."""

COMMON = {"nogil": True, "error_model": "numpy"}
OPTIONS = {"fastmath": VECTORISE, **COMMON}
PLAIN = {"fastmath": False, **COMMON}
"""Said, because a function that says nothing takes the options of the one that calls it."""

COUNTS, NO_COUNTS = {"_nrt": True}, {"_nrt": False}
"""With and without reference counts, which cost more than a small sum; without, no allocation."""

inner: Callable[..., Any] = numba.njit(forceinline=True, **OPTIONS, **NO_COUNTS)
"""For functions that kernels call.

Always inlined: otherwise a fresh kernel calls the function as it was compiled by itself and a kernel
from the disk its own copy, and the two may differ in the last digit.
"""

exact: Callable[..., Any] = numba.njit(forceinline=True, **PLAIN, **NO_COUNTS)
"""The same without reordering of sums, for functions in which a tie must stay a tie."""

allocating: Callable[..., Any] = numba.njit(forceinline=True, **OPTIONS, **COUNTS)
"""The same as `inner`, for functions that allocate arrays."""

exact_allocating: Callable[..., Any] = numba.njit(forceinline=True, **PLAIN, **COUNTS)


def kernel(signature: Any) -> Callable[..., Any]:
    """Compiles for the signature immediately; cached on disk where numba has a cache directory."""

    def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
        dispatcher = numba.njit(**OPTIONS)(function)
        if numba.config.CACHE_DIR:
            dispatcher._cache = _KernelCache(function)
        else:
            _announce(function)
        dispatcher.compile(signature)
        dispatcher.disable_compile()
        return dispatcher

    return compiled


def _announce(function: Callable[..., Any]) -> None:
    name = function.__module__.rsplit(".", 1)[-1]
    tell(f"compiling the {name} kernel, once for this machine: 5 to 30 seconds …")


class _KernelCache(FunctionCache):
    """Loads a kernel without what only compiling needs, which takes longer than all else.

    A directory's name follows the content of all sources, so that numba's own stamp and a name that
    follows the path of the source would only compile again what was copied or checked out.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        name = self._impl.filename_base
        self._cache_file = IndexDataCacheFile(numba.config.CACHE_DIR, name, source_stamp="")

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The kernel as it is on disk, or None; compiling then prepares numba itself."""
        if numba.__version__.startswith(LIGHT):
            rtsys.initialize(target_context)  # allocation, all that a kernel calls from outside
            found = self._load_overload(sig, target_context)
        else:
            found = super().load_overload(sig, target_context)
        if found is None:
            _announce(self._py_func)
        return found
