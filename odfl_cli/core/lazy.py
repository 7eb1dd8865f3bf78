"""Packages whose names are imported on first use, so that one run loads only the parts it uses."""

import ast
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def exports(package: str, file: str) -> Callable[[str], Any]:
    """A package's `__getattr__`, from the imports in the stub `__init__.pyi` beside `file`.

    Type checkers read the same stub, so that every name is listed once.
    """
    imports = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8")).body
    modules = {
        alias.name: str(statement.module)
        for statement in imports
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }

    def get_attribute(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(modules[name]), name)

    return get_attribute
