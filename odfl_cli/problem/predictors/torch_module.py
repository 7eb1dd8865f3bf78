"""`predictor=torch`: a user's module, by name or as an object, with weights from safetensors files."""

import copy
import inspect
from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from pydantic import ConfigDict
from pydantic.dataclasses import dataclass
from safetensors import SafetensorError
from safetensors.torch import load

from odfl_cli.core.errors import UserError, message
from odfl_cli.core.settings import CONFIG, Positive
from odfl_cli.core.streams import Draw, draw
from odfl_cli.core.text import did_you_mean
from odfl_cli.problem.predictors.inspection import inspect_module
from odfl_cli.problem.predictors.module import ModulePredictor, Network, learnt_parameters

STREAM = "predictor/initial"
KEY = "predictor.module"


@dataclass(frozen=True, kw_only=True, config=ConfigDict(**CONFIG | {"extra": "allow"}))
class TorchModule:
    """Any torch.nn.Module that maps the features of a round to d costs.

    `module` is the dotted name of a class, or a class: every other key is an argument of its
    constructor, which draws initial parameters for every seed. Or it is a module, whose parameters
    are the initial ones for every seed, as are those of the file `weights`. Θ is the ball of radius
    `radius` (empty: theta_radius) around the initial parameters.
    """

    module: Any
    weights: str | None = None
    radius: Positive | None = None

    def prepared(
        self, items: int, shape: tuple[int, ...], key: str | None = None
    ) -> ModulePredictor:
        """The predictor of d = `items` costs from X of that shape; errors begin with `key`."""
        make = self._maker()
        named = self.module if isinstance(self.module, str) else _name(self.module)
        key = key or f"{KEY}={named}"
        network = inspect_module(make(0), items, shape, key)
        one_start = isinstance(self.module, torch.nn.Module) or self.weights
        build = (lambda seed: network) if one_start else partial(_build_network, make, network)
        return ModulePredictor(key, cache(build), self.radius, (network,))

    def _maker(self) -> Callable[[int], torch.nn.Module]:
        """The function that makes the module of a seed."""
        arguments = {k: v for k, v in vars(self).items() if k not in self.__dataclass_fields__}
        if isinstance(self.module, torch.nn.Module):
            if arguments:
                raise UserError(f"predictor.{min(arguments)}: the module is an object already")
            return lambda seed: load_weights(self.module, self.weights)
        constructor = _constructor(self.module)
        keys = {"weights": self.weights, "radius": self.radius}
        _check_arguments(constructor, arguments, keys)
        return lambda seed: load_weights(_construct(constructor, arguments, seed), self.weights)


def _build_network(make: Callable[[int], torch.nn.Module], first: Network, seed: int) -> Network:
    """The network of a seed, with a module like that of seed 0."""
    module = make(seed)
    shapes, expected = ([p.shape for p in learnt_parameters(m)] for m in (module, first.module))
    if shapes != expected:
        raise UserError(f"{KEY}: its parameters have other shapes for seed {seed} than for seed 0")
    return first.with_module(module)


def _constructor(module: Any) -> Callable[..., Any]:
    """The class of modules, from its name or itself."""
    if not isinstance(module, str):
        if callable(module):
            return module
        raise UserError(f"{KEY}: {_name(module)} is not a torch module")
    home, _, name = module.rpartition(".")
    try:
        found = getattr(import_module(home), name)
    except (Exception, SystemExit) as error:  # in the user's file
        raise UserError(
            f"{KEY}={module}: {message(error)}; give package.Class, importable from here"
        ) from error
    if not (inspect.isclass(found) and issubclass(found, torch.nn.Module)):
        raise UserError(f"{KEY}={module}: it is not a class of torch modules")
    return found


def _check_arguments(
    constructor: Callable[..., Any], arguments: dict[str, Any], reserved: dict[str, Any]
) -> None:
    """Raises for keys that the constructor does not accept, lacks, or shares with the `reserved` ones of the predictor."""
    name, signature = _name(constructor), inspect.signature(constructor)
    known = signature.parameters
    for key in reserved.keys() & known:
        if reserved[key] is not None or known[key].default is inspect.Parameter.empty:
            raise UserError(
                f"predictor.{key}: an argument of {name} has the name of this key of "
                f"predictor=torch; rename it, or give partial({name}, {key}=…) in Python"
            )
    takes_all = any(p.kind is p.VAR_KEYWORD for p in known.values())
    if unknown := [key for key in arguments if key not in known and not takes_all]:
        near = did_you_mean(unknown[0], known)
        raise UserError(f"predictor.{unknown[0]}: {name} takes no such argument; {near}")
    try:
        signature.bind(**arguments)
    except TypeError as error:
        raise UserError(f"{KEY}: {name}: {error}; add it as +predictor.<argument>=…") from error


def _construct(
    constructor: Callable[..., Any], arguments: dict[str, Any], seed: int
) -> torch.nn.Module:
    """The module that the constructor draws for the seed; torch's generator is not changed."""
    uniform = draw((seed,), STREAM, Draw("uniform"))[0, 0]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(uniform * 2**53))
        try:
            module = constructor(**arguments)
        except (Exception, SystemExit) as error:
            raise UserError(f"{KEY}: {_name(constructor)}: {message(error)}") from error
    if not isinstance(module, torch.nn.Module):
        raise UserError(f"{KEY}: {_name(constructor)} makes no torch module")
    return module


def _name(part: Any) -> str:
    """The class of an object, or the name of a class or function."""
    part = getattr(part, "func", part)
    return getattr(part, "__name__", type(part).__name__)


def load_weights(module: torch.nn.Module, file: str | None) -> torch.nn.Module:
    """The module, or with a file a copy in double precision with the weights of the file."""
    if file is None:
        return module
    key, path = f"predictor.weights={file}", Path(file)
    if not path.is_file():
        raise UserError(f"{key}: there is no such file")
    try:
        found = load(path.read_bytes())
    except OSError as error:
        raise UserError(f"{key}: {error.strerror}") from error
    except SafetensorError as error:
        raise UserError(
            f"{key}: not a safetensors file; "
            "pickles are not loaded, write it with safetensors.torch.save_file"
        ) from error
    if "trace.cost" in found:  # the state of a run
        named = {name.partition(".")[::2]: tensor for name, tensor in found.items()}
        found = {name: tensor for (part, name), tensor in named.items() if part == "module"}
    module = copy.deepcopy(module).double()
    needed = module.state_dict()
    for name in sorted(needed.keys() ^ found.keys()):
        place = "the file lacks" if name in needed else "the module has no"
        raise UserError(f"{key}: {place} {name}")
    for name, tensor in needed.items():
        if tensor.shape != found[name].shape:
            shapes = f"{list(found[name].shape)}, the module needs {list(tensor.shape)}"
            raise UserError(f"{key}: {name} has shape {shapes}")
        if not bool(torch.isfinite(found[name]).all()):
            raise UserError(f"{key}: {name} holds numbers that are not finite")
    module.load_state_dict(found)
    return module
