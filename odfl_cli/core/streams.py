"""Named randomness: every draw is a function of (seed, name, round) and of nothing else.

Round t of a stream is drawn by `np.random.default_rng([seed, stable_hash(name), block])`, in blocks of
a fixed number of rounds. Numpy promises the numbers of PCG64 for good, but not those of
`standard_normal` and the like: if a release changes them, results of earlier runs cannot be
repeated with it, and tests/core/test_streams.py fails.
"""

import hashlib
import math
from functools import cache
from typing import Literal, NamedTuple

import numpy as np

from odfl_cli.core.cores import on_threads

Kind = Literal["uniform", "normal", "exponential", "constant"]

METHODS = {"uniform": "random", "normal": "standard_normal", "exponential": "standard_exponential"}
"""Kind → the method of numpy's Generator."""

MANY = 2**16  # the count of numbers from which threads are worth their overhead

BLOCK_BUDGET = 2**14
SHORTEST_BLOCK, LONGEST_BLOCK = 16, 256


class Draw(NamedTuple):
    """The draws of one round: a standard distribution and a shape."""

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
    """Draws of rounds start ≤ t < stop for every seed, [S, stop − start, *shape], into `out` if given."""
    if out is None:
        out = np.empty((len(seeds), stop - start, *spec.shape))
    if spec.kind == "constant":
        out.fill(spec.value)
        return out

    def draw_row(row: int) -> None:
        _draw_seed(seeds[row], name, spec, start, out[row])

    on_threads(draw_row, len(seeds), 1 if out.size < MANY else None)
    return out


def _draw_seed(seed: int, name: str, spec: Draw, start: int, out: np.ndarray) -> None:
    """Fills out [B, *shape] with the draws of one seed from round `start` on."""
    length, stop = block_length(spec.shape), start + len(out)
    for block in range(start // length, -(-stop // length)):
        # Three words below 2^32 each: shorter and longer lists could name the same stream.
        rng = np.random.default_rng([seed, stable_hash(name), block])
        generate = getattr(rng, METHODS[spec.kind])
        first, last = max(start, block * length), min(stop, (block + 1) * length)
        skipped = first - block * length
        if skipped:
            generate((skipped, *spec.shape))
        generate(out=out[first - start : last - start])


@cache
def block_length(shape: tuple[int, ...]) -> int:
    """The number of rounds drawn by one generator: it defines the numbers, so it depends on the shape alone."""
    fitting = BLOCK_BUDGET // max(1, math.prod(shape))
    power_of_two = 1 << max(fitting, 1).bit_length() - 1
    return min(max(power_of_two, SHORTEST_BLOCK), LONGEST_BLOCK)


@cache
def stable_hash(name: str) -> int:
    """A 32-bit hash that is the same in every process (Python's own is salted)."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "little")
