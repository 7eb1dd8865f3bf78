"""Kernels are compiled once per machine, and a bad cache costs time but never a run."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support.commands import REPOSITORY, odfl, run_directories

from odfl_cli.core import kernel_cache
from odfl_cli.core.kernel_cache import cache_directory

RUN = ("run", "algo=spo", "horizon=smoke", "seeds=2", "force=true")
COMPILING = "compiling the spo kernel"
Process = subprocess.CompletedProcess[str]


def run(place: Path, cache: Path) -> tuple[Process, dict[str, bytes]]:
    """One run of SPO+ in `place`: how it ended, and its CSVs."""
    place.mkdir(exist_ok=True)
    done = odfl(*RUN, cwd=place, NUMBA_CACHE_DIR=str(cache))
    return done, csvs(place)


def csvs(place: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in place.rglob("seed-*.csv")}


def warnings(done: Process) -> list[str]:
    return [line for line in (done.stdout + done.stderr).splitlines() if "WARNING" in line]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Process, dict[str, bytes]]:
    """A cache that a first process filled, that process, and its CSVs."""
    root = tmp_path_factory.mktemp("compiled")
    return root / "cache", *run(root / "first", root / "cache")


def stamps(cache: Path) -> dict[Path, tuple[int, int]]:
    return {p: (p.stat().st_ino, p.stat().st_mtime_ns) for p in cache.rglob("*.nb?")}


def test_the_second_process_compiles_nothing(tmp_path, compiled) -> None:
    cache, first, expected = compiled
    assert first.returncode == 0, first.stderr
    assert first.stderr.splitlines() == [f"odfl: {COMPILING} …"]
    before = stamps(cache)
    assert len(before) >= 2
    second, files = run(tmp_path, cache)
    assert second.returncode == 0
    assert second.stderr == ""
    assert stamps(cache) == before
    assert files == expected


def damaged(compiled: tuple, place: Path, suffix: str, damage: Callable[[bytes], bytes]) -> Path:
    """A copy of the good cache in which every file of one kind is damaged."""
    cache = place / "cache"
    shutil.copytree(compiled[0], cache)
    for path in cache.rglob(f"*{suffix}"):
        path.write_bytes(damage(path.read_bytes()))
    return cache


DAMAGE = {
    "empty": lambda content: b"",
    "truncated": lambda content: content[: len(content) // 2],
    "zeros": lambda content: bytes(len(content)),
    "noise": lambda content: np.random.default_rng(0).bytes(len(content)),
}


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_cache_is_rebuilt(tmp_path, compiled, suffix, damage) -> None:
    cache = damaged(compiled, tmp_path, suffix, DAMAGE[damage])
    done, files = run(tmp_path / "a", cache)
    assert done.returncode == 0, done.stderr
    (warning,) = warnings(done)
    assert "broken" in warning
    assert COMPILING in done.stderr
    assert files == compiled[2]
    again, files = run(tmp_path / "b", cache)
    assert again.returncode == 0
    assert again.stderr == ""
    assert warnings(again) == []
    assert files == compiled[2]


def flip_machine_code(content: bytes) -> bytes:
    """Damage that no unpickling notices: 64 bytes after the object file's header."""
    start = content.index(b"\x7fELF") + 64
    return (
        content[:start]
        + bytes(b ^ 0xFF for b in content[start : start + 64])
        + content[start + 64 :]
    )


def test_damaged_machine_code_is_rebuilt(tmp_path, compiled) -> None:
    cache = damaged(compiled, tmp_path, ".nbc", flip_machine_code)
    done, files = run(tmp_path / "a", cache)
    assert done.returncode == 0, done.stderr
    assert files == compiled[2]


def test_two_processes_may_compile_at_once(tmp_path, compiled) -> None:
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-m", "odfl_cli.cli", *RUN]
    started = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        started.append(subprocess.Popen(command, cwd=tmp_path / name, env=environment))
    assert [process.wait(timeout=300) for process in started] == [0, 0]
    assert csvs(tmp_path / "a") == csvs(tmp_path / "b") == compiled[2]


