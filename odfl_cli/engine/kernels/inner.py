"""What the kernels share: the linear model, the simplex, its entropy and the ball, for one seed."""

import numpy as np

from odfl_cli.compiling import inner


@inner
def predict(X, theta, g):
    """g = X θ."""
    for i in range(X.shape[0]):
        total = 0.0
        for j in range(X.shape[1]):
            total += X[i, j] * theta[j]
        g[i] = total


@inner
def vjp(X, v, out):
    """out = Xᵀ v."""
    out[:] = 0.0
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            out[j] += v[i] * X[i, j]


@inner
def minimise(costs):
    """The vertex of the simplex that is best for the costs; the first of equals."""
    best = 0
    for i in range(1, costs.shape[0]):
        if costs[i] < costs[best]:
            best = i
    return best


@inner
def dot(a, b):
    """⟨a, b⟩."""
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


@inner
def smoothed_gradient(X, costs, theta, alpha, w, out):
    """out = ∇f̃(θ) = −(1/α) Xᵀ[w̃ ∘ (c − f̃)] with w̃ = softmax(−Xθ/α), f̃ = ⟨c, w̃⟩; w is scratch.

    The softmax is shifted by its largest exponent and normalised last; costs count from the
    first item's, so that equal costs give exactly zero.
    """
    predict(X, theta, w)
    lowest, sharpness = w[minimise(w)], 1.0 / alpha
    total, value = 0.0, 0.0
    for i in range(w.shape[0]):
        w[i] = np.exp((lowest - w[i]) * sharpness)
        total += w[i]
        value += w[i] * (costs[i] - costs[0])
    value /= total
    scale = sharpness / total
    for i in range(w.shape[0]):
        w[i] *= (value - (costs[i] - costs[0])) * scale
    vjp(X, w, out)


@inner
def project(theta, radius):
    """θ = Π_Θ(θ) in place."""
    norm = np.sqrt(dot(theta, theta))
    if norm > radius:
        for j in range(theta.shape[0]):
            theta[j] *= radius / norm if norm < np.inf else np.nan


@inner
def step(theta, rate, gradient, radius):
    """θ = Π_Θ(θ − rate·gradient) in place."""
    for j in range(theta.shape[0]):
        theta[j] -= rate * gradient[j]
    project(theta, radius)


@inner
def squared_error(prediction, costs):
    """The mean over items of (ĉ − c)²."""
    total = 0.0
    for i in range(costs.shape[0]):
        total += (prediction[i] - costs[i]) ** 2
    return total / costs.shape[0]


@inner
def decide(X, costs, theta, prediction):
    """Predicts into `prediction`; returns the item played, its cost and the squared error."""
    predict(X, theta, prediction)
    item = minimise(prediction)
    return item, costs[item], squared_error(prediction, costs)
