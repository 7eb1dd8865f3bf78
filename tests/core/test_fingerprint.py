"""What changes a kernel's machine code changes the name of its cache."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.kernels import PACKAGE

from odfl_cli.core import kernel_cache


def imports_compiling(source: Path) -> bool:
    """Whether a module makes kernels or functions that kernels call."""
    imported = [n for n in ast.walk(ast.parse(source.read_text())) if isinstance(n, ast.ImportFrom)]
    return any(
        node.module == "odfl_cli.core.compiling"
        or (node.module == "odfl_cli.core" and "compiling" in {a.name for a in node.names})
        for node in imported
    )


@pytest.mark.thorough
def test_the_fingerprint_follows_every_source_of_a_kernel(tmp_path, monkeypatch) -> None:
    copy = tmp_path / "odfl_cli"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(kernel_cache, "__file__", str(copy / "core" / "kernel_cache.py"))
    fingerprint = kernel_cache._fingerprint.__wrapped__
    assert fingerprint() == kernel_cache._fingerprint()
    sources = [path for path in copy.rglob("*.py") if imports_compiling(path)]
    rooms = {path.relative_to(copy).parts[0] for path in sources}
    assert rooms == {"core", "engine", "environments", "metrics", "problem"}
    for source in [*sources, *(copy / "core" / f"{name}.py" for name in kernel_cache.WAYS)]:
        before = fingerprint()
        source.write_text(source.read_text() + "\n")
        assert fingerprint() != before, source.name


DECORATORS = {"inner", "exact", "allocating", "exact_allocating", "intrinsic", "kernel"}


def imports(tree: ast.Module) -> dict[str, tuple[str, str]]:
    """Name → module and name there, of what is imported from this package."""
    return {
        alias.asname or alias.name: (str(node.module), alias.name)
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("odfl_cli.")
        for alias in node.names
    }


def home(module: str, name: str) -> Path:
    """The source that defines what a module may only pass on."""
    source = PACKAGE.parent.joinpath(*module.split(".")).with_suffix(".py")
    if not source.is_file():
        return source.with_suffix("") / f"{name}.py"  # a module of a package
    passed_on = imports(ast.parse(source.read_text())).get(name)
    return home(*passed_on) if passed_on else source


def compiled_names(tree: ast.Module) -> set[str]:
    """All names in functions that are compiled, or called by such."""
    compiled = [
        node
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        and {n.id for d in node.decorator_list for n in ast.walk(d) if isinstance(n, ast.Name)}
        & DECORATORS
    ]
    return {n.id for function in compiled for n in ast.walk(function) if isinstance(n, ast.Name)}


def test_constants_that_kernels_take_come_from_sources_the_fingerprint_follows() -> None:
    """Numba compiles their values: a kernel on disk would keep the old ones."""
    taken, ways = set(), [f"odfl_cli.core.{name}" for name in kernel_cache.WAYS]
    for source in filter(imports_compiling, PACKAGE.rglob("*.py")):
        tree = ast.parse(source.read_text())
        found = {name: place for name, place in imports(tree).items() if place[0] not in ways}
        taken |= {home(*found[name]) for name in compiled_names(tree) & found.keys()}
    assert PACKAGE / "engine" / "parts.py" in taken
    assert [path for path in taken if "odfl_cli.core.compiling" not in path.read_text()] == []


INNER = """
from odfl_cli.core.compiling import inner

@inner
def scaled(x):
    return 2.0 * x
"""
OUTER = """
from odfl_cli.core.compiling import kernel
from odfl_cli.core.signatures import f8
from odfl_cli.scaled import scaled

@kernel(f8(f8))
def play(x):
    return scaled(x)
"""


@pytest.mark.thorough
def test_a_change_in_a_shared_inner_function_is_compiled(tmp_path) -> None:
    """Numba looks at the kernel's own file only, and this one keeps even its time stamp."""
    package = tmp_path / "odfl_cli"
    shutil.copytree(PACKAGE / "core", package / "core")
    (package / "__init__.py").write_text("")
    (package / "outer.py").write_text(OUTER)
    inner = package / "scaled.py"
    inner.write_text(INNER)
    stat = inner.stat()
    assert played(tmp_path) == 42.0
    inner.write_text(INNER.replace("2.0", "3.0"))
    os.utime(inner, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert played(tmp_path) == 63.0


def played(place: Path) -> float:
    """What a process computes that had to compile."""
    script = (
        "from odfl_cli.core.kernel_cache import *; print(load_kernel('odfl_cli.outer').play(21.0))"
    )
    environment = os.environ | {"PYTHONPATH": str(place), "NUMBA_CACHE_DIR": str(place / "cache")}
    command = [sys.executable, "-B", "-c", script]
    done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True)
    assert "compiling the outer kernel" in done.stderr
    return float(done.stdout)
