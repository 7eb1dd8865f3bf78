"""Online decision-focused learning: run experiments, write CSVs, draw regret and MSE curves."""

from importlib import import_module
from typing import Any

__version__ = "0.2.0"

__all__ = ["run"]


def __getattr__(name: str) -> Any:
    """`run` and all that it imports come when they are asked for: `odfl --help` has no need."""
    if name == "run":
        return import_module("odfl_cli.runs.library").run
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
