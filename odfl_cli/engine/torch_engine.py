"""The general engine: one round after another on torch tensors, all seeds at once."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np

from odfl_cli.algorithms import Algorithm
from odfl_cli.core.arrays import dot, map_arrays
from odfl_cli.core.errors import RoundError, RowError, UserError
from odfl_cli.core.settings import settings
from odfl_cli.engine.base import KAPPA_GAP, NEWTON_STEPS, Trace, counting, noted
from odfl_cli.environments import Rounds
from odfl_cli.problem.problem import predicted_gap


@settings
class TorchEngine:
    """Calls decide and update per round; takes any algorithm, predictor and device."""

    device: str = "cpu"
    name: ClassVar[str] = "torch"

    def choose(self, algorithm: Algorithm) -> "TorchEngine":
        """Itself, for any algorithm; a UserError for a device that torch does not have."""
        if self.device != "cpu":
            self._probe()
        return self

    def start(self, algorithm: Algorithm) -> None:
        """Imports torch."""
        self._probe()

    def _probe(self) -> None:
        import torch

        try:
            torch.zeros(1, device=self.device, dtype=torch.float64).cpu().numpy()
        except (RuntimeError, AssertionError, TypeError, NotImplementedError) as error:
            raise UserError(f"engine.device={self.device}: {str(error).splitlines()[0]}") from error

    def advance(
        self, algorithm: Algorithm, state: Any, rounds: Rounds, draws: dict[str, np.ndarray]
    ) -> tuple[Any, Trace]:
        """Runs the block without autograd: every gradient is a closed form."""
        import torch

        tensor = lambda array: torch.from_numpy(array).to(self.device)  # noqa: E731
        X, costs = tensor(rounds.X), tensor(rounds.costs)
        drawn = {name: tensor(values) for name, values in draws.items()}
        names = noted(algorithm)
        algorithm, counter = counting(algorithm, len(costs))
        paid, errors, *noted_values = costs.new_empty((2 + len(names), *costs.shape[:2]))
        notes = dict(zip(names, noted_values, strict=True))
        with torch.inference_mode(), np.errstate(all="ignore"), _one_thread():
            state = map_arrays(state, np.ndarray, tensor)
            for i in range(costs.shape[1]):
                X_t, c_t = X[:, i], costs[:, i]
                learned = algorithm.problem.learned(c_t, X_t)
                draws_t = {name: values[:, i] for name, values in drawn.items()}
                try:
                    prediction, decision = algorithm.decide(state, X_t)
                    state = algorithm.update(state, X_t, learned, draws_t)
                except RowError as error:  # the first axis is the seeds
                    seed = error.row * len(costs) // error.rows
                    raise RoundError(i, seed, str(error)) from error
                paid[:, i] = dot(c_t, decision)
                errors[:, i] = algorithm.problem.squared_error(prediction, learned)
                for name in algorithm.noted:
                    notes[name][:, i] = getattr(state, name)
                if counter:
                    notes[NEWTON_STEPS][:, i] = tensor(counter.take())
                if KAPPA_GAP in notes:
                    polytope = algorithm.problem.polytope
                    notes[KAPPA_GAP][:, i] = predicted_gap(polytope, prediction, decision)
            state = map_arrays(state, torch.Tensor, lambda x: x.cpu().numpy())
        kept = {name: values.cpu().numpy() for name, values in notes.items()}
        return state, Trace(paid.cpu().numpy(), errors.cpu().numpy(), kept)


@contextmanager
def _one_thread() -> Iterator[None]:
    """One thread is faster for small tensors, and a split reduction changes the last digits."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
