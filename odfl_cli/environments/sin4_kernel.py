"""The recursion behind the covariates of the sin⁴ data, compiled."""

from odfl_cli.core.compiling import exact, kernel
from odfl_cli.core.signatures import f8, void


@exact
def correlate_items(X, rho, innovation):
    """x_i = innovation · z_i + ρ x_{i−1} in place of z [K, p]; x_0 = z_0."""
    for i in range(1, X.shape[0]):
        for j in range(X.shape[1]):
            X[i, j] = X[i, j] * innovation + rho * X[i - 1, j]


@kernel(void(f8[:, :, ::1], f8, f8))
def correlate(X, rho, innovation):
    """Every round of X [B, K, p] in place."""
    for t in range(X.shape[0]):
        correlate_items(X[t], rho, innovation)
