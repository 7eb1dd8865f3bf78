"""Packages whose names are imported on first use, so that one run loads only the parts it uses."""

import ast
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any


@cache
def exports(package: str, file: str) -> Callable[[str], Any]:
    """A package's `__getattr__`, from the imports that `file` makes where TYPE_CHECKING.

    Type checkers read the same imports, so that every name is listed once.
    """
    modules = {
        alias.name: str(statement.module)
        for block in ast.parse(Path(file).read_text(encoding="utf-8")).body
        if isinstance(block, ast.If) and getattr(block.test, "id", "") == "TYPE_CHECKING"
        for statement in block.body
        if isinstance(statement, ast.ImportFrom) and str(statement.module).startswith("odfl_cli.")
        for alias in statement.names
    }

    def get_attribute(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(modules[name]), name)

    return get_attribute
