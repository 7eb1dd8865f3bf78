"""The network: the linear predictor as a special case, torch's own gradients as a judge."""

import itertools

import numpy as np
import pytest
import torch
from support.problems import composed_job

from odfl_cli.engine import TorchEngine
from odfl_cli.problem.predictors import MLP, Linear
from odfl_cli.problem.predictors.mlp import start
from odfl_cli.runs.simulate import simulate

SHAPES = [MLP(depth=1), MLP(depth=2, width=5), MLP(depth=3, width=4, bias=False)]


def torch_network(mlp: MLP, features: int):
    """The same function through torch's own modules, and its parameters in our order."""
    sizes = [features, *[mlp.width] * (mlp.depth - 1), 1]
    layers: list[torch.nn.Module] = []
    for inputs, outputs in itertools.pairwise(sizes):
        layers += [torch.nn.Linear(inputs, outputs, mlp.bias, dtype=torch.float64)]
        layers += [torch.nn.Tanh() if mlp.activation == "tanh" else torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1])


def random(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


@pytest.mark.parametrize("activation", ["tanh", "relu"])
@pytest.mark.parametrize("mlp", SHAPES, ids=lambda mlp: f"depth{mlp.depth}")
def test_value_and_gradient_are_those_of_torch(mlp: MLP, activation: str) -> None:
    mlp = MLP(depth=mlp.depth, width=mlp.width, bias=mlp.bias, activation=activation)
    features, items = 3, 4
    m = mlp.parameter_count(items, features)
    network = torch_network(mlp, features)
    names = [name for name, _ in network.named_parameters()]
    assert m == sum(p.numel() for p in network.parameters())

    def value(theta: torch.Tensor, X: torch.Tensor) -> torch.Tensor:
        pieces = torch.split(theta, [p.numel() for p in network.parameters()])
        shaped = {
            name: piece.reshape(p.shape)
            for name, piece, p in zip(names, pieces, network.parameters(), strict=True)
        }
        return torch.func.functional_call(network, shaped, (X,))[..., 0]

    offset = torch.from_numpy(start(mlp.sizes(features), mlp.bias))
    theta, X, v = random(2, m), random(2, items, features, seed=1), random(2, items, seed=2)
    at = torch.from_numpy(theta) + offset
    expected = torch.func.vmap(value)(at, torch.from_numpy(X))
    np.testing.assert_allclose(mlp.predict(theta, X), expected.numpy(), rtol=1e-12)

    def projected(one, X_s, v_s):
        return (value(one, X_s) * v_s).sum()

    gradient = torch.func.vmap(torch.func.grad(projected))
    judged = gradient(at, torch.from_numpy(X), torch.from_numpy(v))
    np.testing.assert_allclose(mlp.vjp(theta, X, v), judged.numpy(), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("algo", ["df_ogd", "df_ftpl", "pf_ogd", "spo"])
def test_one_layer_without_bias_is_the_linear_predictor(algo: str) -> None:
    common = (f"algo={algo}", "horizon=smoke", "seeds=3", "engine=torch")
    linear = simulate(composed_job(*common))
    network = simulate(
        composed_job(*common, "predictor=mlp", "predictor.depth=1", "predictor.bias=false")
    )
    for column, values in linear.table.items():
        np.testing.assert_allclose(network.table[column], values, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(network.state.theta, linear.state.theta, atol=1e-9)


def test_leading_axes_broadcast_as_for_the_linear_predictor() -> None:
    mlp, linear = MLP(depth=2, width=3), Linear()
    X, v = random(5, 7, 4, 3), random(5, 7, 4, seed=1)
    m = mlp.parameter_count(4, 3)
    theta = random(5, 1, m)
    assert mlp.predict(theta, X).shape == linear.predict(random(5, 1, 3), X).shape == (5, 7, 4)
    gradients = mlp.vjp(theta, X, v)
    assert gradients.shape == (5, 7, m)
    np.testing.assert_array_equal(gradients[2, 3], mlp.vjp(theta[2, 0], X[2, 3], v[2, 3]))


@pytest.mark.parametrize("mlp", SHAPES, ids=lambda mlp: f"depth{mlp.depth}")
def test_zero_predicts_nothing_and_still_learns(mlp: MLP) -> None:
    m = mlp.parameter_count(4, 3)
    X, v = random(4, 3), random(4, seed=1)
    np.testing.assert_array_equal(mlp.predict(np.zeros(m), X), np.zeros(4))
    assert np.abs(mlp.vjp(np.zeros(m), X, v)).max() > 0


def test_a_network_fits_what_a_line_cannot() -> None:
    """c = |x|: the best line through the origin is zero."""
    settings = ("horizon.rounds=3000", "seeds=2", "engine=torch", "theta_radius=10")
    common = ("algo=pf_ogd", "algo.eta=0.02", "data.features=1", "data.items=3", *settings)
    job = composed_job(*common, "predictor=mlp")
    rng = np.random.default_rng(0)
    state = job.algorithm.init(1, None)
    errors = []
    for _ in range(3000):
        X = rng.normal(size=(1, 3, 1))
        costs = np.abs(X[..., 0])
        prediction, _ = job.algorithm.decide(state, X)
        errors.append(float(((prediction - costs) ** 2).mean()))
        state = job.algorithm.update(state, X, costs, {})
    assert np.mean(errors[-500:]) < 0.25 * np.mean(errors[:100])


def test_auto_takes_the_general_engine() -> None:
    assert isinstance(composed_job("predictor=mlp").engine, TorchEngine)
