"""DF-OGD as its authors would write it: one seed, one round at a time, gradients by autograd."""

from collections.abc import Callable

import numpy as np
import torch

from odfl_cli.algorithms.df_ogd import DFOGD


def softmin(prediction: torch.Tensor, alpha: float) -> torch.Tensor:
    """softmax(−ĉ/α): the entropy on the simplex."""
    return torch.softmax(-prediction / alpha, dim=0)


def cheapest(prediction: torch.Tensor) -> torch.Tensor:
    """The best vertex of the simplex."""
    return torch.nn.functional.one_hot(prediction.argmin(), len(prediction)).double()


def df_ogd(
    algorithm: DFOGD,
    X: np.ndarray,
    costs: np.ndarray,
    deltas: np.ndarray,
    smoothed: Callable[[torch.Tensor, float], torch.Tensor] = softmin,
    best: Callable[[torch.Tensor], torch.Tensor] = cheapest,
) -> tuple[np.ndarray, np.ndarray]:
    """Plays X [T, d, p], costs [T, d] with δ [T]; returns the cost and the squared error [T]."""
    radius, oracle = algorithm.problem.theta_set.radius, algorithm.problem.oracle
    scale = algorithm.problem.regularizer.suboptimality**-0.5
    theta = torch.zeros(X.shape[2], dtype=torch.float64)
    vartheta, path_length = theta, 0.0
    paid, errors = [], []
    rounds = zip(torch.from_numpy(X), torch.from_numpy(costs), deltas.tolist(), strict=True)
    for t, (X_t, c_t, delta) in enumerate(rounds, start=1):
        prediction = X_t @ theta
        paid.append((c_t @ best(prediction)).item())
        errors.append(torch.nn.functional.mse_loss(prediction, c_t).item())
        alpha = algorithm.c_alpha * scale * t**-0.25 * (1.0 + path_length) ** 0.25
        # 5: ϑ_t = O_ξ(f̃_t), warm-started at ϑ_{t−1}
        before, vartheta = vartheta, vartheta.clone().requires_grad_()
        optimizer = torch.optim.SGD([vartheta], lr=oracle.lr)
        for _ in range(oracle.steps):
            optimizer.zero_grad()
            (c_t @ smoothed(X_t @ vartheta, alpha)).backward()
            optimizer.step()
            with torch.no_grad():
                vartheta.copy_(project(vartheta, radius))
        vartheta = vartheta.detach()
        if t > 1:
            path_length += (vartheta - before).norm().item()
        # 6 and 7: θ_{t+1} = Π_Θ(θ_t − η_t ∇f̃_t(u_t)) at u_t = ϑ_t + δ_t (θ_t − ϑ_t)
        u = (vartheta + delta * (theta - vartheta)).requires_grad_()
        (c_t @ smoothed(X_t @ u, alpha)).backward()
        eta = algorithm.c_eta * scale * t**-0.75 * (1.0 + path_length) ** 0.75
        theta = project(theta - eta * u.grad, radius)
    return np.array(paid), np.array(errors)


def project(theta: torch.Tensor, radius: float) -> torch.Tensor:
    """Π_Θ(θ)."""
    norm = theta.norm()
    return theta * (radius / norm) if norm > radius else theta
