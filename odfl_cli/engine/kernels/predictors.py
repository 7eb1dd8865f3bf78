"""Predictors and their transposes, compiled; see odfl_cli.problem.predictors."""

from odfl_cli.core.compiling import inner
from odfl_cli.engine.parts import AFFINE, PER_ITEM


@inner
def predict(predictor, X, theta, g):
    """g = g(θ, X)."""
    if predictor == PER_ITEM:
        predict_per_item(X, theta.reshape(X.shape), g)
        return
    intercept = theta[X.shape[1]] if predictor == AFFINE else 0.0
    for i in range(X.shape[0]):
        total = intercept
        for j in range(X.shape[1]):
            total += X[i, j] * theta[j]
        g[i] = total


@inner
def vjp(predictor, X, v, out):
    """out = (∇_θ g)ᵀ v; all three predictors are linear in θ."""
    if predictor == PER_ITEM:
        vjp_per_item(X, v, out.reshape(X.shape))
        return
    out[:] = 0.0
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            out[j] += v[i] * X[i, j]
    if predictor == AFFINE:
        for i in range(v.shape[0]):
            out[X.shape[1]] += v[i]


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
