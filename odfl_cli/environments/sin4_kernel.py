"""The sums behind the sin⁴ data, compiled; see odfl_cli.environments.sin4."""

from numba import f8, void

from odfl_cli.core.compiling import exact, kernel


@exact
def correlate_items(X, rho, innovation):
    """x_i = innovation · z_i + ρ x_{i−1} in place of X = z [K, p]; x_0 = z_0."""
    for i in range(1, X.shape[0]):
        for j in range(X.shape[1]):
            X[i, j] = X[i, j] * innovation + rho * X[i - 1, j]


@exact
def signal(x, theta):
    """⟨x, θ⟩, added up in the order of numpy's einsum: pairs, the last of four first."""
    p = x.shape[0]
    even, odd = 0.0, 0.0
    whole = p - p % 8
    for j in range(0, whole, 8):
        for k in range(j + 6, j - 1, -2):
            even += x[k] * theta[k]
            odd += x[k + 1] * theta[k + 1]
    for j in range(whole, p - 1, 2):
        even += x[j] * theta[j]
        odd += x[j + 1] * theta[j + 1]
    if p % 2:
        even += x[p - 1] * theta[p - 1]
    return even + odd


@kernel(void(f8[:, :, ::1], f8, f8))
def correlate(X, rho, innovation):
    """Every round of X [B, K, p] in place."""
    for t in range(X.shape[0]):
        correlate_items(X[t], rho, innovation)


@kernel(void(f8[:, :, ::1], f8[:, ::1], f8[:, ::1]))
def signals(X, theta, out):
    """out [B, K] = ⟨x_ti, θ_t⟩ for X [B, K, p] and θ [B, p]."""
    for t in range(X.shape[0]):
        for i in range(X.shape[1]):
            out[t, i] = signal(X[t, i], theta[t])
