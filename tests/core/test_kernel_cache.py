"""Kernels are compiled once per machine, and a bad cache costs time but never a run."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import numpy as np
import pytest
from support.attempts import csvs
from support.commands import Done, odfl_process
from support.processes import Start

from odfl_cli.core import kernel_cache, machine_code
from odfl_cli.core.kernel_cache import cache_directory, load_kernel
from odfl_cli.core.locks import locked
from odfl_cli.core.signatures import b1, f8, i8, record, u8, void
from odfl_cli.environments.replay.files import cache_directory as replay_cache

PACKAGE = Path(kernel_cache.__file__).parents[1]
SMALL = "support.small_kernel"
COMPILING = "compiling the small_kernel kernel"
COMPILED = ("uniform", "df_ogd", "df_ftpl", "spo")


def stamps(cache: Path) -> dict[Path, tuple[int, int]]:
    return {p: (p.stat().st_ino, p.stat().st_mtime_ns) for p in cache.rglob("*.o")}


def flip_machine_code(content: bytes) -> bytes:
    """Damage that no unpickling notices: 64 bytes after the object file's header."""
    start = content.index(b"\x7fELF") + 64
    flipped = bytes(b ^ 0xFF for b in content[start : start + 64])
    return content[:start] + flipped + content[start + 64 :]


def run(place: Path, cache: Path, algorithm: str, *more: str) -> Done:
    """A process that needs one of the package's own kernels."""
    place.mkdir(exist_ok=True)
    words = (f"algo={algorithm}", "horizon=smoke", "seeds=2")
    return odfl_process("run", *words, *more, cwd=place, NUMBA_CACHE_DIR=str(cache))


def beside_tuning(text: str) -> list[str]:
    """The lines but for those on tuned constants, which every run prints."""
    return [line for line in text.splitlines() if "is tuned for" not in line]


@pytest.mark.parametrize(
    ("algorithm", "engine"),
    [
        ("uniform", "torch"),
        *(pytest.param(name, "compiled", marks=pytest.mark.slow) for name in COMPILED),
    ],
)
def test_a_second_process_compiles_nothing_and_computes_the_same_digits(
    tmp_path, algorithm, engine
) -> None:
    """The kernel of the covariates; those of algorithms compile longer and are slow tests."""
    cache, first, second = (tmp_path / name for name in ("cache", "first", "second"))
    done = run(first, cache, algorithm, f"engine={engine}")
    assert done.returncode == 0, done.stderr
    lines = beside_tuning(done.stderr)
    assert lines
    assert all(line.startswith("odfl: compiling the ") for line in lines)
    before = stamps(cache)
    assert before  # covariates; so few numbers are drawn by numpy
    again = run(second, cache, algorithm, f"engine={engine}")
    assert again.returncode == 0
    assert beside_tuning(again.stderr) == []
    assert stamps(cache) == before
    assert csvs(first) == csvs(second)
    assert len(csvs(first)) == 2


