"""What a module must be to serve as a predictor: tried before the first round."""

import copy
import logging
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from torch.func import vmap

from odfl_cli.core.errors import UserError, message
from odfl_cli.core.streams import Draw, draw
from odfl_cli.problem.predictors.module import Apply, Evaluation, Model, held
from odfl_cli.problem.predictors.tracing import general_operations

log = logging.getLogger("odfl")

PROBE, PROBES = "predictor/probe", 3


def whole_round(model: Model, X: torch.Tensor) -> torch.Tensor:
    """The module is called with the X of the round."""
    return model(X)


def batch_of_one(model: Model, X: torch.Tensor) -> torch.Tensor:
    """With X as the only entry of a batch."""
    return model(X[None])


def item_by_item(model: Model, X: torch.Tensor) -> torch.Tensor:
    """With the features of one item after another."""
    return vmap(model)(X)


def one_item_after_another(model: Model, X: torch.Tensor) -> torch.Tensor:
    """The same without vmap, for what it does not take."""
    return torch.stack([model(x) for x in X])


def inspected(module: torch.nn.Module, items: int, shape: tuple[int, ...], key: str) -> Evaluation:
    """The module in double precision as a function, or a UserError that begins with `key`."""
    module = copy.deepcopy(module).double()
    _check_parameters(module, key)
    probes = torch.from_numpy(draw((0,), PROBE, Draw("normal", shape), 0, PROBES)[0])
    with _refusing(key), torch.no_grad(), torch.random.fork_rng(devices=[]), general_operations():
        apply = _way_to_call(module, items, probes[0], key)
        _check_pure(module, apply, probes, key)
        evaluation = Evaluation(module, items, shape, apply, key)
        try:
            _check_values(evaluation, probes, key)
        except Exception as error:  # no rule of torch's for a batch, or a branch on values
            evaluation = Evaluation(module, items, shape, apply, key, batched=False)
            _check_values(evaluation, probes, key)
            log.info("%s: seeds one after another: %s", key, message(error))
    return evaluation


def _check_parameters(module: torch.nn.Module, key: str) -> None:
    """There are some, of real finite numbers."""
    if any(isinstance(p, torch.nn.UninitializedParameter) for p in module.parameters()):
        raise UserError(f"{key}: it has lazy layers; give their sizes, or call it once before")
    if not any(p.requires_grad and p.numel() for p in module.parameters()):
        raise UserError(f"{key}: it has no parameters that can be learnt")
    for name, tensor in held(module).items():
        if tensor.is_complex():
            raise UserError(f"{key}: {name} is complex")
        if not bool(torch.isfinite(tensor).all()):
            raise UserError(f"{key}: {name} holds numbers that are not finite")


def _way_to_call(module: torch.nn.Module, items: int, X: torch.Tensor, key: str) -> Apply:
    """The first way in which the module gives d costs."""
    reasons = []
    for apply in (whole_round, batch_of_one, item_by_item, one_item_after_another):
        try:
            output = apply(module, X)
        except Exception as error:
            reasons.append(message(error))
            continue
        if not isinstance(output, torch.Tensor):
            reasons.append(f"it returns {type(output).__name__}, not a tensor")
        elif output.numel() != items:
            reasons.append(f"it gives {output.numel()} costs")
        else:
            return apply
    raise UserError(
        f"{key}: {items} costs are needed from X of shape {list(X.shape)}; {reasons[0]}"
    )


def _check_pure(module: torch.nn.Module, apply: Apply, probes: torch.Tensor, key: str) -> None:
    """What it gives depends on X and its parameters alone, and calling it changes nothing."""
    before, given = copy.deepcopy(held(module)), probes.clone()
    first = [apply(module, X) for X in probes]
    again = [apply(module, X) for X in reversed(probes)][::-1]
    if not torch.equal(probes, given):
        raise UserError(f"{key}: calling it changes X in place; let it copy X first")
    for name, tensor in held(module).items():
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


def _check_values(evaluation: Evaluation, probes: torch.Tensor, key: str) -> None:
    """Several rows at once give what the module gives for each, value and gradient, near θ = 0."""
    layout, rows = evaluation.layout, len(probes)
    origin = layout.flat(evaluation.module)
    theta = 0.01 * draw((0,), PROBE, Draw("normal", (layout.learnt,)), 0, rows)[0]
    v = torch.ones(rows, evaluation.items, dtype=torch.float64)
    tensors = torch.from_numpy(origin)[None], torch.from_numpy(theta), probes
    values, slopes = evaluation.value(*tensors), evaluation.pull(*tensors, v)
    for row in range(rows):
        numbers = origin.copy()
        numbers[: layout.learnt] += theta[row]
        value, slope = _plain(evaluation, numbers, probes[row])
        if not bool(torch.isfinite(value).all() and torch.isfinite(slope).all()):
            raise UserError(f"{key}: its costs or their gradient are not finite at first")
        for one, other in ((value, values[row]), (slope, slopes[row])):
            near = 1e-9 * max(1.0, float(one.abs().max()))
            if not torch.allclose(one, other, rtol=0, atol=near):
                raise UserError(f"{key}: torch.func gives other costs or gradients than a call")


def _plain(
    evaluation: Evaluation, numbers: np.ndarray, X: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The costs of one round and the gradient of their sum, by a plain call of the module."""
    layout, module = evaluation.layout, evaluation.layout.filled(evaluation.module, numbers)
    tensors = held(module)
    learnt = [tensors[name] for name in layout.names if tensors[name].requires_grad]
    with torch.enable_grad():
        value = evaluation.apply(module, X).reshape(-1)
        slopes = torch.autograd.grad(value.sum(), learnt, allow_unused=True, materialize_grads=True)
    return value.detach(), torch.cat([slope.reshape(-1) for slope in slopes])


@contextmanager
def _refusing(key: str) -> Iterator[None]:
    """Errors of the module as one line."""
    try:
        yield
    except UserError:
        raise
    except (Exception, SystemExit) as error:
        raise UserError(f"{key}: {message(error)}"[:300]) from error
