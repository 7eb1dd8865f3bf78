"""numpy's generator, compiled: the numbers of `default_rng([seed, name, block])` to the last bit.

numpy calls its bit generator through a pointer for every number; inlined, a normal takes a third of
the time. SeedSequence and PCG64 as O'Neill, *PCG: A Family of Simple Fast Space-Efficient Statistically
Good Algorithms for Random Number Generation*, 2014; the ziggurat of Marsaglia & Tsang, *The Ziggurat
Method for Generating Random Variables*, Journal of Statistical Software 5(8), 2000.
"""

import numpy as np

from odfl_cli.core.compiling import exact, exact_allocating, intrinsic, kernel
from odfl_cli.core.machine_code import part_of_numba
from odfl_cli.core.signatures import f8, i8, u8, void

UNIFORM, NORMAL, EXPONENTIAL = range(3)

WORD = np.uint64(0xFFFFFFFF)
MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645
MANTISSA = np.uint64(0x000FFFFFFFFFFFFF)
tables = part_of_numba("np.random._constants")
NORMAL_X, NORMAL_K, NORMAL_F = tables.wi_double, tables.ki_double, tables.fi_double
EXPONENTIAL_X, EXPONENTIAL_K = tables.we_double, tables.ke_double
EXPONENTIAL_F = tables.fe_double
NORMAL_TAIL, INVERSE_TAIL = tables.ziggurat_nor_r, tables.ziggurat_nor_inv_r
EXPONENTIAL_TAIL = tables.ziggurat_exp_r


@intrinsic
def advanced(typing_context, high, low, increment_high, increment_low):
    """state · MULTIPLIER + increment modulo 2^128, as (high, low)."""
    from llvmlite import ir  # type: ignore[import-untyped]
    from numba import types

    signature = types.UniTuple(types.uint64, 2)(*[types.uint64] * 4)

    def generate(context, builder, signature, words):
        wide, half = ir.IntType(128), ir.Constant(ir.IntType(128), 64)
        whole = [builder.zext(word, wide) for word in words]
        state, increment = (builder.or_(builder.shl(whole[i], half), whole[i + 1]) for i in (0, 2))
        state = builder.add(builder.mul(state, ir.Constant(wide, MULTIPLIER)), increment)
        parts = [builder.trunc(x, words[0].type) for x in (builder.lshr(state, half), state)]
        return context.make_tuple(builder, signature.return_type, parts)

    return signature, generate


@exact
def mixed(value, factor):
    """One step of SeedSequence's hash on 32-bit words; returns the word and the next factor."""
    following = (factor[0] * factor[1]) & WORD
    value = ((value ^ factor[0]) * following) & WORD
    return value ^ (value >> np.uint64(16)), (following, factor[1])


@exact_allocating
def seeded(seed, name, block):
    """PCG64's (high, low) state and increment for the entropy [seed, name, block]."""
    pool = np.zeros(4, np.uint64)
    pool[0], pool[1], pool[2] = seed, name, block
    factor = (np.uint64(0x43B0D7E5), np.uint64(0x931E8875))
    for i in range(4):
        pool[i], factor = mixed(pool[i], factor)
    for source in range(4):
        for target in range(4):
            if source != target:
                word, factor = mixed(pool[source], factor)
                word = np.uint64(0xCA01F9DD) * pool[target] - np.uint64(0x4973F715) * word
                pool[target] = (word & WORD) ^ ((word & WORD) >> np.uint64(16))
    words = np.zeros(4, np.uint64)
    factor = (np.uint64(0x8B51F9DD), np.uint64(0x58F38DED))
    for i in range(8):
        word, factor = mixed(pool[i % 4], factor)
        words[i // 2] |= word << np.uint64(32 * (i % 2))
    increment_high = (words[2] << np.uint64(1)) | (words[3] >> np.uint64(63))
    increment_low = (words[3] << np.uint64(1)) | np.uint64(1)
    low = increment_low + words[1]
    high = increment_high + words[0] + np.uint64(low < words[1])
    high, low = advanced(high, low, increment_high, increment_low)
    return high, low, increment_high, increment_low


@exact
def next_word(state):
    """64 random bits (XSL-RR), and the state after them."""
    high, low = advanced(*state)
    turn, folded = high >> np.uint64(58), high ^ low
    word = (folded >> turn) | (folded << ((np.uint64(64) - turn) & np.uint64(63)))
    return word, (high, low, state[2], state[3])


@exact
def uniform(state):
    """U[0, 1), and the state after it."""
    word, state = next_word(state)
    return np.float64(np.int64(word >> np.uint64(11))) * (1.0 / 9007199254740992.0), state


@exact
def with_sign(x, negative):
    """x ≥ 0 or, where `negative` is 1, −x: by its bits, because half of all branches would be foretold wrong."""
    return np.uint64(np.float64(x).view(np.uint64) | (negative << np.uint64(63))).view(np.float64)


@exact
def normal(state):
    """N(0, 1), and the state after it."""
    while True:
        word, state = next_word(state)
        layer, word = word & np.uint64(0xFF), word >> np.uint64(8)
        size = (word >> np.uint64(1)) & MANTISSA
        x = with_sign(np.float64(np.int64(size)) * NORMAL_X[layer], word & np.uint64(1))
        if size < NORMAL_K[layer]:
            return x, state
        if layer == 0:
            return normal_tail(size, state)
        u, state = uniform(state)
        above, below = NORMAL_F[layer - np.uint64(1)], NORMAL_F[layer]
        if (above - below) * u + below < np.exp(-0.5 * x * x):
            return x, state


@exact
def normal_tail(size, state):
    """A normal beyond the last layer, and the state after it."""
    while True:
        u, state = uniform(state)
        v, state = uniform(state)
        x, y = -INVERSE_TAIL * np.log1p(-u), -np.log1p(-v)
        if y + y > x * x:
            sign = -1.0 if (size >> np.uint64(8)) & np.uint64(1) else 1.0
            return sign * (NORMAL_TAIL + x), state


@exact
def exponential(state):
    """The standard exponential law, and the state after it."""
    while True:
        word, state = next_word(state)
        layer, size = (word >> np.uint64(3)) & np.uint64(0xFF), word >> np.uint64(11)
        x = np.float64(np.int64(size)) * EXPONENTIAL_X[layer]
        if size < EXPONENTIAL_K[layer]:
            return x, state
        u, state = uniform(state)
        if layer == 0:
            return EXPONENTIAL_TAIL - np.log1p(-u), state
        above, below = EXPONENTIAL_F[layer - np.uint64(1)], EXPONENTIAL_F[layer]
        if (above - below) * u + below < np.exp(-x):
            return x, state


@kernel(void(i8, u8, u8, i8, i8, f8[::1]))
def fill(kind, seed, name, length, start, out):
    """Numbers start, start + 1, … of a stream whose blocks hold `length` numbers each."""
    done = 0
    while done < out.shape[0]:
        block, skipped = divmod(start + done, length)
        state = seeded(seed, name, np.uint64(block))
        last = min(out.shape[0], done + length - skipped)
        for n in range(done - skipped, last):
            if kind == UNIFORM:
                x, state = uniform(state)
            elif kind == NORMAL:
                x, state = normal(state)
            else:
                x, state = exponential(state)
            if n >= done:
                out[n] = x
        done = last
