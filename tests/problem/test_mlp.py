"""The network: the linear predictor as a special case, its start, and what it can fit."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save
from support.problems import composed_job, finite_difference

from odfl_cli.engine.torch_engine import TorchEngine
from odfl_cli.problem.predictors.base import Predictor
from odfl_cli.problem.predictors.mlp import MLP
from odfl_cli.runs.simulate import simulate

SHAPES = [MLP(depth=1), MLP(depth=2, width=5), MLP(depth=3, width=4, bias=False)]
D, P = 4, 3


def random(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def by_hand(mlp: MLP, parameters: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Layer by layer: weights row by row, then the biases."""
    sizes = [X.shape[-1], *[mlp.width] * (mlp.depth - 1), 1]
    signal, taken = X, 0
    for layer, (inputs, outputs) in enumerate(pairwise(sizes)):
        weights = parameters[taken : (taken := taken + inputs * outputs)].reshape(outputs, inputs)
        bias = parameters[taken : (taken := taken + outputs * mlp.bias)]
        signal = signal @ weights.T + (bias if mlp.bias else 0.0)
        if layer < mlp.depth - 1:
            signal = np.tanh(signal) if mlp.activation == "tanh" else np.maximum(signal, 0)
    return signal[..., 0]


@pytest.mark.parametrize("activation", ["tanh", "relu"])
@pytest.mark.parametrize("mlp", SHAPES, ids=lambda mlp: f"depth{mlp.depth}")
def test_value_and_gradient(mlp: MLP, activation: str) -> None:
    mlp = MLP(depth=mlp.depth, width=mlp.width, bias=mlp.bias, activation=activation)
    predictor = mlp.prepared(D, (D, P))
    theta, X, v = random(predictor.parameter_count(D, P)), random(D, P, seed=1), random(D, seed=2)
    start = predictor.networks[0].initial.numpy()
    np.testing.assert_allclose(
        predictor.predict(theta, X), by_hand(mlp, start + theta, X), rtol=1e-12, atol=1e-12
    )
    slope = finite_difference(lambda at: v @ by_hand(mlp, start + at, X), theta)
    np.testing.assert_allclose(predictor.vjp(theta, X, v), slope, atol=1e-7)


def test_a_file_of_weights_is_the_start_and_its_radius_that_of_the_set(tmp_path: Path) -> None:
    common = "algo=pf_ogd", "predictor=mlp", "predictor.width=3", "horizon.rounds=20", "seeds=2"
    job = composed_job(*common)
    played = simulate(job)
    learnt = job.algorithm.problem.predictor.trained_module(played.state.theta[1], 1)
    file = tmp_path / "seed-1.safetensors"
    file.write_bytes(save(learnt.state_dict()))
    again = composed_job(*common, f"predictor.weights={file}", "predictor.radius=7").algorithm
    assert again.problem.theta_set.radius == 7
    X, zero = random(5, 10), np.zeros(again.problem.parameters)
    expected = learnt(torch.from_numpy(X))[:, 0].detach().numpy()
    np.testing.assert_allclose(again.problem.predictor.predict(zero, X), expected, rtol=1e-13)
    assert np.abs(expected).max() > 1e-3  # the fixed start predicts 0


@pytest.mark.parametrize("mlp", SHAPES, ids=lambda mlp: f"depth{mlp.depth}")
def test_zero_predicts_nothing_and_still_learns(mlp: MLP) -> None:
    predictor: Predictor = mlp.prepared(D, (D, P))
    m = predictor.parameter_count(D, P)
    X, v = random(D, P), random(D, seed=1)
    np.testing.assert_array_equal(predictor.predict(np.zeros(m), X), np.zeros(4))
    assert np.abs(predictor.vjp(np.zeros(m), X, v)).max() > 0


@pytest.mark.thorough
def test_a_network_fits_what_a_line_cannot() -> None:
    """c = |x|: the best line through the origin is zero."""
    settings = ("horizon.rounds=1500", "seeds=2", "engine=torch", "theta_radius=10")
    common = ("algo=pf_ogd", "algo.eta=0.02", "data.features=1", "data.items=3", *settings)
    job = composed_job(*common, "predictor=mlp")
    rng = np.random.default_rng(0)
    state = job.algorithm.init(1, None)
    errors = []
    for _ in range(1500):
        X = rng.normal(size=(1, 3, 1))
        costs = np.abs(X[..., 0])
        prediction, _ = job.algorithm.decide(state, X)
        errors.append(float(((prediction - costs) ** 2).mean()))
        state = job.algorithm.update(state, X, costs, {})
    assert np.mean(errors[-500:]) < 0.25 * np.mean(errors[:100])


def test_auto_takes_the_general_engine() -> None:
    assert isinstance(composed_job("predictor=mlp").engine, TorchEngine)
