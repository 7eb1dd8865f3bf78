"""Kernels are compiled once per machine, and a bad cache costs time but never a run."""

import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import numpy as np
import pytest
from support.attempts import csvs
from support.commands import Done, odfl_process
from support.kernels import PACKAGE, SMALL, in_cache, load
from support.processes import Start

from odfl_cli.core import kernel_cache
from odfl_cli.core.kernel_cache import cache_directory, load_kernel
from odfl_cli.core.locks import locked
from odfl_cli.environments.replay.files import cache_directory as replay_cache

COMPILING = "compiling the small_kernel kernel"
COMPILED = {"uniform": "thorough", "df_ogd": "slow", "df_ftpl": "slow", "spo": "slow"}


def stamps(cache: Path) -> dict[Path, tuple[int, int]]:
    return {p: (p.stat().st_ino, p.stat().st_mtime_ns) for p in cache.rglob("*.o")}


def flip_machine_code(content: bytes) -> bytes:
    """Damage that no unpickling notices: 64 bytes after the object file's header."""
    start = content.index(b"\x7fELF") + 64
    flipped = bytes(b ^ 0xFF for b in content[start : start + 64])
    return content[:start] + flipped + content[start + 64 :]


def run(place: Path, cache: Path, *words: str) -> Done:
    """A process that needs one of the package's own kernels."""
    place.mkdir(exist_ok=True)
    return odfl_process(*words, "horizon=smoke", "seeds=2", cwd=place, NUMBA_CACHE_DIR=str(cache))


def beside_tuning(text: str) -> list[str]:
    """The lines but for those on tuned constants, which every run prints."""
    return [line for line in text.splitlines() if "is tuned for" not in line]