def load(cache: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The small kernel as a new process would load it."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(cache))
    sys.modules.pop(SMALL, None)
    load_kernel.cache_clear()
    module = load_kernel(SMALL)
    assert module.twice(21.0) == 42.0
    return module


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with the small kernel in it."""
    cache = tmp_path_factory.mktemp("good")
    with pytest.MonkeyPatch.context() as monkeypatch:
        load(cache, monkeypatch)
    return cache


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


def in_cache(cache: Path) -> dict[str, str]:
    return os.environ | {
        "NUMBA_CACHE_DIR": str(cache),
        "PYTHONPATH": os.pathsep.join([str(PACKAGE.parent), str(Path(__file__).parents[1])]),
    }


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


def test_processes_that_start_together_compile_once(tmp_path, start: Start) -> None:
    command = (sys.executable, "-c", SCRIPT)
    environment = in_cache(tmp_path / "cache")
    started = [start(*command, cwd=tmp_path, env=environment) for _ in range(3)]
    for process in started:
        assert process.stdout.readline() == "ready\n"
    (tmp_path / "go").touch()
    told = [process.communicate(timeout=300) for process in started]
    assert [process.returncode for process in started] == [0, 0, 0], told
    assert [output for output, _ in told] == ["42.0\n"] * 3
    complaints = sorted(errors for _, errors in told)
    assert complaints[:2] == ["", ""]
    assert complaints[2].startswith(f"odfl: {COMPILING}")
    assert complaints[2].count("\n") == 1


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
        load_kernel.cache_clear()
        started = len(stamps(tmp_path / "cache"))
        assert load_kernel("copied_kernel").__file__ == str(source)
        told.append(len(stamps(tmp_path / "cache")) - started)
    assert told == [1, 0, 1, 0]
    assert capsys.readouterr().err.count("compiling the copied_kernel kernel") == 2
    assert caplog.records == []  # what others compiled is not taken for damage


LIGHTLY = """
import sys
from odfl_cli.core.kernel_cache import is_compiled, kernels, load_kernel
for name, module in kernels().items():
    if is_compiled(name):
        load_kernel(module)
assert "numba" not in sys.modules, "numba is imported"
"""


def test_compiled_kernels_load_without_numba() -> None:
    """All of this machine's: a symbol that is in no part of numba would make them compile again."""
    done = subprocess.run([sys.executable, "-c", LIGHTLY], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


AMONG_OTHERS = f"""
import sys
from odfl_cli.core.kernel_cache import load_kernel
light = load_kernel({SMALL!r})
assert "numba" not in sys.modules
import numba, numpy
from odfl_cli.core.compiling import inner, kernel
from odfl_cli.core.signatures import f8

@inner
def tripled(x):
    return 3.0 * x

@kernel(f8(f8[::1]))
def total(values):
    copy = numpy.empty(values.shape[0])
    for i in range(values.shape[0]):
        copy[i] = tripled(values[i])
    return copy.sum()

assert total(numpy.array([1.0, 2.0])) == 9.0
assert light.twice(21.0) == 42.0
assert numba.njit(lambda x: numpy.zeros(x).sum())(3) == 0.0
"""


def test_a_loaded_kernel_and_numba_live_in_one_process(good) -> None:
    """The parts of numba that loading uses are loaded again with the package."""
    done = subprocess.run(
        [sys.executable, "-c", AMONG_OTHERS], env=in_cache(good), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "compiling the __main__ kernel" in done.stderr


WITH_VECTOR_MATHEMATICS = """
import sys
from pathlib import Path
from odfl_cli.core.machine_code import MachineCode, VECTOR_MATHEMATICS
code = MachineCode.read(Path(sys.argv[1]))
for image in (code.image, code.image + VECTOR_MATHEMATICS + b"exp4"):
    assert code._replace(image=image).function("twice")(21.0) == 42.0
    print("numba" in sys.modules)
"""


def test_a_library_that_kernels_call_is_loaded_by_numba(good) -> None:
    (path,) = good.rglob("*.o")
    command = [sys.executable, "-c", WITH_VECTOR_MATHEMATICS, str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout.split() == ["False", "True"], done.stderr


def test_the_version_of_numba_is_known_without_its_own_file(tmp_path, monkeypatch) -> None:
    import numba

    version = machine_code._version.__wrapped__
    assert f'"{numba.__version__}"' in version()
    monkeypatch.setattr(machine_code, "_home", lambda: tmp_path)
    assert version() == numba.__version__


def test_machine_code_is_given_nothing_that_it_was_not_compiled_for(good, monkeypatch) -> None:
    """It would read whatever lies in memory."""
    signature = i8(i8, f8, b1, f8[:, ::1], record(Pair, f8[::1], u8))
    matrix, vector = np.zeros((2, 3)), np.zeros(3)
    fitting = (1, 2.0, True, matrix, Pair(vector, 3))
    signature.check("play", fitting)
    signature.check("play", (np.int64(1), 2, np.True_, matrix, Pair(vector, np.uint64(3))))
    frozen = np.zeros(3)
    frozen.flags.writeable = False
    for place, wrong in (
        (0, 1.0),
        (3, vector),
        (3, matrix.T),
        (3, matrix.astype(np.float32)),
        (3, matrix.tolist()),
        (4, (vector, 3)),
        (4, Pair(np.zeros(6)[::2], 3)),
        (4, Pair(frozen, 3)),
    ):
        with pytest.raises(TypeError, match=f"play: argument {place} "):
            signature.check("play", (*fitting[:place], wrong, *fitting[place + 1 :]))
    with pytest.raises(TypeError, match="twice takes 1 arguments, not 2"):
        load(good, monkeypatch).twice(1.0, 2.0)


def test_signatures_mean_what_numba_means_by_them() -> None:
    import numba
    from numba import types

    vector, cube = numba.f8[::1], numba.f8[:, :, ::1]
    assert f8[::1].of_numba() == vector
    assert f8[:, :, ::1].of_numba() == cube
    named = types.NamedTuple([vector, numba.u8], Pair)
    assert record(Pair, f8[::1], u8).of_numba() == named
    assert record(tuple, f8, f8).of_numba() == types.UniTuple(numba.f8, 2)
    signature = i8(b1, f8[:, :, ::1], record(Pair, f8[::1], u8))
    assert signature.of_numba() == numba.i8(numba.b1, cube, named)
    assert void(i8).of_numba() == numba.void(numba.i8)


class Pair(NamedTuple):
    """Two fields of a signature."""

    values: np.ndarray
    count: int


def test_kernels_can_be_compiled_ahead(tmp_path) -> None:
    for told in ("1 compiled, 0 were already", "0 compiled, 1 were already"):
        cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
        done = odfl_process("warm", "sin4_kernel", cwd=tmp_path, **cache)
        assert done.returncode == 0, done.stderr
        assert done.stdout == told + "\n"
    refused = odfl_process("warm", "df_odg", cwd=tmp_path)
    assert refused.returncode == 2
    assert "did you mean df_ogd?" in refused.stderr


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


def imports_compiling(source: Path) -> bool:
    """Whether a module makes kernels or functions that kernels call."""
    imported = [n for n in ast.walk(ast.parse(source.read_text())) if isinstance(n, ast.ImportFrom)]
    return any(
        node.module == "odfl_cli.core.compiling"
        or (node.module == "odfl_cli.core" and "compiling" in {a.name for a in node.names})
        for node in imported
    )


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
