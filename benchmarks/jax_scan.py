"""DF-OGD and its data in JAX: `lax.scan` over the rounds, `vmap` over the seeds, float64."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from odfl_cli.algorithms.df_ogd import DFOGD
from odfl_cli.environments.sin4 import Sin4

jax.config.update("jax_enable_x64", True)
Round = tuple[jax.Array, jax.Array, jax.Array]  # X_t [K, p], c_t [K], δ_t


def simulation(algorithm: DFOGD, environment: Sin4, rounds: int) -> Callable[[int], jax.Array]:
    """Seeds → the costs paid [S, T] on data that are drawn round by round."""
    draw, update = round_function(environment), update_function(algorithm)

    def one_seed(key: jax.Array) -> jax.Array:
        theta_star = environment._norm * unit(jax.random.normal(key, (environment.features,)))

        def step(state: Any, number: jax.Array) -> tuple[Any, jax.Array]:
            return update(state, draw(jax.random.fold_in(key, number), theta_star))

        return jax.lax.scan(step, start(environment.features), jnp.arange(1, rounds + 1))[1]

    run = jax.jit(jax.vmap(one_seed))
    return lambda seeds: run(jax.random.split(jax.random.key(0), seeds)).block_until_ready()


def play(algorithm: DFOGD, X: np.ndarray, costs: np.ndarray, deltas: np.ndarray) -> np.ndarray:
    """The costs paid [T] by one seed on given rounds: X [T, K, p], costs [T, K], δ [T]."""
    return np.asarray(
        jax.lax.scan(update_function(algorithm), start(X.shape[2]), (X, costs, deltas))[1]
    )


def round_function(environment: Sin4) -> Callable[[jax.Array, jax.Array], Round]:
    """The sin⁴ data of the paper: X = L Z, c = A sin⁴(1/(2Xθ*_t)) + ε clipped to [0, 1]."""
    K, p = environment.items, environment.features
    distance = np.abs(np.subtract.outer(np.arange(K), np.arange(K)))
    L, weight = jnp.asarray(np.linalg.cholesky(environment.rho**distance)), environment.drift_weight

    def draw(key: jax.Array, theta_star: jax.Array) -> Round:
        covariates, drift, noise, delta = jax.random.split(key, 4)
        X = L @ jax.random.normal(covariates, (K, p))
        signal = X @ ((1 - weight) * theta_star + weight * jax.random.normal(drift, (p,)))
        costs = environment.amplitude * jnp.sin(0.5 / signal) ** 4
        costs += environment.noise_std * jax.random.normal(noise, (K,))
        return X, jnp.clip(costs, 0.0, 1.0), jax.random.uniform(delta)

    return draw


def update_function(algorithm: DFOGD) -> Callable[[Any, Round], tuple[Any, jax.Array]]:
    """(state, round) → the state after it and the cost paid; lines 3 to 7 of Algorithm 2."""
    radius, oracle = algorithm.problem.theta_set.radius, algorithm.problem.oracle
    scale = algorithm.problem.regularizer.suboptimality**-0.5
    project = lambda theta: theta * jnp.minimum(1.0, radius / jnp.maximum(norm(theta), 1e-300))  # noqa: E731

    def update(state: Any, given: Round) -> tuple[Any, jax.Array]:
        (t, theta, before, path_length), (X, c, delta) = state, given
        alpha = algorithm.c_alpha * scale * (t + 1.0) ** -0.25 * (1 + path_length) ** 0.25
        gradient = jax.grad(lambda theta: c @ jax.nn.softmax(-X @ theta / alpha))
        descend = lambda _, theta: project(theta - oracle.lr * gradient(theta))  # noqa: E731
        vartheta = jax.lax.fori_loop(0, oracle.steps, descend, before)
        path_length += jnp.where(t > 0, norm(vartheta - before), 0.0)
        eta = algorithm.c_eta * scale * (t + 1.0) ** -0.75 * (1 + path_length) ** 0.75
        u = vartheta + delta * (theta - vartheta)
        new = project(theta - eta * gradient(u))
        return (t + 1, new, vartheta, path_length), c[jnp.argmin(X @ theta)]

    return update


def start(features: int) -> Any:
    """t, θ, ϑ and the path length before the first round."""
    zero = jnp.zeros(features)
    return 0, zero, zero, 0.0


def norm(vector: jax.Array) -> jax.Array:
    return jnp.sqrt(vector @ vector)


def unit(vector: jax.Array) -> jax.Array:
    return vector / norm(vector)