@pytest.mark.parametrize(
    ("words", "files"),
    [
        pytest.param(("data", "export", "-o", "out/seed-all.csv"), 1, id="covariates"),
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
def test_a_second_process_compiles_nothing_and_computes_the_same_digits(
    tmp_path, words, files
) -> None:
    """The kernel of the covariates; those of algorithms compile longer."""
    cache, first, second = (tmp_path / name for name in ("cache", "first", "second"))
    done = run(first, cache, *words)
    assert done.returncode == 0, done.stderr
    lines = beside_tuning(done.stderr)
    assert lines
    assert all(line.startswith("odfl: compiling the ") for line in lines)
    before = stamps(cache)
    assert before  # covariates; so few numbers are drawn by numpy
    again = run(second, cache, *words)
    assert again.returncode == 0
    assert beside_tuning(again.stderr) == []
    assert stamps(cache) == before
    assert csvs(first) == csvs(second)
    assert len(csvs(first)) == files


DAMAGE = {
    "empty": lambda content: b"",
    "truncated": lambda content: content[: len(content) // 2],
    "zeros": lambda content: bytes(len(content)),
    "noise": lambda content: np.random.default_rng(0).bytes(len(content)),
    "flipped": flip_machine_code,
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_cache_is_rebuilt(tmp_path, good, damage, monkeypatch, caplog, capsys) -> None:
    cache = tmp_path / "cache"
    shutil.copytree(good, cache)
    (path,) = cache.rglob("*.o")
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    load(cache, monkeypatch)
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert "broken" in record.getMessage()
    assert COMPILING in capsys.readouterr().err
    caplog.clear()
    load(cache, monkeypatch)
    assert caplog.records == []
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("content", [b"", b'{"small', b"\xff\xfe", b"[]"])
def test_a_kernel_whose_checksums_are_damaged_is_rebuilt_once(
    tmp_path, good, content, monkeypatch, caplog, capsys
) -> None:
    cache = tmp_path / "cache"
    shutil.copytree(good, cache)
    (seal,) = cache.rglob("*.json")
    seal.write_bytes(content)
    load(cache, monkeypatch)
    assert "broken" in caplog.text
    assert COMPILING in capsys.readouterr().err
    caplog.clear()
    for _ in range(2):  # the same file twice in one process, too
        load(cache, monkeypatch)
    assert caplog.records == []
    assert capsys.readouterr().err == ""


def test_without_a_writable_place_it_compiles_and_says_so_once(
    tmp_path, monkeypatch, caplog, capsys
) -> None:
    (tmp_path / "file").write_text("no directory can be made below this")
    places = [tmp_path / "file" / name for name in "ab"]
    monkeypatch.setattr(kernel_cache, "_candidates", lambda: places)
    module = load(tmp_path, monkeypatch)
    assert load_kernel(SMALL) is module
    (record,) = caplog.records
    assert "no directory of this user" in record.getMessage()
    assert COMPILING in capsys.readouterr().err


SCRIPT = f"""
import sys, time
from pathlib import Path
from odfl_cli.core.kernel_cache import load_kernel
import numba
print("ready", flush=True)
while not Path("go").exists():
    time.sleep(0.001)
print(load_kernel({SMALL!r}).twice(21.0))
"""


def test_a_disk_too_full_for_the_kernel_is_no_reason_to_fail(tmp_path) -> None:
    """A limit on the size of files stands for the full disk: no machine code fits."""
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
    (tmp_path / "go").touch()
    done = subprocess.run(
        [sys.executable, "-c", limit + SCRIPT],
        cwd=tmp_path,
        env=in_cache(tmp_path / "cache"),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-1] == "42.0"
    assert done.stderr.count("compiled kernels cannot be kept") == 1


@pytest.mark.thorough
def test_processes_that_start_together_compile_once(tmp_path, start: Start) -> None:
    command = (sys.executable, "-c", SCRIPT)
    environment = in_cache(tmp_path / "cache")
    started = [start(*command, cwd=tmp_path, env=environment) for _ in range(2)]
    for process in started:
        assert process.stdout.readline() == "ready\n"
    (tmp_path / "go").touch()
    told = [process.communicate(timeout=300) for process in started]
    assert [process.returncode for process in started] == [0, 0], told
    assert [output for output, _ in told] == ["42.0\n"] * 2
    silent, compiler = sorted(errors for _, errors in told)
    assert silent == ""
    assert compiler.startswith(f"odfl: {COMPILING}")
    assert compiler.count("\n") == 1


def test_threads_that_need_a_kernel_at_once_load_it_once(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    begun, imported = Barrier(2), []

    def imports(name: str, _: Path | None) -> str:
        imported.append(name)
        time.sleep(0.05)  # in which the other thread would begin the same
        return name

    def load_in_thread(_: int) -> object:
        begun.wait(timeout=60)
        return load_kernel("any_kernel")

    monkeypatch.setattr(kernel_cache, "_import", imports)
    with ThreadPoolExecutor(2) as threads:
        assert [*threads.map(load_in_thread, range(2))] == ["any_kernel"] * 2
    assert imported == ["any_kernel"]


def test_a_kernel_does_not_wait_for_another_that_is_compiled(tmp_path, good, monkeypatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    other = cache_directory() / "other_kernel"
    other.mkdir()
    with locked(other):
        load(tmp_path, monkeypatch)


def test_a_copied_source_is_not_compiled_again_and_a_changed_one_once(
    tmp_path, monkeypatch, caplog, capsys
) -> None:
    """A copy or a fresh checkout has other time stamps and another path, but the same content."""
    text = (Path(__file__).parents[1] / "support" / "small_kernel.py").read_text()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    told = []
    for folder, content in (("a", text), ("b", text), ("c", "\n" + text), ("c", "\n" + text)):
        source = tmp_path / folder / "copied_kernel.py"
        source.parent.mkdir(exist_ok=True)
        source.write_text(content)
        monkeypatch.syspath_prepend(source.parent)
        sys.modules.pop("copied_kernel", None)
        kernel_cache._modules.clear()
        started = len(stamps(tmp_path / "cache"))
        assert load_kernel("copied_kernel").__file__ == str(source)
        told.append(len(stamps(tmp_path / "cache")) - started)
    assert told == [1, 0, 1, 0]
    assert capsys.readouterr().err.count("compiling the copied_kernel kernel") == 2
    assert caplog.records == []  # what others compiled is not taken for damage


def test_the_first_writable_candidate_is_taken(tmp_path, monkeypatch) -> None:
    (tmp_path / "file").touch()
    places = [tmp_path / "file" / "below", tmp_path / "good", tmp_path / "other"]
    monkeypatch.setattr(kernel_cache, "_candidates", lambda: places)
    assert cache_directory().parent == tmp_path / "good"
    assert not (tmp_path / "other").exists()
    monkeypatch.setattr(kernel_cache, "_candidates", lambda: places[:1])
    assert cache_directory() is None


def test_a_cache_that_others_could_write_is_not_used(tmp_path, monkeypatch, caplog, capsys) -> None:
    """Whoever can write there can plant machine code together with its checksum."""
    place = tmp_path / "shared"
    monkeypatch.setattr(kernel_cache, "_candidates", lambda: [place])
    load(tmp_path, monkeypatch)
    directory = cache_directory()
    before = stamps(directory)
    assert before
    capsys.readouterr()
    directory.chmod(0o770)
    load(tmp_path, monkeypatch)
    assert "no directory of this user" in caplog.text
    assert COMPILING in capsys.readouterr().err
    assert stamps(directory) == before
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    directory.chmod(0o700)
    assert cache_directory() is None


def test_each_kind_of_cpu_has_its_own_cache(monkeypatch) -> None:
    fingerprint = kernel_cache._fingerprint.__wrapped__
    before = fingerprint()
    monkeypatch.setenv("NUMBA_CPU_NAME", "generic")
    assert fingerprint() != before


def test_without_a_home_no_folder_is_made_here(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("XDG_CACHE_HOME", "NUMBA_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # no HOME, no such user
    (beside,) = kernel_cache._candidates()
    assert beside.is_relative_to(PACKAGE)
    assert Path(replay_cache("recordings")).is_absolute()
    assert list(tmp_path.iterdir()) == []


def test_the_candidates_in_order(tmp_path, monkeypatch) -> None:
    """Numba's own setting, beside the sources, the user's cache."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "numba"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    chosen, beside, user = kernel_cache._candidates()
    assert (chosen, user) == (tmp_path / "numba", tmp_path / "xdg")
    assert beside.is_relative_to(PACKAGE)
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    assert kernel_cache._candidates() == [beside, user]
