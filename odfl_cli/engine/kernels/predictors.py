"""Predictors and their transposes, compiled; see odfl_cli.problem.predictors."""

from odfl_cli.core.compiling import inner
from odfl_cli.engine.parts import AFFINE, PER_ITEM, QUADRATIC


@inner
def predict(predictor, X, theta, g):
    """g = g(θ, X)."""
    if predictor == PER_ITEM:
        predict_per_item(X, theta.reshape(X.shape), g)
        return
    if predictor == QUADRATIC:
        predict_quadratic(X, theta, g)
        return
    intercept = theta[X.shape[1]] if predictor == AFFINE else 0.0
    for i in range(X.shape[0]):
        total = intercept
        for j in range(X.shape[1]):
            total += X[i, j] * theta[j]
        g[i] = total


@inner
def vjp(predictor, X, v, out):
    """out = (∇_θ g)ᵀ v; all of these predictors are linear in θ."""
    if predictor == PER_ITEM:
        vjp_per_item(X, v, out.reshape(X.shape))
        return
    if predictor == QUADRATIC:
        vjp_quadratic(X, v, out)
        return
    vjp_linear(X, v, out)
    if predictor == AFFINE:
        for i in range(v.shape[0]):
            out[X.shape[1]] += v[i]


@inner
def vjp_linear(X, v, out):
    """out = Xᵀ v; four items at a time, so that `out` is read and written a quarter as often."""
    fours = X.shape[0] // 4 * 4
    out[:] = 0.0
    for i in range(0, fours, 4):
        v0, v1, v2, v3 = v[i], v[i + 1], v[i + 2], v[i + 3]
        for j in range(X.shape[1]):
            out[j] += v0 * X[i, j] + v1 * X[i + 1, j] + v2 * X[i + 2, j] + v3 * X[i + 3, j]
    for i in range(fours, X.shape[0]):
        for j in range(X.shape[1]):
            out[j] += v[i] * X[i, j]


@inner
def predict_per_item(X, theta, g):
    """g_i = ⟨x_i, θ_i⟩."""
    for i in range(X.shape[0]):
        total = 0.0
        for j in range(X.shape[1]):
            total += X[i, j] * theta[i, j]
        g[i] = total


@inner
def vjp_per_item(X, v, out):
    """out_i = v_i x_i."""
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            out[i, j] = v[i] * X[i, j]


@inner
def predict_quadratic(X, theta, g):
    """g_i = θ_0 + Σ_j x_ij (θ_j + Σ_{k≥j} θ_jk x_ik)."""
    p = X.shape[1]
    for i in range(X.shape[0]):
        total, products = theta[0], 1 + p
        for j in range(p):
            slope = theta[1 + j]
            for k in range(j, p):
                slope += theta[products + k - j] * X[i, k]
            total += slope * X[i, j]
            products += p - j
        g[i] = total


@inner
def vjp_quadratic(X, v, out):
    """out = Σ_i v_i (1, x_i, x_ij x_ik for j ≤ k)."""
    p = X.shape[1]
    out[:] = 0.0
    for i in range(X.shape[0]):
        out[0] += v[i]
        products = 1 + p
        for j in range(p):
            pull = v[i] * X[i, j]
            out[1 + j] += pull
            for k in range(j, p):
                out[products + k - j] += pull * X[i, k]
            products += p - j
