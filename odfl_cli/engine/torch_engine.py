"""The engine with torch tensors: for torch modules, other devices and single precision."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Literal

import numpy as np

from odfl_cli.algorithms.base import Algorithm
from odfl_cli.core.arrays import map_arrays
from odfl_cli.core.errors import UserError
from odfl_cli.core.settings import PositiveInt, settings
from odfl_cli.core.text import tell
from odfl_cli.engine.base import Draws, Engine, Trace
from odfl_cli.engine.groups import Group, join, split
from odfl_cli.engine.mixture_engine import mixture_engine
from odfl_cli.engine.rounds import play_rounds
from odfl_cli.environments.base import Rounds

log = logging.getLogger("odfl")

Dtype = Literal["float64", "float32"]


@settings
class TorchEngine(Engine):
    """Calls decide and update per round; takes any algorithm, predictor and device.

    Arrays outside the engine have double precision; `dtype` is that of the tensors. `seeds_at_once`
    limits how many seeds are played together, and so the memory of the device; empty: all.
    """

    device: str = "cpu"
    dtype: Dtype = "float64"
    seeds_at_once: PositiveInt | None = None
    name: ClassVar[str] = "torch"

    def choose(self, algorithm: Algorithm) -> Engine:
        """Itself, for any algorithm; raises a UserError for an unknown device."""
        self._probe()
        return mixture_engine(algorithm, self) or self

    def start(self, algorithm: Algorithm) -> None:
        place = f"torch on {self._probe()}, {self.dtype}"
        log.info(place)
        if (self.device, self.dtype) != ("cpu", "float64"):
            tell(place)

    def _probe(self) -> str:
        """The device's name; raises a UserError if it does not support the dtype."""
        import torch

        try:
            probe = torch.zeros(1, device=self.device, dtype=getattr(torch, self.dtype))
            probe.cpu().numpy()
        except (RuntimeError, AssertionError, TypeError, NotImplementedError) as error:
            reason = (str(error) or "torch cannot use it").splitlines()[0].partition(". ")[0]
            raise UserError(f"engine.device={self.device}: {reason}") from error
        if probe.device.type == "cuda":
            return f"{probe.device} ({torch.cuda.get_device_name(probe.device)})"
        return str(probe.device)

    def play(self, algorithm: Any, state: Any, rounds: Rounds, draws: Draws) -> tuple[Any, Trace]:
        seeds, size = len(rounds.costs), self.seeds_at_once
        if not size or size >= seeds:
            return self._play_together(algorithm, state, rounds, draws)
        groups = split(Group(algorithm, state, rounds, draws), size)
        return join((self._play_together(*group) for group in groups), size)

    def _to_tensor(self, values: np.ndarray) -> Any:
        """A tensor on the device, real numbers in the engine's precision."""
        import torch

        tensor = torch.from_numpy(values)
        dtype = getattr(torch, self.dtype) if tensor.is_floating_point() else tensor.dtype
        return tensor.to(self.device, dtype)

    def _play_together(
        self, algorithm: Algorithm, state: Any, rounds: Rounds, draws: Draws
    ) -> tuple[Any, Trace]:
        """Plays all seeds at once, in tensors."""
        import torch

        tensor = self._to_tensor
        drawn = {name: tensor(values) for name, values in draws.items()}
        with torch.inference_mode(), _one_thread():
            state = map_arrays(state, np.ndarray, tensor)
            X, costs = map(tensor, rounds)
            state, trace = play_rounds(algorithm, state, X, costs, drawn)
            return map_arrays(state, torch.Tensor, _to_array), trace


def _to_array(tensor: Any) -> np.ndarray:
    """A numpy array, real numbers in double precision."""
    tensor = tensor.cpu()
    return (tensor.double() if tensor.is_floating_point() else tensor).numpy()


@contextmanager
def _one_thread() -> Iterator[None]:
    """Limits torch to one thread: faster for small tensors, and split reductions change the last digits."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
