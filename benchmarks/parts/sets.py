"""One round of DF-OGD with the log barrier: compiled, batched torch, and through cvxpylayers."""

from collections.abc import Iterator
from importlib.util import find_spec

import numpy as np
from support.problems import block_of

from benchmarks.autograd_loop import df_ogd
from benchmarks.report import Row, Section
from benchmarks.timing import assert_same_costs, best_of, job_of, per_seed_round, repeat
from odfl_cli.engine.torch_engine import TorchEngine
from odfl_cli.runs.simulate import Job

PROBLEMS = {
    "5×5 shortest path": ("experiment=shortest_path",),
    "50-item knapsack": ("experiment=knapsack", "data.items=50", "polytope.capacity=20"),
}
EXACT = {"eps": 1e-10, "mode": "dense"}
SEEDS, ROUNDS, TORCH_ROUNDS, LAYER_ROUNDS = 10, 200, 50, 3


def sections() -> Iterator[Section]:
    """The two problems; cvxpylayers if it is installed (pip install 'odfl[dev]')."""
    for name, overrides in PROBLEMS.items():
        yield section(name, overrides)
    yield every_set()


def every_set() -> Section:
    """A round of DF-OGD on every set that needs no file, on the default engine."""
    barrier = "regularizer=log_barrier"
    sets = {
        "simplex": (),
        "simplex, κ = 0.1": ("kappa=0.1",),
        "simplex, quadratic": ("regularizer=quadratic",),
        "box": ("polytope=box", barrier),
        "budget": ("polytope=budget", barrier),
        "knapsack": ("polytope=knapsack", barrier),
        "4×4 shortest path": ("polytope=shortest_path", "polytope.rows=4", "polytope.columns=4",
                              "data.items=24", barrier),
        "5×5 assignment": ("polytope=assignment", "data.items=25", barrier),
    }  # fmt: skip
    rows: list[Row] = []
    for name, overrides in sets.items():
        size = (*overrides, "algo=df_ogd", f"seeds={SEEDS}")
        job = job_of(*size, rounds=TORCH_ROUNDS)
        each = per_seed_round(job, "learn", repeat(job, 3))
        ratio = each / rows[0].seconds if rows else None
        against = "simplex" if rows else ""
        rows.append(Row(f"{name}, {job.engine.name}", each, ratio, against))
    return Section(f"DF-OGD, p=10 S={SEEDS}: learning per seed and round", rows)


def section(name: str, overrides: tuple[str, ...]) -> Section:
    """Seconds per seed and round; the others play the first rounds of the same data."""
    size = (*overrides, "algo=df_ogd", f"seeds={SEEDS}")
    chosen = job_of(*size, rounds=ROUNDS)
    batched = job_of(*size, rounds=TORCH_ROUNDS, engine=TorchEngine())
    ours, theirs = repeat(chosen, 3), repeat(batched, 2)
    assert_same_costs(ours[0].table["cost"][:, :TORCH_ROUNDS], theirs[0].table["cost"])
    fast, torch = per_seed_round(chosen, "learn", ours), per_seed_round(batched, "learn", theirs)
    name_of_ours = f"engine={chosen.engine.name}"
    rows = [
        Row(name_of_ours, fast),
        Row("torch, seeds batched", torch, torch / fast, name_of_ours),
        layer_row(chosen, ours[0].table["mse"][0], fast),
    ]
    title = f"DF-OGD, log barrier, {name}, S={SEEDS}: per seed and round"
    return Section(title, rows)


def layer_row(job: Job, errors: np.ndarray, fast: float) -> Row:
    """The first seed's rounds by autograd through cvxpylayers.

    Timed with its default tolerance; to end at the same θ it needs more digits.
    """
    if find_spec("cvxpylayers") is None:
        return Row("cvxpylayers: skipped, it is not installed (the dev extra)")
    from benchmarks.barrier_layer import build_layer

    polytope = job.algorithm.problem.polytope
    data, draws = block_of(job, 0, LAYER_ROUNDS)
    game = job.algorithm, data.X[0], data.costs[0], draws["df_ogd/delta"][0]
    careful, usual = (build_layer(polytope, **options) for options in (EXACT, {}))
    _, careful_errors = df_ogd(*game, careful, polytope.minimise)
    np.testing.assert_allclose(careful_errors, errors[:LAYER_ROUNDS], rtol=1e-3)
    layer = best_of(2, lambda: df_ogd(*game, usual, polytope.minimise)) / LAYER_ROUNDS
    return Row("autograd through cvxpylayers", layer, layer / fast, f"engine={job.engine.name}")
