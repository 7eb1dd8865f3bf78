"""What is learnt in place of the costs; what is paid are the costs."""

import numpy as np
import torch
from support.problems import composed, random_rounds

from odfl_cli.problem.targets import rank, transform_costs
from odfl_cli.runs.build import build
from odfl_cli.runs.simulate import simulate


def test_a_rank_is_the_share_of_the_others_that_cost_less():
    costs = np.array([[5.0, 1.0, 3.0], [2.0, 2.0, 9.0], [7.0, np.nan, 4.0], [np.nan, np.nan, 1.0]])
    offered = ~np.isnan(costs)
    expected = np.array([[1, 0, 0.5], [0.25, 0.25, 1], [1, 0, 0], [0, 0, 0]])
    for library in (np.asarray, torch.asarray):
        found = np.asarray(rank(library(costs)))
        np.testing.assert_array_equal(found[offered], expected[offered])


def test_arsinh_is_odd_and_raw_is_the_cost():
    costs = np.array([-8995.0, -1.0, 0.0, 40.0])
    np.testing.assert_allclose(transform_costs("asinh", costs), np.arcsinh(costs))
    assert transform_costs("raw", costs) is costs


def replay(tmp_path, algo: str, target: str) -> dict[str, np.ndarray]:
    rounds = random_rounds(2, 50, 4, 3)
    np.savez(tmp_path / "rounds.npz", X=rounds.X, c=np.exp(4.0 * rounds.costs))
    file = ("data=replay", f"data.file={tmp_path}/rounds.npz", f"data.target={target}")
    chosen = (f"algo={algo}", *file, "seeds=2", "horizon.rounds=50", "engine=array")
    return simulate(build(composed(*chosen))).table


def test_what_is_paid_are_the_costs(tmp_path):
    """A policy that repeats the best item of yesterday decides by the order, which no target changes."""
    raw, asinh, ranked = (replay(tmp_path, "yesterday", name) for name in ("raw", "asinh", "rank"))
    for other in (asinh, ranked):
        np.testing.assert_array_equal(other["cost"], raw["cost"])
        np.testing.assert_array_equal(other["best_cost"], raw["best_cost"])
        assert (other["mse"] != raw["mse"]).any()


def test_least_squares_of_a_target_is_least_squares_on_transformed_costs(tmp_path):
    """θ by numpy's solver on arsinh(c), and the exact costs of the items that it plays."""
    table = replay(tmp_path, "rls", "asinh")
    with np.load(tmp_path / "rounds.npz") as file:
        X, costs = file["X"][0], file["c"][0]
    for t in (10, 49):
        D, c = X[:t].reshape(-1, 3), np.arcsinh(costs[:t]).ravel()
        theta = np.linalg.solve(D.T @ D + np.eye(3), D.T @ c)
        assert table["cost"][0, t] == costs[t, (X[t] @ theta).argmin()]
