"""Torch modules as predictors: their numbers, their gradients, their starts, and what is refused."""

import os
import pickle
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from support import networks
from support.problems import choices, composed_job
from support.samples import marked, some_of

from odfl_cli import UserError, run
from odfl_cli.algorithms.base import on_problem
from odfl_cli.problem.predictors.linear import Linear
from odfl_cli.problem.predictors.torch_module import TorchModule
from odfl_cli.runs.simulate import Job, simulate

D, P, SEEDS = 5, 4, (2, 5, 11)
HOME = "support.networks"


def predictor_of(name: str, **arguments):
    return TorchModule(module=f"{HOME}.{name}", **arguments).prepared(D, (D, P))


def game(m: int, *lead: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    return rng.normal(size=(*lead, m)), rng.normal(size=(*lead, D, P)), rng.normal(size=(*lead, D))


def job_of(algo: str, *more: str) -> Job:
    sizes = (f"data.items={D}", f"data.features={P}", "horizon.rounds=10", "engine=torch")
    return replace(composed_job(f"algo={algo}", *sizes, *more), seeds=SEEDS)


LINEAR = ("predictor=torch", f"predictor.module={HOME}.Linear", f"+predictor.features={P}")
WITHOUT_MODULES = {"df_moments", "guard", "vote", "rls"}
WITHOUT_MODULES |= {"dfhpg", "epsilon_greedy", "explore_then_commit", "thompson", "ucb"}
"""Refuse every module: they need the predictor's design matrix."""


@pytest.mark.parametrize("algo", some_of(sorted(set(choices("algo")) - WITHOUT_MODULES), 3))
def test_a_linear_module_is_the_linear_predictor(algo: str) -> None:
    linear, module = simulate(job_of(algo)), simulate(job_of(algo, *LINEAR))
    for column, values in linear.table.items():
        np.testing.assert_allclose(module.table[column], values, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(module.state.theta, linear.state.theta, atol=1e-9)


class WithoutDesign:
    """The linear predictor as any other: comparators are then found by gradients alone."""

    parameter_count, predict, vjp = Linear().parameter_count, Linear().predict, Linear().vjp


@pytest.mark.thorough
def test_regret_and_kappa_are_those_of_the_linear_predictor() -> None:
    """The comparators of a module, by autograd, are those by the linear predictor's own gradient."""
    more = ("metrics=full", "metrics.sample=50", "metrics.starts=3", "metrics.steps=5",
            "metrics.evaluations=3", "metrics.oracle=1", "kappa=0.1")  # fmt: skip
    job = job_of("df_ogd", *more)
    plain = replace(job.algorithm.problem, predictor=WithoutDesign())
    linear = simulate(replace(job, algorithm=on_problem(job.algorithm, plain)))
    module = simulate(job_of("df_ogd", *more, *LINEAR))
    assert {"kappa_gap", "static_regret"} <= set(linear.table) == set(module.table)
    for column, values in linear.table.items():
        np.testing.assert_allclose(module.table[column], values, rtol=1e-9, atol=1e-9)


def test_seeds_start_from_parameters_of_their_own_and_keep_them() -> None:
    predictor = predictor_of("TwoLayers", features=P)
    before = torch.get_rng_state()
    first, second = (network.initial for network in predictor.for_seeds((3, 4)).networks)
    assert not np.array_equal(first, second)
    again = predictor_of("TwoLayers", features=P).for_seeds((4,)).networks[0].initial
    np.testing.assert_array_equal(again, second)
    torch.testing.assert_close(torch.get_rng_state(), before)


@pytest.mark.parametrize("algo", marked(sorted(WITHOUT_MODULES), {"rls", "guard"}.__contains__))
def test_what_needs_a_design_matrix_refuses_a_module(algo: str) -> None:
    with pytest.raises(UserError, match="linear in θ"):
        job_of(algo, *LINEAR)


def test_the_true_parameter_means_nothing_to_a_module_that_starts_elsewhere() -> None:
    with pytest.raises(UserError, match="clairvoyant"):
        simulate(job_of("clairvoyant", *LINEAR, "+predictor.zero=false"))


MODULES = {
    "TwoLayers": {"features": P},
    "Batched": {"items": D, "features": P},
    "OfOneItem": {"in_features": P, "out_features": 1},
}
every = pytest.mark.parametrize("name", MODULES)


@every
def test_value_and_gradient_are_those_of_torch(name: str) -> None:
    predictor = predictor_of(name, **MODULES[name])
    m = predictor.parameter_count(D, P)
    theta, X, v = game(m)
    module = predictor.trained_module(theta, seed=0)
    learnt = [p for p in module.parameters() if p.requires_grad]
    given = torch.from_numpy(X)
    rows = [module(x) for x in given] if name == "OfOneItem" else [module(given[None] if name == "Batched" else given)]  # fmt: skip
    output = torch.cat([row.reshape(-1) for row in rows])
    slopes = torch.autograd.grad(output @ torch.from_numpy(v), learnt)
    np.testing.assert_allclose(predictor.predict(theta, X), output.detach(), atol=1e-13)
    expected = torch.cat([slope.reshape(-1) for slope in slopes])
    np.testing.assert_allclose(predictor.vjp(theta, X, v), expected, atol=1e-13)


@every
def test_leading_axes_broadcast_and_seeds_lead(name: str) -> None:
    """One θ and one start per seed against several rounds and several candidates."""
    predictor = predictor_of(name, **MODULES[name]).for_seeds((3, 4))
    m = predictor.parameter_count(D, P)
    theta, X, v = game(m, 2, 6)
    candidates = np.stack([theta[:, :1], 2 * theta[:, :1]])
    predicted, pulled = predictor.predict(candidates, X), predictor.vjp(candidates, X, v)
    assert predicted.shape == (2, 2, 6, D)
    assert pulled.shape == (2, 2, 6, m)
    for c, s, i in product(range(2), range(2), range(6)):
        single = predictor.rows(slice(s, s + 1))
        alone = candidates[c, s, 0], X[s, i]
        np.testing.assert_allclose(predicted[c, s, i], single.predict(*alone), atol=1e-13)
        np.testing.assert_allclose(pulled[c, s, i], single.vjp(*alone, v[s, i]), atol=1e-13)


REFUSED = {
    "WrongLength": ["WrongLength", "5 costs are needed", "15 costs"],
    "Empty": ["Empty", "no parameters"],
    "Poisoned": ["Poisoned", "weight", "not finite"],
    "Undefined": ["Undefined", "costs that are not finite"],
    "WithDropout": ["WithDropout", "random", ".eval()"],
    "WithBatchNorm": ["WithBatchNorm", "running_mean", "batch normalisation"],
    "Remembering": ["Remembering", "remembers"],
    "InPlace": ["InPlace", "changes X"],
    "Lazy": ["Lazy", "lazy layers"],
    "Failing": ["Failing", "no disk"],
    "NOT_A_MODULE": ["NOT_A_MODULE", "not a class of torch modules"],
    "Nothing": ["Nothing", "support.networks"],
    "Linear": ["Linear", "features"],
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_a_predictor_is_refused_in_one_line(name: str) -> None:
    with pytest.raises(UserError) as refusal:
        composed_job("predictor=torch", f"predictor.module={HOME}.{name}")
    line = str(refusal.value)
    assert line.startswith("predictor.module")
    assert "\n" not in line
    assert all(word in line for word in REFUSED[name])


@pytest.mark.parametrize("name", ["WithDropout", "WithBatchNorm"])
def test_layers_that_are_switched_off_are_accepted(name: str) -> None:
    job = composed_job(
        "predictor=torch", f"predictor.module={HOME}.{name}", "+predictor.mode=false", "seeds=2",
        "horizon.rounds=10",
    )  # fmt: skip
    assert np.isfinite(simulate(job).table["cost"]).all()


def test_an_argument_that_the_constructor_lacks_is_named() -> None:
    with pytest.raises(UserError, match=r"predictor\.widht: TwoLayers.*did you mean width"):
        composed_job("predictor=torch", f"predictor.module={HOME}.TwoLayers",
                     f"+predictor.features={P}", "+predictor.widht=4")  # fmt: skip


def test_a_buffer_of_integers_may_be_drawn() -> None:
    predictor = predictor_of("WithBuffers", features=P, shuffled=True).for_seeds((0, 1, 2))
    orders = [network.module.order.tolist() for network in predictor.networks]
    assert len({tuple(order) for order in orders}) > 1
    theta, X, _ = game(P + 1, 3)
    for row, value in enumerate(predictor.predict(theta, X)):
        module = predictor.trained_module(theta[row], row)
        np.testing.assert_allclose(value, module(torch.from_numpy(X[row]))[:, 0].detach())


@pytest.mark.parametrize("kind", some_of(["GRU", "LSTM"], 1))
def test_recurrent_layers_learn_in_both_precisions(kind: str) -> None:
    more = ("predictor=torch", f"predictor.module={HOME}.Recurrent", f"+predictor.features={P}",
            f"+predictor.kind={kind}")  # fmt: skip
    double, single = (
        simulate(job_of("pf_ogd", *more, f"engine.dtype={name}")).state.theta
        for name in ("float64", "float32")
    )
    assert np.abs(double).max() > 1e-3
    np.testing.assert_allclose(single, double, atol=1e-5)


def weights_of(module: torch.nn.Module, file: Path) -> Path:
    save_file(module.state_dict(), file)
    return file


def test_weights_are_read_to_the_last_digit_and_leave_the_module_as_it_was(tmp_path: Path) -> None:
    learnt, module = networks.TwoLayers(P).double(), networks.TwoLayers(P)
    kept = module[0].weight.detach().clone()
    file = weights_of(learnt, tmp_path / "weights.safetensors")
    predictor = TorchModule(module=module, weights=str(file)).prepared(D, (D, P))
    expected = torch.nn.utils.parameters_to_vector(learnt.parameters()).detach()
    for network in predictor.for_seeds((0, 7)).networks:
        np.testing.assert_array_equal(network.initial, expected)
    assert torch.equal(module[0].weight, kept)
    assert module[0].weight.dtype == torch.float32


def bad_weights(kind: str, folder: Path) -> Path:
    file = folder / f"{kind}.safetensors"
    if kind == "pickle":
        file.write_bytes(pickle.dumps(print))
    elif kind == "fifo":
        os.mkfifo(file)
    elif kind == "torch":
        torch.save(networks.TwoLayers(P).state_dict(), file)
    elif kind == "other":
        weights_of(networks.Linear(P), file)
    elif kind == "shape":
        weights_of(networks.TwoLayers(P, width=2), file)
    elif kind == "nan":
        module = networks.TwoLayers(P)
        torch.nn.init.constant_(module[0].weight, float("nan"))
        weights_of(module, file)
    return file


@pytest.mark.parametrize(
    ("kind", "words"),
    {
        "pickle": ["not a safetensors file", "pickles are not loaded"],
        "torch": ["not a safetensors file", "pickles are not loaded"],
        "other": ["the file lacks 0.bias"],  # the first name in the order of the alphabet
        "shape": ["0.weight", "[2, 4]", "[3, 4]"],
        "nan": ["predictor.weights=", "nan.safetensors: 0.weight", "not finite"],
        "missing": ["no such file"],
        "fifo": ["no such file"],
    }.items(),
)
def test_weights_that_do_not_fit_are_refused(kind: str, words: list[str], tmp_path: Path) -> None:
    with pytest.raises(UserError) as refusal:
        predictor_of("TwoLayers", features=P, weights=str(bad_weights(kind, tmp_path)))
    assert all(word in str(refusal.value) for word in words)


class Clash(networks.TwoLayers):
    """An argument has the name of a key of the predictor."""

    def __init__(self, features: int, radius: int = 2) -> None:
        super().__init__(features, width=radius)


def needing_weights(weights: int) -> torch.nn.Module:
    return networks.TwoLayers(weights)


def test_an_argument_with_the_name_of_a_key_is_refused_where_it_is_meant() -> None:
    with pytest.raises(UserError, match=r"^predictor\.radius: an argument of Clash .* rename it"):
        TorchModule(module=partial(Clash, features=P), radius=3.0).prepared(D, (D, P))
    with pytest.raises(UserError, match=r"^predictor\.weights: an argument of needing_weights .*"):
        TorchModule(module=needing_weights).prepared(D, (D, P))
    unset = TorchModule(module=partial(Clash, features=P)).prepared(D, (D, P))
    assert unset.parameter_count(D, P) == 2 * P + 2 + 2 + 1


def test_theta_has_a_radius_of_its_own() -> None:
    wide = composed_job(*LINEAR, f"data.features={P}", "predictor.radius=7")
    assert wide.algorithm.problem.theta_set.radius == 7
    assert composed_job(*LINEAR, f"data.features={P}").algorithm.problem.theta_set.radius == 1


@pytest.mark.thorough
@pytest.mark.parametrize("given", [networks.TwoLayers, partial(networks.TwoLayers, width=2)])
def test_a_class_given_in_python_is_drawn_for_every_seed(given) -> None:
    common = {"algo": "pf_ogd", "data": {"features": P}, "horizon": {"rounds": 20}, "seeds": 3}
    by_object = run(predictor=partial(given, features=P), **common)
    keys = {"module": f"{HOME}.TwoLayers", "+features": P}
    keys |= {f"+{name}": value for name, value in getattr(given, "keywords", {}).items()}
    named = [
        f"{'+' * key.startswith('+')}predictor.{key.lstrip('+')}={value}"
        for key, value in keys.items()
    ]
    by_name = run("predictor=torch", *named, **common)
    np.testing.assert_array_equal(by_object.rows["cost"], by_name.rows["cost"])


def test_a_module_given_in_python_is_where_every_seed_starts() -> None:
    module = networks.TwoLayers(P)
    kept = [p.detach().clone() for p in module.parameters()]
    result = run(
        predictor=module, algo="spo", data={"features": P}, horizon={"rounds": 20}, seeds=2
    )
    assert len(result.final) == 2
    for before, after in zip(kept, module.parameters(), strict=True):
        torch.testing.assert_close(before, after)


def test_the_learnt_module_predicts_what_the_run_would() -> None:
    result = run(predictor=partial(networks.TwoLayers, features=P), algo="pf_ogd",
                 data={"features": P}, horizon={"rounds": 20}, seeds=[3, 8])  # fmt: skip
    job = job_of("pf_ogd", "predictor=torch", f"predictor.module={HOME}.TwoLayers",
                 f"+predictor.features={P}")  # fmt: skip
    problem = job.algorithm.problem.for_seeds((3, 8))
    _, X, _ = game(1, 2)
    expected = problem.predictor.predict(result.state.theta, X)
    for row, seed in enumerate((3, 8)):
        given = result.module(seed)(torch.from_numpy(X[row]))[..., 0]
        np.testing.assert_allclose(given.detach(), expected[row], atol=1e-13)
    with pytest.raises(UserError, match="no seed 4"):
        result.module(4)
    with pytest.raises(UserError, match="Linear is not a torch module"):
        run(algo="pf_ogd", horizon={"rounds": 5}, seeds=1).module(0)
