"""Online SPO+ with PyEPO's loss, as its documentation shows it, on the simplex."""

import numpy as np
import pyepo
import torch
from pyepo.model.opt import optModel


class Simplex(optModel):
    """Choose the cheapest item: the smallest solver there is."""

    def __init__(self, items: int) -> None:
        self.items = items
        super().__init__()

    def _getModel(self) -> tuple[None, list[int]]:  # noqa: N802
        return None, list(range(self.items))

    def setObj(self, c: np.ndarray) -> None:  # noqa: N802
        """The costs to minimise."""
        self.costs = np.asarray(c)

    def solve(self) -> tuple[np.ndarray, float]:
        """The best vertex and its cost."""
        best = int(self.costs.argmin())
        solution = np.zeros(self.items)
        solution[best] = 1.0
        return solution, float(self.costs[best])


def spo_plus(eta: float, radius: float, X: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """θ after one update per round of X [T, d, p], costs [T, d]."""
    simplex = Simplex(costs.shape[1])
    loss = pyepo.func.SPOPlus(simplex, processes=1)
    theta = torch.zeros(X.shape[2], dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.SGD([theta], lr=eta)
    for X_t, c_t in zip(torch.from_numpy(X), torch.from_numpy(costs), strict=True):
        simplex.setObj(c_t.numpy())
        solution, value = simplex.solve()
        true = c_t[None], torch.from_numpy(solution)[None], torch.tensor([[value]])
        optimizer.zero_grad()
        loss((X_t @ theta)[None], *true).backward()
        optimizer.step()
        with torch.no_grad():
            theta *= radius / theta.norm().clamp(min=radius)
    return theta.detach().numpy()
