"""Real data inside installed packages: `data.file=package:NAME`, or package:MODULE.NAME for a user's module.

A module here reads the files of a package by path, without importing the package, and offers its
`SOURCES` by name. The features of a round are known before the decision.
"""

from importlib import import_module
from pkgutil import iter_modules

from odfl_cli.environments.streams.source import Source


def find_sources() -> dict[str, Source]:
    """The sources of all modules in this folder, by name."""
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    return {
        name: source
        for module in modules
        for name, source in getattr(module, "SOURCES", {}).items()
    }
