"""Checks before the first round that a module can serve as a predictor."""

import copy
import logging
import warnings
from dataclasses import replace

import torch

from odfl_cli.core.errors import UserError, message
from odfl_cli.core.streams import Draw, draw
from odfl_cli.problem.predictors.module import Call, Network, initial_parameters

log = logging.getLogger("odfl")

PROBE, PROBES = "predictor/probe", 3


CALLS: tuple[Call, ...] = (
    lambda model, X: model(X),
    lambda model, X: model(X[None]),
    lambda model, X: torch.stack([model(x) for x in X]),
)
"""Calls with the X of a round, with a batch of one, or with the features of one item after another."""


def inspect_module(
    module: torch.nn.Module, items: int, shape: tuple[int, ...], key: str
) -> Network:
    """The network of a copy in double precision; raises a UserError that begins with `key`."""
    try:
        with torch.random.fork_rng(devices=[]):
            module = copy.deepcopy(module).double()
            _check_parameters(module, key)
            probes = torch.from_numpy(draw((0,), PROBE, Draw("normal", shape), 0, PROBES)[0])
            with torch.no_grad():
                call = _find_call(module, items, probes[0], key)
                _check_pure(module, call, probes, key)
            network = Network(module, items, shape, call, initial_parameters(module))
            return replace(network, batched=_can_batch(network, probes, key))
    except UserError:
        raise
    except (Exception, SystemExit) as error:  # of the module
        raise UserError(f"{key}: {message(error)}"[:300]) from error


def _tensors(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    return dict(module.named_parameters()) | dict(module.named_buffers())


def _check_parameters(module: torch.nn.Module, key: str) -> None:
    """Raises for a module without parameters, or with some that are not real and finite."""
    if any(isinstance(p, torch.nn.UninitializedParameter) for p in module.parameters()):
        raise UserError(f"{key}: it has lazy layers; give their sizes, or call it once before")
    if not any(p.requires_grad and p.numel() for p in module.parameters()):
        raise UserError(f"{key}: it has no parameters that can be learnt")
    for name, tensor in _tensors(module).items():
        if tensor.is_complex():
            raise UserError(f"{key}: {name} is complex")
        if not bool(torch.isfinite(tensor).all()):
            raise UserError(f"{key}: {name} holds numbers that are not finite")


def _find_call(module: torch.nn.Module, items: int, X: torch.Tensor, key: str) -> Call:
    """The first of CALLS for which the module returns d costs."""
    reasons = []
    for call in CALLS:
        try:
            output = call(module, X)
        except Exception as error:
            reasons.append(message(error))
            continue
        if not isinstance(output, torch.Tensor):
            reasons.append(f"it returns {type(output).__name__}, not a tensor")
        elif output.numel() != items:
            reasons.append(f"it gives {output.numel()} costs")
        else:
            return call
    raise UserError(
        f"{key}: {items} costs are needed from X of shape {list(X.shape)}; {reasons[0]}"
    )


def _check_pure(module: torch.nn.Module, call: Call, probes: torch.Tensor, key: str) -> None:
    """Raises for a module whose costs depend on more than X and its parameters, or that changes them."""
    before, given = copy.deepcopy(_tensors(module)), probes.clone()
    first = [call(module, X) for X in probes]
    again = [call(module, X) for X in reversed(probes)][::-1]
    if not torch.equal(probes, given):
        raise UserError(f"{key}: calling it changes X in place; let it copy X first")
    for name, tensor in _tensors(module).items():
        if not torch.equal(tensor, before[name]):
            raise UserError(
                f"{key}: calling it changes {name}, as batch normalisation does; "
                "use a layer without running statistics, or call .eval() in its constructor"
            )
    if not all(bool(torch.isfinite(costs).all()) for costs in first):
        raise UserError(f"{key}: it gives costs that are not finite")
    if any(not torch.equal(one, other) for one, other in zip(first, again, strict=True)):
        raise UserError(
            f"{key}: the same X gives different costs: it is random, as dropout is, or remembers "
            "earlier calls; leave that out, or call .eval() in its constructor"
        )


def _can_batch(network: Network, probes: torch.Tensor, key: str) -> bool:
    """True if vmap supports the module and agrees with plain calls near θ = 0."""
    m = len(network.initial)
    theta = 0.01 * torch.from_numpy(draw((0,), PROBE, Draw("normal", (m,)), 0, 1)[0, 0])
    v = torch.ones(len(probes), network.items, dtype=torch.float64)
    plain = network.predict(theta, probes), network.vjp(theta, probes, v)
    if not all(bool(torch.isfinite(values).all()) for values in plain):
        raise UserError(f"{key}: its costs or their gradient are not finite at first")
    network = replace(network, batched=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # torch warns if it batches by a slow loop
            batched = network.predict(theta, probes), network.vjp(theta, probes, v)
    except Exception as error:  # no batching rule, or a branch on values
        log.info("%s: rounds one after another: %s", key, message(error))
        return False
    near = [1e-9 * max(1.0, float(values.abs().max())) for values in plain]
    return all(
        torch.allclose(one, other, rtol=0, atol=atol)
        for one, other, atol in zip(plain, batched, near, strict=True)
    )
