"""Named randomness: every draw is a function of (seed, name, round) and of nothing else."""

import hashlib
from typing import Literal, NamedTuple

import numpy as np

Kind = Literal["uniform", "normal", "exponential", "constant"]

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
    seeds: tuple[int, ...], name: str, spec: Draw, start: int = 0, stop: int = 1
) -> np.ndarray:
    """Draws of rounds start ≤ t < stop for every seed, [S, stop − start, *shape]."""
    out = np.empty((len(seeds), stop - start, *spec.shape))
    length = block_length(spec.shape)
    for block in range(start // length, -(-stop // length)):
        first, last = max(start, block * length), min(stop, (block + 1) * length)
        for row, seed in enumerate(seeds):
            place = out[row, first - start : last - start]
            whole = last - first == length
            values = place if whole else np.empty((length, *spec.shape))
            _fill(_generator(seed, name, block), spec, values)
            if not whole:
                place[:] = values[first - block * length : last - block * length]
    return out


def block_length(shape: tuple[int, ...]) -> int:
    """Rounds drawn by one generator. It defines the numbers, so it depends on the shape alone."""
    fitting = BLOCK_BUDGET // max(1, int(np.prod(shape)))
    power_of_two = 1 << max(fitting, 1).bit_length() - 1
    return min(max(power_of_two, SHORTEST_BLOCK), LONGEST_BLOCK)


def stable_hash(name: str) -> int:
    """A 32-bit hash that is the same in every process (Python's own is salted)."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "little")


def _generator(seed: int, name: str, block: int) -> np.random.Generator:
    # Three words below 2^32 each: shorter and longer lists could name the same stream.
    return np.random.default_rng([seed, stable_hash(name), block])


def _fill(rng: np.random.Generator, spec: Draw, out: np.ndarray) -> None:
    match spec.kind:
        case "uniform":
            rng.random(out=out)
        case "normal":
            rng.standard_normal(out=out)
        case "exponential":
            rng.standard_exponential(out=out)
        case "constant":
            out.fill(spec.value)
