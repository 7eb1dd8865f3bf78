"""Every regulariser learns on every set that it accepts: from θ = 0, on data that can be learnt."""

from itertools import product

import numpy as np
import pytest
from support.problems import composed_job
from support.samples import marked

from odfl_cli.core.errors import UserError
from odfl_cli.runs.simulate import simulate

SETS = ("simplex", "box", "budget", "knapsack", "shortest_path", "assignment")
SIZES = {
    "shortest_path": ("polytope.rows=3", "polytope.columns=3", "data.items=12"),
    "assignment": ("polytope.size=3", "data.items=9"),
}
LEARNABLE = (
    "data=sin4", "data.gamma=0", "data.clip=false", "data.drift=none", "data.noise_std=0",
    "data.features=3", "horizon.rounds=150", "seeds=2", "algo=df_ogd",
)  # fmt: skip
CHEAPEST = {
    ("entropy", "simplex"), ("entropy", "box"), ("log_barrier", "knapsack"), ("quadratic", "box")
}  # fmt: skip
PAIRS = marked(product(("entropy", "log_barrier", "quadratic"), SETS), CHEAPEST.__contains__)
"""Every regulariser on one set; entropy accepts no other."""


@pytest.mark.parametrize(("regularizer", "polytope"), PAIRS)
def test_a_learner_pays_less_than_one_that_stays_at_zero(regularizer, polytope):
    """Costs are ⟨x_i, θ*⟩: who learns gains in every round, who stays at θ = 0 gains nothing on average."""
    chosen = (f"regularizer={regularizer}", f"polytope={polytope}", *SIZES.get(polytope, ()))
    if regularizer == "entropy" and polytope != "simplex":
        with pytest.raises(UserError):
            composed_job(*LEARNABLE, *chosen)
        return
    if regularizer == "quadratic" and polytope in SIZES:
        pytest.importorskip("quadprog")
    job = composed_job(*LEARNABLE, *chosen)
    table = simulate(job).table
    rounds = job.environment.rounds(job.seeds, 0, 150)
    frozen = job.algorithm.problem.polytope.minimise(np.zeros_like(rounds.costs))
    stays = (rounds.costs * frozen).sum(-1).mean(-1)
    best = table["best_cost"].mean(-1)
    share = (stays - table["avg_cost"][:, -1]) / (stays - best)
    assert (share > 0.3).all(), share
