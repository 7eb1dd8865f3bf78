"""Named randomness: every draw is a function of (seed, name, round) and of nothing else."""

import hashlib
from typing import Literal, NamedTuple

import numpy as np

Kind = Literal["uniform", "normal", "exponential"]

BLOCK_BUDGET = 2**16
SHORTEST_BLOCK, LONGEST_BLOCK = 16, 1024


class Draw(NamedTuple):
    """What one round asks of a stream: a standard distribution and a shape."""

    kind: Kind
    shape: tuple[int, ...] = ()


def draw(
    seeds: tuple[int, ...], name: str, spec: Draw, start: int = 0, stop: int = 1
) -> np.ndarray:
    """Draws of rounds start ≤ t < stop for every seed, [S, stop − start, *shape]."""
    out = np.empty((len(seeds), stop - start, *spec.shape))
    length = block_length(spec.shape)
    for block in range(start // length, -(-stop // length)):
        first, last = max(start, block * length), min(stop, (block + 1) * length)
        inside = slice(first - block * length, last - block * length)
        for row, seed in enumerate(seeds):
            values = _draw_block(seed, name, spec, block, length)
            out[row, first - start : last - start] = values[inside]
    return out


def block_length(shape: tuple[int, ...]) -> int:
    """Rounds drawn by one generator. It defines the numbers, so it depends on the shape alone."""
    fitting = BLOCK_BUDGET // max(1, int(np.prod(shape)))
    power_of_two = 1 << max(fitting, 1).bit_length() - 1
    return min(max(power_of_two, SHORTEST_BLOCK), LONGEST_BLOCK)


def stable_hash(name: str) -> int:
    """A 32-bit hash that is the same in every process (Python's own is salted)."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "little")


def _draw_block(seed: int, name: str, spec: Draw, block: int, length: int) -> np.ndarray:
    # Three words below 2^32 each: shorter and longer lists could name the same stream.
    rng = np.random.default_rng([seed, stable_hash(name), block])
    shape = (length, *spec.shape)
    match spec.kind:
        case "uniform":
            return rng.random(shape)
        case "normal":
            return rng.standard_normal(shape)
        case "exponential":
            return rng.standard_exponential(shape)
