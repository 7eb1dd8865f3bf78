"""Caches of the small kernel."""

import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

from odfl_cli.core import kernel_cache
from odfl_cli.core.kernel_cache import load_kernel

PACKAGE = Path(kernel_cache.__file__).parents[1]
SMALL = "support.small_kernel"


def load(cache: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The small kernel as a new process would load it."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(cache))
    sys.modules.pop(SMALL, None)
    kernel_cache._modules.clear()
    module = load_kernel(SMALL)
    assert module.twice(21.0) == 42.0
    return module


def in_cache(cache: Path) -> dict[str, str]:
    return os.environ | {
        "NUMBA_CACHE_DIR": str(cache),
        "PYTHONPATH": os.pathsep.join([str(PACKAGE.parent), str(Path(__file__).parents[1])]),
    }