def test_without_a_writable_place_it_compiles_and_says_so_once(tmp_path, compiled) -> None:
    (tmp_path / "file").write_text("no directory can be made below this")
    script = (
        "import sys; from pathlib import Path; from odfl_cli import kernel_cache;"
        f"kernel_cache._candidates = lambda: [Path({str(tmp_path / 'file')!r}) / x for x in 'ab'];"
        "from odfl_cli.cli import main;"
        f"sys.exit(main({list(RUN)}))"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    (warning,) = warnings(done)
    assert "no directory can be written" in warning
    assert COMPILING in done.stderr
    assert csvs(tmp_path) == compiled[2]


def test_a_disk_too_full_for_the_kernel_is_no_reason_to_fail(tmp_path, compiled) -> None:
    """A limit on the size of files stands for the full disk: CSVs fit, machine code does not."""
    script = (
        "import sys, resource; resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000));"
        f"from odfl_cli.cli import main; sys.exit(main({list(RUN)}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert len(warnings(done)) == 1
    assert csvs(tmp_path) == compiled[2]


def test_the_first_writable_candidate_is_taken(tmp_path, monkeypatch) -> None:
    (tmp_path / "file").touch()
    places = [tmp_path / "file" / "below", tmp_path / "good", tmp_path / "other"]
    monkeypatch.setattr(kernel_cache, "_candidates", lambda: places)
    assert cache_directory().parent == tmp_path / "good"
    assert not (tmp_path / "other").exists()
    monkeypatch.setattr(kernel_cache, "_candidates", lambda: places[:1])
    assert cache_directory() is None


def test_the_candidates_in_order(tmp_path, monkeypatch) -> None:
    """Numba's own setting, beside the sources, the user's cache."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "numba"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    chosen, beside, user = kernel_cache._candidates()
    assert (chosen, user) == (tmp_path / "numba", tmp_path / "xdg")
    assert beside.is_relative_to(Path(kernel_cache.__file__).parents[1])
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    assert kernel_cache._candidates() == [beside, user]


def test_the_fingerprint_follows_the_sources(tmp_path, monkeypatch) -> None:
    copy = tmp_path / "odfl_cli"
    shutil.copytree(Path(kernel_cache.__file__).parents[1], copy)
    monkeypatch.setattr(kernel_cache, "__file__", str(copy / "core" / "kernel_cache.py"))
    fingerprint = kernel_cache._fingerprint.__wrapped__
    assert fingerprint() == kernel_cache._fingerprint()
    kernels = ["df_ogd", "df_ftpl", "gradient", "references"]
    kernels += ["inner", "predictors", "polytopes", "smoothing"]
    sources = [copy / "engine" / "kernels" / f"{name}.py" for name in kernels]
    sources += [copy / "regularizers" / f"{name}.py" for name in ("newton", "barrier_rows")]
    for source in [*sources, copy / "compiling.py"]:
        before = fingerprint()
        source.write_text(source.read_text() + "\n")
        assert fingerprint() != before, source.name


def test_a_change_in_a_shared_inner_function_is_compiled(tmp_path) -> None:
    """Numba looks at the kernel's own file only, and this one keeps even its time stamp."""
    for folder in ("odfl_cli", "conf"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(REPOSITORY / folder, tmp_path / folder, ignore=ignored)
    before = squared_errors(tmp_path)
    inner = tmp_path / "odfl_cli" / "engine" / "kernels" / "inner.py"
    stat, text = inner.stat(), inner.read_text()
    assert text.count("return total / costs.shape[0]") == 1
    inner.write_text(text.replace("return total / costs", "return 3.0 * total / costs"))
    os.utime(inner, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    np.testing.assert_allclose(squared_errors(tmp_path), 3.0 * before, rtol=1e-12)


def squared_errors(place: Path) -> np.ndarray:
    """The mse column of a run that had to compile."""
    done, _ = run(place, place / "cache")
    assert done.returncode == 0, done.stderr
    assert COMPILING in done.stderr
    (directory,) = run_directories(place)
    return np.genfromtxt(directory / "seed-0.csv", delimiter=",", names=True)["mse"]


@pytest.mark.parametrize("algo", ["df_ogd", "df_ftpl"])
def test_a_kernel_from_the_disk_gives_the_digits_of_a_fresh_one(tmp_path, algo) -> None:
    written = []
    for name in ("fresh", "kept"):
        place = tmp_path / name
        place.mkdir()
        command = ("run", f"algo={algo}", "horizon=smoke", "seeds=3")
        done = odfl(*command, cwd=place, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
        assert ("compiling" in done.stderr) == (name == "fresh")
        written.append(csvs(place))
    assert len(written[0]) == 3
    assert written[0] == written[1]


def test_processes_that_start_together_compile_once(tmp_path) -> None:
    command = [sys.executable, "-m", "odfl_cli.cli", *RUN]
    started = []
    for number in range(3):
        place = tmp_path / str(number)
        place.mkdir()
        environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
        started.append(
            subprocess.Popen(command, cwd=place, env=environment, stderr=subprocess.PIPE, text=True)
        )
    told = [process.communicate(timeout=300)[1] for process in started]
    assert [process.returncode for process in started] == [0, 0, 0], told
    assert sum(COMPILING in text for text in told) == 1
    assert not [text for text in told if "WARNING" in text]
    written = [csvs(tmp_path / str(number)) for number in range(3)]
    assert written[0] == written[1] == written[2]
