"""How kernels are compiled. Numba is imported when one is: to load it from disk, it is not needed."""

from collections.abc import Callable
from contextvars import ContextVar
from functools import cached_property, wraps
from importlib import import_module
from pathlib import Path
from typing import Any

from odfl_cli.core.files import atomic
from odfl_cli.core.machine_code import MachineCode
from odfl_cli.core.signatures import Signature
from odfl_cli.core.text import tell

VECTORISE = {"reassoc", "contract", "arcp", "nsz"}
"""Sums may be reordered to fill vector registers; infinities and NaN keep their meaning."""

COMMON = {"nogil": True, "error_model": "numpy"}
OPTIONS = {"fastmath": VECTORISE, **COMMON}
PLAIN = {"fastmath": False, **COMMON}
"""Said, because a function that says nothing takes the options of the one that calls it."""

COUNTS, NO_COUNTS = {"_nrt": True}, {"_nrt": False}
"""With and without reference counts, which cost more than a small sum; without, no allocation."""

directory: ContextVar[Path | None] = ContextVar("directory", default=None)
"""Where the kernels of the module that is imported have their machine code; None: nowhere."""


class Part:
    """A function that numba compiles into kernels, or an intrinsic that it expands there."""

    def __init__(self, made: Callable[[], Any]) -> None:
        self._made = made

    @cached_property
    def of_numba(self) -> Any:
        """What numba makes of the function."""
        return self._made()

    @cached_property
    def _numba_type_(self) -> Any:
        """Numba asks every object that it does not know for its type."""
        from numba.core.registry import cpu_target

        known, made = cpu_target.typing_context, self.of_numba
        for context in (known, cpu_target.target_context):
            context.refresh()  # with what was just made
        return known.resolve_value_type(made)

    def __call__(self, *arguments: Any) -> Any:
        """From Python, as in tests: numba compiles it for the arguments."""
        return self.of_numba(*arguments)


def part(**options: Any) -> Callable[[Callable[..., Any]], Part]:
    """Decorates functions that kernels call.

    Always inlined: otherwise a fresh kernel calls the function as it was compiled by itself and a
    kernel from the disk its own copy, and the two may differ in the last digit.
    """
    return lambda function: Part(lambda: _jit(function, forceinline=True, **options))


inner = part(**OPTIONS, **NO_COUNTS)

exact = part(**PLAIN, **NO_COUNTS)
"""The same without reordering of sums, for functions in which a tie must stay a tie."""

allocating = part(**OPTIONS, **COUNTS)
"""The same as `inner`, for functions that allocate arrays."""

exact_allocating = part(**PLAIN, **COUNTS)


def intrinsic(function: Callable[..., Any]) -> Part:
    """Decorates functions that write instructions of LLVM."""

    def made() -> Any:
        from numba import extending

        return extending.intrinsic(function)

    return Part(made)


def deferred(module: str, name: str) -> Part:
    """A part of a module that is imported when it is compiled, for it needs numba."""
    return Part(lambda: getattr(import_module(module), name))


def kernel(signature: Signature) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorates a function with its machine code, from the disk or compiled now."""

    def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
        code, place = function.__code__, directory.get()
        module, name = function.__module__.rsplit(".", 1)[-1], function.__name__
        path = place / f"{module}.{name}-{code.co_firstlineno}.o" if place else None
        if path and path.is_file():
            run = MachineCode.read(path).function(name)
        else:
            tell(f"compiling the {module} kernel, once for this machine: 5 to 30 seconds …")
            run = _compiled(function, signature, path)

        @wraps(function)
        def checked(*values: Any) -> Any:
            signature.check(name, values)
            return run(*values)

        return checked

    return compiled


def _compiled(function: Callable[..., Any], signature: Signature, path: Path | None) -> Any:
    """The function's machine code, which is written to `path` if there is one."""
    dispatcher = _jit(function, **OPTIONS)
    dispatcher.compile(signature.of_numba())
    (result,) = dispatcher.overloads.values()
    if path:
        if result.environment.consts:
            raise ValueError("it refers to Python objects, which no file holds")
        image = result.library.serialize_using_object_code()[2][0]
        names = result.fndesc.llvm_cpython_wrapper_name, result.fndesc.env_name
        with atomic(path, "wb") as file:
            file.write(MachineCode(*names, image).content())
    return result.entry_point


def _jit(function: Callable[..., Any], **options: Any) -> Any:
    import numba

    return numba.njit(**options)(function)
