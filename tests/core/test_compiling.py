"""Kernels are compiled once per machine, and a bad cache costs time but never a run."""

import os
import shutil
import subprocess
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from support.attempts import csvs
from support.commands import odfl_process
from support.samples import some_of

from odfl_cli.core import compiling
from odfl_cli.core.compiling import cache_directory

SUPPORT = Path(__file__).parents[1] / "support"
REPOSITORY = Path(__file__).parents[2]
SCRIPT = "from support.small_kernel import scale; print(scale(21.0))"
COMPILED = {"df_ogd": "thorough", "df_ftpl": "slow"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the small kernel and a cache that holds it."""
    place = tmp_path_factory.mktemp("small")
    (place / "support").mkdir()
    for name in ("small_kernel.py", "small_functions.py"):
        shutil.copy(SUPPORT / name, place / "support")
    assert run_kernel(place) == (42.0, True)
    return place


@pytest.fixture
def copied(place: Path) -> Path:
    """The place, to be restored after a test that changes it."""
    kept = place.parent / "kept"
    shutil.copytree(place, kept, symlinks=True)
    yield place
    shutil.rmtree(place)
    kept.rename(place)


def command(place: Path) -> dict[str, object]:
    paths = os.pathsep.join([str(place), str(REPOSITORY)])
    environment = os.environ | {"NUMBA_CACHE_DIR": str(place / "cache"), "PYTHONPATH": paths}
    return {"args": [sys.executable, "-B", "-c", SCRIPT], "env": environment, "text": True}


def run_kernel(place: Path, warning: str = "") -> tuple[float, bool]:
    """The kernel's result in a new process, and whether that process had to compile."""
    done = subprocess.run(**command(place), capture_output=True)
    assert done.returncode == 0, done.stderr
    assert warning in done.stderr
    return float(done.stdout), "compiling small_kernel.scale" in done.stderr


@pytest.mark.thorough
def test_a_second_process_compiles_nothing(place) -> None:
    assert run_kernel(place) == (42.0, False)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("old", "new", "expected"),
    some_of([("FACTOR = 2.0", "FACTOR = 3.0", 63.0), ("x + 0.0", "x + 1.0", 44.0)], 1),
)
def test_a_change_in_what_a_kernel_uses_is_compiled(copied, old, new, expected) -> None:
    """Numba looks at the kernel's own file only; the changed one keeps even its time stamp."""
    source = copied / "support" / "small_functions.py"
    stamp = source.stat()
    source.write_text(source.read_text().replace(old, new))
    os.utime(source, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert run_kernel(copied) == (expected, True)


DAMAGES = {
    "empty": lambda content: b"",
    "truncated": lambda content: content[: len(content) // 2],
    "zeros": lambda content: bytes(99),
}


@pytest.mark.thorough
@pytest.mark.parametrize(("suffix", "damage"), [*product(("nbi", "nbc"), DAMAGES)])
def test_a_damaged_cache_is_rebuilt(copied, suffix, damage) -> None:
    for path in (copied / "cache").rglob(f"*.{suffix}"):
        path.write_bytes(DAMAGES[damage](path.read_bytes()))
    assert run_kernel(copied, "the cache of compiled kernels fails")[0] == 42.0
    assert run_kernel(copied) == (42.0, True)
    assert run_kernel(copied) == (42.0, False)


def test_a_cache_that_others_could_write_is_not_used(tmp_path, monkeypatch, caplog) -> None:
    """A user who can write there can plant machine code."""
    monkeypatch.setattr(compiling, "user_cache", lambda: tmp_path / "user")
    monkeypatch.setattr(compiling, "__file__", str(tmp_path / "package" / "core" / "compiling.py"))
    find = cache_directory.__wrapped__
    chosen, beside, user = (
        tmp_path / "chosen",
        tmp_path / "package" / "__pycache__",
        tmp_path / "user",
    )
    for base in (chosen, beside, user):
        assert find(str(chosen)) == base / "odfl-kernels"
        assert (base / "odfl-kernels").stat().st_mode & 0o777 == 0o700
        (base / "odfl-kernels").chmod(0o770)
    assert caplog.records == []
    assert find(str(chosen)) is None
    assert "no private directory" in caplog.text


@pytest.mark.thorough
def test_a_disk_too_full_for_the_kernel_is_no_reason_to_fail(place, tmp_path) -> None:
    """A limit on the size of files stands for the full disk: no machine code fits."""
    started = command(place)
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
    started["args"][-1] = limit + SCRIPT
    started["env"] |= {"NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(**started, capture_output=True)
    assert done.stdout == "42.0\n", done.stderr
    assert "the cache of compiled kernels fails" in done.stderr


@pytest.mark.thorough
def test_processes_that_start_together_compute_the_same(copied) -> None:
    shutil.rmtree(copied / "cache")
    started = [subprocess.Popen(**command(copied), stdout=subprocess.PIPE) for _ in range(3)]
    assert [process.communicate()[0] for process in started] == ["42.0\n"] * 3
    assert run_kernel(copied) == (42.0, False)


def test_arguments_of_other_types_are_refused() -> None:
    """Machine code would read whatever lies in memory."""
    from support.small_kernel import total

    assert total(np.array([1.0, 2.0])) == 3.0
    frozen = np.zeros(3)
    frozen.flags.writeable = False
    for wrong in (1.0, np.zeros((2, 3)), np.zeros(6)[::2], np.zeros(3, np.float32), [1.0], frozen):
        with pytest.raises(TypeError):
            total(wrong)
    with pytest.raises(TypeError):
        total(np.zeros(3), np.zeros(3))


@pytest.mark.parametrize(
    ("words", "files"),
    [
        pytest.param(
            ("data", "export", "-o", "out/seed-all.csv"),
            1,
            id="covariates",
            marks=pytest.mark.thorough,
        ),
        *(
            pytest.param(
                ("run", f"algo={name}", "engine=compiled"),
                2,
                id=name,
                marks=getattr(pytest.mark, when),
            )
            for name, when in COMPILED.items()
        ),
    ],
)
def test_fresh_and_cached_kernels_compute_the_same_digits(tmp_path, words, files) -> None:
    for place, compiles in (("first", True), ("second", False)):
        (tmp_path / place).mkdir()
        cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
        done = odfl_process(*words, "horizon=smoke", "seeds=2", cwd=tmp_path / place, **cache)
        assert done.returncode == 0, done.stderr
        assert ("compiling" in done.stderr) == compiles
    assert csvs(tmp_path / "first") == csvs(tmp_path / "second")
    assert len(csvs(tmp_path / "first")) == files
