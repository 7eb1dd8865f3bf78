"""One round of DF-OGD: compiled, batched torch and plain autograd."""

from collections.abc import Iterator

from support.problems import block_of

from benchmarks.autograd_loop import df_ogd
from benchmarks.report import Row, Section
from benchmarks.timing import assert_same_costs, best_of, job_of, per_seed_round, repeat
from odfl_cli.engine.compiled_engine import CompiledEngine
from odfl_cli.engine.torch_engine import TorchEngine

SEEDS, ROUNDS = 10, 5000
TORCH_ROUNDS, AUTOGRAD_ROUNDS = 500, 200


def sections() -> Iterator[Section]:
    """The paper's two sizes."""
    yield section(5)
    yield section(80)


def section(items: int) -> Section:
    """Seconds per seed and round; torch and autograd play the first rounds of the same data."""
    size = ("algo=df_ogd", f"data.items={items}", "data.features=10", f"seeds={SEEDS}")
    compiled = job_of(*size, rounds=ROUNDS, engine=CompiledEngine())
    single = job_of(*size, rounds=ROUNDS, engine=CompiledEngine(threads=1))
    batched = job_of(*size, rounds=TORCH_ROUNDS, engine=TorchEngine())
    ours, alone, theirs = repeat(compiled, 5), repeat(single, 5), repeat(batched, 3)
    fast, one_thread = (
        per_seed_round(compiled, "learn", ours),
        per_seed_round(single, "learn", alone),
    )
    torch = per_seed_round(batched, "learn", theirs)

    data, draws = block_of(compiled, 0, AUTOGRAD_ROUNDS)
    game = compiled.algorithm, data.X[0], data.costs[0], draws["df_ogd/delta"][0]
    paid, errors = df_ogd(*game)
    autograd = best_of(3, lambda: df_ogd(*game)) / AUTOGRAD_ROUNDS
    for column, values in (("cost", paid), ("mse", errors)):
        costs = ours[0].table[column]
        assert_same_costs(costs[:, :TORCH_ROUNDS], theirs[0].table[column])
        assert_same_costs(costs[0, :AUTOGRAD_ROUNDS], values)

    return Section(
        f"DF-OGD, K={items} p=10 S={SEEDS} T={ROUNDS}, 10 oracle steps: per seed and round",
        [
            Row("compiled, while the next data are drawn", fast),
            Row("compiled, one thread", one_thread, one_thread / fast, "compiled"),
            Row("torch, seeds batched", torch, torch / fast, "compiled"),
            Row("plain autograd loop", autograd, autograd / fast, "compiled"),
            Row("plain autograd loop", None, autograd / one_thread, "compiled, one thread"),
        ],
    )
