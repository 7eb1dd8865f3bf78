"""Kernels run from the disk without numba, and take what they were compiled for."""

import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest
from support.kernels import SMALL, in_cache, load

from odfl_cli.core import machine_code
from odfl_cli.core.signatures import b1, f8, i8, record, u8, void

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


@pytest.mark.thorough
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
