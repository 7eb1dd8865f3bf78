"""What a module must be to serve as a predictor: tried before the first round."""

import copy
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch.func import vmap

from odfl_cli.core.errors import UserError, message
from odfl_cli.core.streams import Draw, draw
from odfl_cli.problem.predictors.module import Apply, Evaluation, Model

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


def inspected(module: torch.nn.Module, items: int, shape: tuple[int, ...], key: str) -> Evaluation:
    """The module in double precision as a function, or a UserError that begins with `key`."""
    module = copy.deepcopy(module).double()
    _check_parameters(module, key)
    probes = torch.from_numpy(draw((0,), PROBE, Draw("normal", shape), 0, PROBES)[0])
    with _refusing(key), torch.no_grad(), torch.random.fork_rng(devices=[]):
        apply = _way_to_call(module, items, probes[0], key)
        _check_pure(module, apply, probes, key)
        evaluation = Evaluation(module, items, shape, apply)
        _check_batches(evaluation, probes, key)
    return evaluation


def _check_parameters(module: torch.nn.Module, key: str) -> None:
    """There are some, of real finite numbers."""
    learnt = [(n, p) for n, p in module.named_parameters() if p.requires_grad and p.numel()]
    if not learnt:
        raise UserError(f"{key}: it has no parameters that can be learnt")
    for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
        if tensor.is_complex():
            raise UserError(f"{key}: {name} is complex")
        if not bool(torch.isfinite(tensor).all()):
            raise UserError(f"{key}: {name} holds numbers that are not finite")


def _way_to_call(module: torch.nn.Module, items: int, X: torch.Tensor, key: str) -> Apply:
    """The first way in which the module gives d costs."""
    reasons = []
    for apply in (whole_round, batch_of_one, item_by_item):
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
    before = copy.deepcopy(module.state_dict())
    first = [apply(module, X) for X in probes]
    again = [apply(module, X) for X in reversed(probes)][::-1]
    for name, tensor in module.state_dict().items():
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


def _check_batches(evaluation: Evaluation, probes: torch.Tensor, key: str) -> None:
    """Several seeds at once give what each gives alone, value and gradient."""
    vector = torch.from_numpy(evaluation.layout.flat(evaluation.module))[None]
    theta = torch.zeros(len(probes), evaluation.layout.learnt, dtype=torch.float64)
    v = torch.ones(len(probes), evaluation.items, dtype=torch.float64)
    for function, more in ((evaluation.value, ()), (evaluation.pull, (v,))):
        together = function(vector, theta, probes, *more)
        for row in range(len(probes)):
            part = slice(row, row + 1)
            alone = function(vector, theta[part], probes[part], *(x[part] for x in more))
            if not torch.allclose(alone[0], together[row], rtol=1e-9, atol=1e-9):
                raise UserError(f"{key}: a seed's costs depend on the seeds beside it")
            if not bool(torch.isfinite(alone).all()):
                raise UserError(f"{key}: its costs or their gradient are not finite at first")


@contextmanager
def _refusing(key: str) -> Iterator[None]:
    """Errors of the module as one line."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        raise UserError(f"{key}: {message(error)}"[:300]) from error
