"""The modules of the user's own code in a configuration, and their checksums."""

import ast
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from importlib.util import find_spec, resolve_name
from pathlib import Path
from typing import Any

from hydra.utils import instantiate

from odfl_cli.config.compose import allow_any_class
from odfl_cli.config.identity import CLASS_KEYS, FILE_KEYS, content, digest, file_checksum
from odfl_cli.core.errors import is_users_file


def sources(config: Any) -> dict[str, str]:
    """Module → checksum, for modules outside this package that a configuration names.

    Includes the user's own modules that these import, recursively, and the files of rounds that a
    function builds, by the name of the function.
    """
    found: dict[str, str] = {}
    for node in _mappings(config):
        for key in FILE_KEYS.intersection(node):
            if isinstance(node[key], dict) and "_target_" in node[key]:
                with allow_any_class():
                    built = content(instantiate(node[key]), key)
                found[str(node[key]["_target_"])] = digest(built)
        for key in CLASS_KEYS.intersection(node):
            module = str(node[key]).rpartition(".")[0]
            if module and module.split(".")[0] != "odfl_cli":
                _follow(module, found, named=True)
    return found


def _mappings(node: Any) -> Iterator[dict[str, Any]]:
    """Every mapping of the configuration."""
    if isinstance(node, dict):
        yield node
        node = list(node.values())
    for child in node if isinstance(node, list) else ():
        yield from _mappings(child)


def _follow(module: str, found: dict[str, str], named: bool = False) -> None:
    """Adds a module's file and those of the user's modules that it imports."""
    file = _file(module)
    if module in found or file is None or not (named or is_users_file(str(file))):
        return
    found[module] = file_checksum(file)
    status = file.stat()
    package = module if file.stem == "__init__" else module.rpartition(".")[0]
    for name in _imports(file, package, status.st_size, status.st_mtime_ns):
        _follow(name, found)


def _file(module: str) -> Path | None:
    try:
        spec = find_spec(module)
    except (ImportError, ValueError, AttributeError):
        return None
    file = Path(spec.origin) if spec and spec.origin else None
    return file if file and file.is_file() else None


@lru_cache
def _imports(file: Path, package: str, size: int, modified: int) -> tuple[str, ...]:
    """The modules that a file imports; some names may be functions in them."""
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError):  # not Python, or broken: importing it will say so
        return ()
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom) and (package or not node.level):
            with suppress(ImportError):  # more dots than packages
                base = resolve_name("." * node.level + (node.module or ""), package or None)
                names += [base, *(f"{base}.{alias.name}" for alias in node.names)]
    return tuple(dict.fromkeys(names))
