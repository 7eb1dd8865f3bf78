"""Devices and precisions of the torch engine, tried where there is no accelerator."""

import logging
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch
from support import networks
from support.problems import block_of, composed_job
from support.samples import marked, some_of

from odfl_cli.core.arrays import map_arrays
from odfl_cli.core.errors import UserError
from odfl_cli.engine.compiled_engine import CompiledEngine
from odfl_cli.engine.torch_engine import TorchEngine
from odfl_cli.problem.predictors.torch_module import TorchModule
from odfl_cli.runs.simulate import Job, simulate

SIZES = ("data.items=4", "data.features=3", "horizon.rounds=12", "seeds=5")
NET = ("predictor=torch", "predictor.module=support.networks.TwoLayers", "+predictor.features=3")


def job_of(algo: str, *more: str) -> Job:
    return composed_job(f"algo={algo}", *SIZES, "engine=torch", *more)


@pytest.mark.parametrize(
    ("algo", "predictor"),
    marked(
        product(["pf_ogd", "spo", "df_ogd", "fenchel_young", "perturbed"], ["linear", "module"]),
        {("spo", "linear"), ("df_ogd", "module"), ("perturbed", "linear")}.__contains__,
    ),
)
def test_every_tensor_of_a_round_is_on_the_device(algo: str, predictor: str) -> None:
    """Meta tensors stand in for a device: torch refuses operations on tensors of two devices."""
    job = job_of(algo, *(NET if predictor == "module" else ()))
    algorithm = replace(job.algorithm, problem=job.algorithm.problem.for_seeds(job.seeds))
    rounds, draws = block_of(job, 0, 1)
    with torch.inference_mode():
        fake = lambda x: torch.empty(x.shape, dtype=torch.float32, device="meta")  # noqa: E731
        state = map_arrays(algorithm.init(5, None), np.ndarray, fake)
        X, costs = fake(rounds.X[:, 0]), fake(rounds.costs[:, 0])
        prediction, decision = algorithm.decide(state, X)
        now = {name: fake(values[:, 0]) for name, values in draws.items()}
        after = algorithm.update(state, X, costs, now)
    for tensor in (prediction, decision, after.theta):
        assert tensor.device.type == "meta"
        assert tensor.dtype == torch.float32
    assert after.theta.shape == state.theta.shape


def test_a_module_is_evaluated_where_its_features_are() -> None:
    part = TorchModule(module=networks.TwoLayers, features=3)
    predictor = part.prepared(4, (4, 3)).for_seeds((0, 1))
    m = predictor.parameter_count(4, 3)
    theta, X, v = (torch.empty(2, *shape, device="meta") for shape in ((m,), (4, 3), (4,)))
    assert predictor.predict(theta, X).device.type == "meta"
    assert predictor.vjp(theta, X, v).shape == (2, m)


@pytest.mark.parametrize("algo", some_of(["pf_ogd", "df_ogd", "df_ftpl"], 1))
@pytest.mark.thorough
def test_single_precision_is_near_double_precision(algo: str) -> None:
    double, single = (
        simulate(job_of(algo, *NET, f"engine.dtype={dtype}")) for dtype in ("float64", "float32")
    )
    np.testing.assert_allclose(single.state.theta, double.state.theta, atol=1e-4)
    assert np.abs(single.state.theta - double.state.theta).max() > 1e-12
    assert single.state.theta.dtype == single.table["cost"].dtype == np.float64


def test_the_device_is_told_at_the_start(caplog, capsys) -> None:
    with caplog.at_level(logging.INFO, logger="odfl"):
        simulate(job_of("pf_ogd", "engine.dtype=float32"))
    assert "torch on cpu, float32" in caplog.text
    assert "torch on cpu, float32" in capsys.readouterr().err


@pytest.mark.parametrize("device", ["abacus", "cuda:99", "meta", "mps"])
def test_a_device_that_is_not_there_is_refused_when_the_job_is_built(device: str) -> None:
    if device == "mps" and torch.backends.mps.is_available():
        pytest.skip("there is one")
    with pytest.raises(UserError, match=f"engine.device={device}: .") as refusal:
        composed_job("engine=auto", f"engine.device={device}")
    assert "\n" not in str(refusal.value)


def test_single_precision_means_torch() -> None:
    assert isinstance(composed_job().engine, CompiledEngine)
    assert composed_job("engine.dtype=float32").engine == TorchEngine(dtype="float32")
