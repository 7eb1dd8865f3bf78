"""Models of PyEPO as decision sets: their optima, and SPO+ as PyEPO itself descends it."""

import numpy as np
import pytest
import torch
from scipy.optimize import Bounds, LinearConstraint, milp
from support.problems import composed_job
from support.solvers import CAPACITY, WEIGHTS, as_mps, held_karp, pack, pack_rows, write_knapsack

from odfl_cli import Rounds, run
from odfl_cli.problem.polytopes.solver import as_decision_set

pyepo = pytest.importorskip("pyepo", reason="the dev extra")
pytest.importorskip("pyomo", reason="the dev extra")
ROUNDS, ETA = 100, 0.03


def model(name):
    if name == "path":
        from pyepo.model.omo.shortestpath import shortestPathModel

        return shortestPathModel((3, 3), solver="highs")
    if name == "knapsack":
        from pyepo.model.omo.knapsack import knapsackModel

        return knapsackModel(WEIGHTS[None], [CAPACITY], solver="highs")
    from pyepo.model.omo.tsp import tspMTZModel

    return tspMTZModel(6 if name == "six cities" else 4, solver="highs")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "least"), [("knapsack", lambda c: c @ pack(c)), ("six cities", held_karp)]
)
def test_the_optima_are_those_of_an_independent_solver(name, least):
    polytope = as_decision_set(model(name), items=0)
    costs = np.random.default_rng(0).uniform(-1, 1, size=(4, polytope.dimension))
    found = (costs * polytope.minimise(costs)).sum(-1)
    np.testing.assert_allclose(found, [least(c) for c in costs], rtol=0, atol=1e-9)


VALUES = ("polynomial", {"items": 24, "maximise": True})


@pytest.mark.thorough
def test_the_best_cost_of_every_round_is_that_of_independent_solvers(tmp_path):
    """Whole runs with a function, an .mps file and PyEPO's model; dynamic programming and scipy's MILP."""
    file = str(as_mps(write_knapsack(tmp_path / "plan.lp")))
    sets = {"function": pack, "file": ("model", {"file": file}), "PyEPO": model("knapsack")}
    given = {"algo": "pf_ogd", "data": VALUES, "horizon": {"rounds": 20}, "seeds": 2}
    best = {name: run(polytope=chosen, **given).rows["best_cost"] for name, chosen in sets.items()}
    job = composed_job("data=polynomial", "data.items=24", "data.maximise=true", "seeds=2")
    costs = job.environment.rounds((0, 1), 0, 20).costs.reshape(-1, 24)
    room, binary = LinearConstraint(WEIGHTS[None], ub=CAPACITY), {"integrality": np.ones(24)}
    expected = [milp(c, bounds=Bounds(0, 1), constraints=room, **binary).fun for c in costs]
    np.testing.assert_allclose((costs * pack_rows(costs)).sum(-1), expected, rtol=0, atol=1e-9)
    assert (np.array(expected) < -1).all()
    for name, found in best.items():
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9, err_msg=name)


class Recorded:
    """Fixed rounds of one seed."""

    features = 5

    def __init__(self, items):
        rng = np.random.default_rng(8)
        self.items, self.X = items, rng.normal(size=(1, ROUNDS, items, 5))
        self.costs = np.abs(self.X @ rng.normal(size=5)) + rng.random((1, ROUNDS, items))

    def rounds(self, seeds, start, stop):
        return Rounds(self.X[:, start:stop], self.costs[:, start:stop])

    def theta_star(self, seeds):
        return None


def descend_by_pyepo(optimiser, data):
    """θ after one sample a step, from 0; costs of a model that maximises are values with the sign turned."""
    theta = torch.zeros(5, dtype=torch.float64, requires_grad=True)
    loss_of, sign = pyepo.func.SPOPlus(optimiser, processes=1), int(optimiser.modelSense)
    for X, c in zip(torch.from_numpy(data.X[0]), torch.from_numpy(data.costs[0]), strict=True):
        values = sign * c
        optimiser.setObj(values.numpy())
        solution, objective = optimiser.solve()
        w = torch.as_tensor(np.asarray(solution), dtype=torch.float64)
        loss = loss_of((sign * X @ theta)[None], values[None], w[None], torch.tensor([[objective]]))
        (gradient,) = torch.autograd.grad(loss, theta)
        theta = (theta - ETA * gradient).detach().requires_grad_()
    return theta.detach().numpy()


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["path", "knapsack", "four cities"])
def test_spo_plus_is_that_of_pyepo(name):
    """A hundred rounds, one sample each, the same start and step."""
    optimiser = model(name)
    data = Recorded(optimiser.num_cost)
    result = run(
        algo=("spo", {"eta": ETA}), polytope=optimiser, data=data, horizon={"rounds": ROUNDS},
        seeds=1, theta_radius=1e6,
    )  # fmt: skip
    expected = descend_by_pyepo(optimiser, data)
    assert np.abs(expected).max() > 0.1
    np.testing.assert_allclose(result.state.theta[0], expected, rtol=0, atol=1e-9)


def test_nothing_of_pyepo_is_imported_without_a_model():
    import subprocess
    import sys

    code = "import sys; from odfl_cli.runs import build; sys.exit('pyepo' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
