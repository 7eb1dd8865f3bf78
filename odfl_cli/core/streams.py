"""Named randomness: every draw is a function of (seed, name, round) and of nothing else."""

import hashlib
import math
import sys
from functools import cache
from typing import Literal, NamedTuple

import numpy as np

from odfl_cli.core.cores import on_threads
from odfl_cli.core.kernel_cache import load_kernel

Kind = Literal["uniform", "normal", "exponential", "constant"]

KINDS = {"uniform": "random", "normal": "standard_normal", "exponential": "standard_exponential"}
"""Those that are random, in the order of core/random_numbers.py, and numpy's names for them."""

GENERATOR = "odfl_cli.core.random_numbers"
MANY = 2**16
"""Numbers for which it pays to load the compiled generator, or to wake threads."""

BLOCK_BUDGET = 2**14
SHORTEST_BLOCK, LONGEST_BLOCK = 16, 256


class Draw(NamedTuple):
    """What one round asks of a stream: a standard distribution and a shape."""

    kind: Kind
    shape: tuple[int, ...] = ()
    value: float = 0.0  # of a constant
    stream: str | None = None  # the stream's name where it is not the draw's


def draw_all(
    seeds: tuple[int, ...], specs: dict[str, Draw], start: int, stop: int
) -> dict[str, np.ndarray]:
    """The draws of rounds start ≤ t < stop by their names, [S, stop − start, *shape] each."""
    return {
        name: draw(seeds, spec.stream or name, spec, start, stop) for name, spec in specs.items()
    }


def draw(
    seeds: tuple[int, ...],
    name: str,
    spec: Draw,
    start: int = 0,
    stop: int = 1,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Draws of rounds start ≤ t < stop for every seed, [S, stop − start, *shape], into `out` if given.

    Many are drawn by a compiled generator, seeds in parallel, and once it is loaded a few, too; before
    that these are drawn by numpy, the same numbers.
    """
    if out is None:
        out = np.empty((len(seeds), stop - start, *spec.shape))
    if spec.kind == "constant":
        out.fill(spec.value)
    elif out.size >= MANY or GENERATOR in sys.modules:
        _draw_compiled(seeds, name, spec, start, out)
    else:
        for row, seed in enumerate(seeds):
            draw_by_numpy(seed, name, spec, start, out[row])
    return out


def _draw_compiled(
    seeds: tuple[int, ...], name: str, spec: Draw, start: int, out: np.ndarray
) -> None:
    """Draws from round `start` on into out [S, B, *shape], to the last bit as numpy's."""
    fill = load_kernel(GENERATOR).fill
    kind, hashed, width = list(KINDS).index(spec.kind), stable_hash(name), math.prod(spec.shape)
    length, rows = width * block_length(spec.shape), out.reshape(len(seeds), -1)

    def fill_row(row: int) -> None:
        fill(kind, seeds[row], hashed, length, width * start, rows[row])

    on_threads(fill_row, len(seeds), 1 if out.size < MANY else None)


def draw_by_numpy(seed: int, name: str, spec: Draw, start: int, out: np.ndarray) -> None:
    """Draws of one seed from round `start` on into out [B, *shape]."""
    length, stop = block_length(spec.shape), start + len(out)
    values = np.empty((length, *spec.shape))
    for block in range(start // length, -(-stop // length)):
        # Three words below 2^32 each: shorter and longer lists could name the same stream.
        rng = np.random.default_rng([seed, stable_hash(name), block])
        getattr(rng, KINDS[spec.kind])(out=values)
        first, last = max(start, block * length), min(stop, (block + 1) * length)
        out[first - start : last - start] = values[first - block * length : last - block * length]


@cache
def block_length(shape: tuple[int, ...]) -> int:
    """Rounds drawn by one generator. It defines the numbers, so it depends on the shape alone."""
    fitting = BLOCK_BUDGET // max(1, math.prod(shape))
    power_of_two = 1 << max(fitting, 1).bit_length() - 1
    return min(max(power_of_two, SHORTEST_BLOCK), LONGEST_BLOCK)


@cache
def stable_hash(name: str) -> int:
    """A 32-bit hash that is the same in every process (Python's own is salted)."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "little")
