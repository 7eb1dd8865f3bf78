"""Weights of modules in safetensors files, which hold numbers and nothing that is executed."""

import copy
import os
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

from odfl_cli.core.errors import UserError


def load_weights(module: torch.nn.Module, file: str | None) -> torch.nn.Module:
    """The module, or a copy in double precision with the weights of the file, if there is one."""
    if file is None:
        return module
    module = copy.deepcopy(module).double()
    key, own, found = f"predictor.weights={file}", module.state_dict(), read_weights(file)
    for name in sorted(own.keys() ^ found.keys()):
        place = "the file lacks" if name in own else "the module has no"
        raise UserError(f"{key}: {place} {name}")
    for name, tensor in own.items():
        if tensor.shape != found[name].shape:
            shapes = f"{list(found[name].shape)}, the module needs {list(tensor.shape)}"
            raise UserError(f"{key}: {name} has shape {shapes}")
        if not bool(torch.isfinite(found[name]).all()):
            raise UserError(f"{key}: {name} holds numbers that are not finite")
    module.load_state_dict(found)
    return module


def read_weights(file: str) -> dict[str, torch.Tensor]:
    """Name → tensor, or a UserError for what is not such a file."""
    if not os.path.isfile(file):
        raise UserError(f"predictor.weights={file}: there is no such file")
    try:
        return load(Path(file).read_bytes())
    except OSError as error:
        raise UserError(f"predictor.weights={file}: {error.strerror}") from error
    except SafetensorError as error:
        raise UserError(
            f"predictor.weights={file}: not a safetensors file; "
            "pickles are not loaded, write it with safetensors.torch.save_file"
        ) from error


def packed_weights(module: torch.nn.Module) -> bytes:
    """The content of a safetensors file with the module's state_dict."""
    return save({name: tensor.clone().contiguous() for name, tensor in module.state_dict().items()})
