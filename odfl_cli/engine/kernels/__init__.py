"""One module per algorithm: the update of odfl_cli.algorithms for one seed and a block of rounds.

A module offers `prepare(algorithm, state, rounds, draws, trace) -> (state, play)`: the state after
the block and the function that fills it and the trace for seed number s. Import such a module
through `odfl_cli.core.kernel_cache` only, which decides where its machine code is kept. What they share
(`inner`, `predictors`, `polytopes`, `smoothing`) branches on the small numbers of engine/parts.py:
numba's cache misses functions that take other functions as arguments.
"""
