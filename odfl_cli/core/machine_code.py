"""Machine code on disk as functions, without numba, whose import takes longer than a short run.

A kernel is an object file that numba made. What it calls is in this process already (Python, the C
library) or in extension modules of numba's, which are loaded without the package around them.
"""

import ctypes
import os
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from llvmlite import binding  # type: ignore[import-untyped]

TRIED = '"0.68.'
"""The version of numba whose parts are known to work alone; those of others follow the package."""

VECTOR_MATHEMATICS = b"__svml_"
"""How functions of Intel's library begin, which numba loads where there is one and kernels then call."""

_numbers = count()
"""A linker wants a new name for every library, even of a kernel that is loaded again."""


class MachineCode(NamedTuple):
    """An object file and the two symbols that are needed to call it from Python."""

    entry: str
    environment: str
    image: bytes

    @classmethod
    def read(cls, path: Path) -> "MachineCode":
        """From a file that `content` was written to."""
        entry, environment, image = path.read_bytes().split(b"\n", 2)
        return cls(entry.decode(), environment.decode(), image)

    def content(self) -> bytes:
        """The symbols, a line each, and the object file."""
        return b"\n".join((self.entry.encode(), self.environment.encode(), self.image))

    def function(self, name: str) -> Callable[..., Any]:
        """Takes and returns Python objects; the caller must see to their types."""
        if VECTOR_MATHEMATICS in self.image:
            import_module("numba")
        linked = binding.JITLibraryBuilder().add_current_process().add_object_img(self.image)
        for symbol in (self.entry, self.environment):
            linked.export_symbol(symbol)
        for symbol, address in _symbols().items():
            linked.import_symbol(symbol, address)
        library = linked.link(_linker(), f"{self.entry} {next(_numbers)}")
        functions = part_of_numba("_dynfunc")
        environment = functions.Environment({})
        place = ctypes.c_void_p.from_address(library[self.environment])
        place.value = id(environment)
        keep = (library, environment)
        return functions.make_function(functions, name, "", library[self.entry], environment, keep)


def target() -> str:
    """What machine code is made for, and by what: several may share a file system."""
    cpu = os.environ.get("NUMBA_CPU_NAME") or binding.get_host_cpu_name()
    features = os.environ.get("NUMBA_CPU_FEATURES") or binding.get_host_cpu_features().flatten()
    return f"{_version()} {sys.implementation.cache_tag} {cpu} {features}"


@cache
def part_of_numba(name: str) -> ModuleType:
    """A module of numba's that imports no other, without the package around it."""
    if TRIED not in _version():
        return import_module(f"numba.{name}")
    folder = _home().joinpath(*name.split(".")[:-1])
    spec = PathFinder.find_spec(f"numba.{name}", [str(folder)])
    if spec is None or spec.loader is None:
        raise ImportError(f"numba has no module {name}")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def _home() -> Path:
    """The directory of numba."""
    spec = find_spec("numba")
    if spec is None or spec.origin is None:
        raise ImportError("numba is not installed")
    return Path(spec.origin).parent


@cache
def _version() -> str:
    """Text with the version of numba; a file is read in a hundredth of the time of its metadata."""
    try:
        return (_home() / "_version.py").read_text(encoding="utf-8")
    except OSError:
        from importlib.metadata import version

        return version("numba")


@cache
def _linker() -> Any:
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding.create_lljit_compiler()


@cache
def _symbols() -> dict[str, int]:
    """Name → address of numba's functions that kernels call."""
    helpers = part_of_numba("_helperlib").c_helpers.items()
    runtime = part_of_numba("core.runtime._nrt_python").c_helpers.items()
    return {f"numba_{name}": address for name, address in helpers} | {
        name if name.startswith("_") else f"NRT_{name}": address for name, address in runtime
    }
