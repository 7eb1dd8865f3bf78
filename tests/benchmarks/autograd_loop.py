"""DF-OGD as its authors would write it: one seed, one round at a time, gradients by autograd."""

import math

import numpy as np
import torch

from odfl_cli.algorithms import DFOGD


def df_ogd(
    algorithm: DFOGD, X: np.ndarray, costs: np.ndarray, deltas: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Plays X [T, d, p], costs [T, d] with δ [T]; returns the cost and the squared error [T]."""
    radius, oracle = algorithm.problem.theta_set.radius, algorithm.problem.oracle
    scale = math.log(costs.shape[1]) ** -0.5
    theta = torch.zeros(X.shape[2], dtype=torch.float64)
    vartheta, path_length = theta, 0.0
    paid, errors = [], []
    rounds = zip(torch.from_numpy(X), torch.from_numpy(costs), deltas.tolist(), strict=True)
    for t, (X_t, c_t, delta) in enumerate(rounds, start=1):
        prediction = X_t @ theta
        paid.append(c_t[prediction.argmin()].item())
        errors.append(torch.nn.functional.mse_loss(prediction, c_t).item())
        alpha = algorithm.c_alpha * scale * t**-0.25 * (1.0 + path_length) ** 0.25
        # 5: ϑ_t = O_ξ(f̃_t), warm-started at ϑ_{t−1}
        before, vartheta = vartheta, vartheta.clone().requires_grad_()
        optimizer = torch.optim.SGD([vartheta], lr=oracle.lr)
        for _ in range(oracle.steps):
            optimizer.zero_grad()
            smoothed_cost(vartheta, X_t, c_t, alpha).backward()
            optimizer.step()
            with torch.no_grad():
                vartheta.copy_(project(vartheta, radius))
        vartheta = vartheta.detach()
        if t > 1:
            path_length += (vartheta - before).norm().item()
        # 6 and 7: θ_{t+1} = Π_Θ(θ_t − η_t ∇f̃_t(u_t)) at u_t = ϑ_t + δ_t (θ_t − ϑ_t)
        u = (vartheta + delta * (theta - vartheta)).requires_grad_()
        smoothed_cost(u, X_t, c_t, alpha).backward()
        eta = algorithm.c_eta * scale * t**-0.75 * (1.0 + path_length) ** 0.75
        theta = project(theta - eta * u.grad, radius)
    return np.array(paid), np.array(errors)


def smoothed_cost(
    theta: torch.Tensor, X: torch.Tensor, costs: torch.Tensor, alpha: float
) -> torch.Tensor:
    """f̃(θ) = ⟨c, softmax(−Xθ/α)⟩."""
    return costs @ torch.softmax(-(X @ theta) / alpha, dim=0)


def project(theta: torch.Tensor, radius: float) -> torch.Tensor:
    """Π_Θ(θ)."""
    norm = theta.norm()
    return theta * (radius / norm) if norm > radius else theta
