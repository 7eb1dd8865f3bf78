"""Every kind of module against a plain loop of torch, and a seed alone against the seed among others."""

from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import pytest
import torch
from support.networks import ZOO, TwoLayers
from support.problems import composed_job
from support.samples import each_once, marked

from odfl_cli import run
from odfl_cli.algorithms.base import on_problem
from odfl_cli.problem.predictors.module import ModulePredictor
from odfl_cli.problem.predictors.torch_module import TorchModule
from odfl_cli.runs.simulate import Job, simulate

ROUNDS, RATE = 30, 0.05
SIZES = list(product((1, 2, 3, 10), (1, 3), (1, 4)))  # seeds, items, features


def rounds_of(seeds: int, items: int, features: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(seeds, ROUNDS, items, features))
    return X, rng.normal(size=(seeds, ROUNDS, items))


def learn(
    predictor: ModulePredictor, X: np.ndarray, costs: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Predictions [S, ROUNDS, d] of gradient descent on ½ ‖g − c‖², round by round, and the last θ."""
    theta = np.zeros((len(X), predictor.parameter_count(*X.shape[-2:])))
    predictions = np.empty_like(costs)
    for t in range(ROUNDS):
        predictions[:, t] = predictor.predict(theta, X[:, t])
        theta -= RATE * predictor.vjp(theta, X[:, t], predictions[:, t] - costs[:, t])
    return predictions, theta


def plain_loop(module: torch.nn.Module, X: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """The same predictions [ROUNDS, d] for one seed by torch's own optimiser; trains the module."""
    optimizer = torch.optim.SGD(module.parameters(), lr=RATE)
    predictions = []
    for x, c in zip(torch.from_numpy(X), torch.from_numpy(costs), strict=True):
        optimizer.zero_grad()
        prediction = module(x).reshape(-1)
        ((prediction - c) ** 2).sum().div(2).backward()
        optimizer.step()
        predictions.append(prediction.detach().numpy())
    return np.stack(predictions)


def plain_gradients(module: torch.nn.Module, X: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(∇_θ g)ᵀ v of every round, [ROUNDS, m]."""
    parameters = [p for p in module.parameters() if p.requires_grad]
    slopes = [
        torch.autograd.grad(module(x).reshape(-1) @ weights, parameters)
        for x, weights in zip(torch.from_numpy(X), torch.from_numpy(v), strict=True)
    ]
    return np.stack([torch.cat([part.reshape(-1) for part in slope]).numpy() for slope in slopes])


@pytest.mark.parametrize(("name", "seeds", "items", "features"), each_once(list(ZOO), SIZES))
def test_rounds_are_those_of_a_plain_loop(name: str, seeds: int, items: int, features: int) -> None:
    """Round by round, and all rounds together with one θ, as the history of DF-FTPL is evaluated."""
    part = TorchModule(module=partial(ZOO[name], features)).prepared(items, (items, features))
    predictor = part.for_seeds(range(seeds))
    X, costs = rounds_of(seeds, items, features)
    predictions, theta = learn(predictor, X, costs)
    together = predictor.predict(theta[:, None], X), predictor.vjp(theta[:, None], X, costs)
    for row in range(seeds):
        module = predictor.trained_module(np.zeros(theta.shape[-1]), row)
        expected = plain_loop(module, X[row], costs[row])
        np.testing.assert_allclose(predictions[row], expected, rtol=0, atol=1e-10)
        outputs = [module(x).reshape(-1).detach() for x in torch.from_numpy(X[row])]
        np.testing.assert_allclose(together[0][row], np.stack(outputs), rtol=0, atol=1e-10)
        slopes = plain_gradients(module, X[row], costs[row])
        np.testing.assert_allclose(together[1][row], slopes, rtol=0, atol=1e-10)


def assert_same_bits(job: Job, *others: Job) -> None:
    """The last seed of every job has the same numbers."""
    expected = simulate(job)
    for other in others:
        found = simulate(other)
        for column, values in expected.table.items():
            np.testing.assert_array_equal(found.table[column][-1], values[-1])
        np.testing.assert_array_equal(found.state.theta[-1], expected.state.theta[-1])


SMALL = ("data.items=3", "data.features=4", "horizon.rounds=6")
NAMES = ["two layers", "conv2d", "gru"]


@pytest.mark.parametrize(("name", "algo"), each_once(NAMES, ["df_ftpl", "spo", "df_ogd"]))
def test_a_seed_alone_has_the_bits_of_the_seed_among_others(name: str, algo: str) -> None:
    job = composed_job(f"algo={algo}", *SMALL, "engine=torch")
    problem = job.algorithm.problem.with_predictor(TorchModule(module=partial(ZOO[name], 4)))
    job = replace(job, algorithm=on_problem(job.algorithm, problem))
    assert_same_bits(*(replace(job, seeds=seeds) for seeds in ((3,), (0, 2, 3))))


@pytest.mark.parametrize("algo", marked(["df_ftpl", "spo", "df_ogd"], "df_ftpl".__eq__))
def test_the_network_has_the_same_bits_however_seeds_are_grouped(algo: str) -> None:
    job = (f"algo={algo}", "predictor=mlp", *SMALL, "engine=torch")
    alone, among = composed_job(*job, "seeds=[3]"), composed_job(*job, "seeds=[0,1,2,4,3]")
    in_pairs = composed_job(*job, "seeds=[0,1,2,4,3]", "engine.seeds_at_once=2")
    assert_same_bits(alone, among, in_pairs)


@pytest.mark.thorough
def test_a_compiled_module_gives_the_numbers_of_the_plain_one() -> None:
    module = TwoLayers(4)
    common = {"algo": "pf_ogd", "data": {"features": 4}, "horizon": {"rounds": 10}, "seeds": 2}
    compiled = run(predictor=torch.compile(module, backend="eager"), **common)
    np.testing.assert_allclose(
        compiled.rows["mse"], run(predictor=module, **common).rows["mse"], rtol=0, atol=1e-12
    )
