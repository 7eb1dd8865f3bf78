"""The same modules, trained by others: autograd through cvxpylayers, and PyEPO's online SPO+."""

import copy

import numpy as np
import pytest
import torch
from scipy.optimize import linprog
from support import networks
from torch import nn

from odfl_cli.algorithms.gradient import SPO
from odfl_cli.problem.ball import Ball
from odfl_cli.problem.oracles.descent import SGD
from odfl_cli.problem.polytopes.shortest_path import ShortestPath
from odfl_cli.problem.polytopes.simplex import Simplex
from odfl_cli.problem.predictors.base import prepare_predictor
from odfl_cli.problem.problem import Problem
from odfl_cli.problem.regularizers.entropy import Entropy
from odfl_cli.problem.regularizers.log_barrier import LogBarrier
from odfl_cli.problem.regularizers.quadratic import Quadratic
from odfl_cli.problem.surrogate import SmoothedCost
from reproduce.claims.lemmas import spo_plus_loss

ALPHA = 0.5


def problem_of(module: nn.Module, polytope, regularizer, shape: tuple[int, ...]) -> Problem:
    return Problem(
        items=polytope.dimension, features=shape[-1], rounds=100, theta_set=Ball(radius=1e9),
        predictor=prepare_predictor(module, polytope.dimension, shape), polytope=polytope,
        regularizer=regularizer(polytope=polytope), oracle=SGD(), X_shape=shape,
    )  # fmt: skip


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")  # of cvxpylayers, about numpy
@pytest.mark.parametrize("regularizer", [Entropy, LogBarrier, Quadratic])
def test_gradients_agree_with_autograd_through_cvxpylayers(regularizer) -> None:
    cp = pytest.importorskip("cvxpy", reason="cvxpylayers is a dev extra")
    layers = pytest.importorskip("cvxpylayers.torch", reason="cvxpylayers is a dev extra")
    torch.manual_seed(0)
    module, polytope = networks.TwoLayers(3).double(), Simplex(dimension=4)
    w, g = cp.Variable(4), cp.Parameter(4)
    penalty = {
        Entropy: lambda: -cp.sum(cp.entr(w)),
        LogBarrier: lambda: -cp.sum(cp.log(w)),
        Quadratic: lambda: cp.sum_squares(w - 1 / 4) / 2,
    }[regularizer]()
    layer = layers.CvxpyLayer(
        cp.Problem(cp.Minimize(g @ w + ALPHA * penalty), [cp.sum(w) == 1, w >= 0]),
        parameters=[g], variables=[w],
    )  # fmt: skip
    rng = np.random.default_rng(0)
    X, costs = rng.normal(size=(4, 3)), rng.normal(size=4)
    (decision,) = layer(module(torch.from_numpy(X))[..., 0], solver_args={"eps": 1e-10})
    (decision @ torch.from_numpy(costs)).backward()
    theirs = torch.cat([p.grad.reshape(-1) for p in module.parameters()])
    problem = problem_of(module, polytope, regularizer, (4, 3))
    loss = SmoothedCost(problem, X, costs, np.array([ALPHA]))
    ours = loss.gradient(np.zeros(problem.parameters))
    np.testing.assert_allclose(ours, theirs, atol=1e-5)


GRID, P, EXAMPLES, RATE = (3, 4), 5, 40, 0.05


def grid_model():
    """A solver of shortest paths for PyEPO: the flow's linear program, edges in PyEPO's order."""
    from pyepo.model.opt import optModel

    class Paths(optModel):
        def _getModel(self):  # noqa: N802
            rows, columns = GRID
            arcs = []
            for i in range(rows):
                arcs += [(i * columns + j, i * columns + j + 1) for j in range(columns - 1)]
                if i + 1 < rows:
                    arcs += [(i * columns + j, (i + 1) * columns + j) for j in range(columns)]
            self.flow = np.zeros((rows * columns, len(arcs)))
            for edge, (tail, head) in enumerate(arcs):
                self.flow[tail, edge], self.flow[head, edge] = 1, -1
            self.supply = np.eye(rows * columns)[0] - np.eye(rows * columns)[-1]
            return None, list(range(len(arcs)))

        def setObj(self, c):  # noqa: N802
            self.costs = np.asarray(c, dtype=float)

        def solve(self):
            found = linprog(self.costs, A_eq=self.flow, b_eq=self.supply, bounds=(0, 1))
            return np.round(found.x), float(found.fun)

    return Paths()


def pyepo_losses(module: nn.Module, x: np.ndarray, c: np.ndarray) -> list[float]:
    """PyEPO's loss of one example after another, with a step of SGD after each."""
    import pyepo

    paths = grid_model()
    loss_of, optimizer = pyepo.func.SPOPlus(paths), torch.optim.SGD(module.parameters(), lr=RATE)
    losses = []
    for x_t, c_t in zip(torch.from_numpy(x), torch.from_numpy(c), strict=True):
        paths.setObj(c_t.numpy())
        solution, value = paths.solve()
        true = c_t[None], torch.from_numpy(solution)[None], torch.tensor([[value]]).double()
        optimizer.zero_grad()
        loss = loss_of(module(x_t)[None], *true)
        loss.backward()
        optimizer.step()
        losses.append(float(loss))
    return losses


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")  # of PyEPO, about what is not installed
def test_spo_plus_trains_a_network_as_pyepo_does() -> None:
    pyepo = pytest.importorskip("pyepo", reason="the bench extra")
    x, c = pyepo.data.shortestpath.genData(EXAMPLES, P, GRID, deg=4, noise_width=0.5, seed=3)
    torch.manual_seed(1)
    module = nn.Sequential(nn.Linear(P, 8), nn.ReLU(), nn.Linear(8, 17)).double()
    problem = problem_of(copy.deepcopy(module), ShortestPath(rows=3, columns=4), LogBarrier, (P,))
    algorithm = SPO(problem=problem, eta=RATE)
    state, ours = algorithm.init(1, None), []
    for x_t, c_t in zip(x[:, None], c[:, None], strict=True):
        prediction, _ = algorithm.decide(state, x_t)
        ours.append(float(spo_plus_loss(problem.polytope, prediction, c_t)[0]))
        state = algorithm.update(state, x_t, c_t, {})
    np.testing.assert_allclose(ours, pyepo_losses(module, x, c), atol=1e-6)
