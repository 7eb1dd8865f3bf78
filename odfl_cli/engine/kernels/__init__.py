"""One module per family of algorithms: their updates for one seed and a block of rounds, compiled.

A module offers `prepare(algorithm, state, rounds, draws, trace) -> (state, play)`: the state after
the block and the function that fills it and the trace for seed number s, or in a module with `LANES`
for group number s of so many seeds. Import such a module only through `odfl_cli.core.kernel_cache`,
which decides where its machine code is stored. What they share (`inner`, `predictors`, `polytopes`,
`smoothing`) branches on the integers of engine/parts.py: kernels take numbers, not functions.
"""
