"""Modules for the tests: good ones, and one of each kind that is refused."""

import torch
from torch import nn


class Linear(nn.Linear):
    """X θ, from θ = 0 or from what torch draws."""

    def __init__(self, features: int, zero: bool = True) -> None:
        super().__init__(features, 1, bias=False)
        if zero:
            nn.init.zeros_(self.weight)


class TwoLayers(nn.Sequential):
    """A hidden layer between the features and the cost of every item."""

    def __init__(self, features: int, width: int = 3) -> None:
        super().__init__(nn.Linear(features, width), nn.Tanh(), nn.Linear(width, 1))


class WithConstants(nn.Linear):
    """Centres and mixes the features by tensors that it keeps as plain attributes."""

    def __init__(self, features: int) -> None:
        super().__init__(features, 1)
        self.mean = torch.arange(features, dtype=torch.get_default_dtype()) / features
        self.mix = torch.eye(features) + 0.1 * torch.ones(features, features).triu()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        centred = x - self.mean.unsqueeze(0).to(x.dtype)
        return super().forward(centred @ self.mix.t().to(x.dtype))


class OfOneItem(nn.Linear):
    """Takes the features of a single item."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        assert x.ndim == 1
        return super().forward(x)


class Batched(nn.Sequential):
    """Takes a batch of rounds, as most code for images does."""

    def __init__(self, items: int, features: int) -> None:
        super().__init__(nn.Flatten(), nn.Linear(items * features, items))


class HalfFrozen(TwoLayers):
    """Only the last layer is learnt."""

    def __init__(self, features: int) -> None:
        super().__init__(features)
        self[0].requires_grad_(False)


class Shared(nn.Module):
    """A submodule in two places, and a weight in two submodules."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(features, features), nn.Linear(features, features)
        self.again, self.second.weight = self.first, self.first.weight
        self.last = nn.Linear(features, 1)

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        for layer in (self.first, self.second, self.again):
            X = torch.tanh(layer(X))
        return self.last(X)


class Recurrent(nn.Module):
    """A recurrent layer over the items, for which torch has no batching rule."""

    def __init__(self, features: int, kind: str = "GRU") -> None:
        super().__init__()
        self.body, self.last = getattr(nn, kind)(features, 3), nn.Linear(3, 1)

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        return self.last(self.body(X)[0])


class Attentive(nn.Module):
    """A transformer's encoder over the items."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.body = nn.TransformerEncoderLayer(features, 2, 6, dropout=0.0, batch_first=True)
        self.last = nn.Linear(features, 1)

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        return self.last(self.body(X))


class WithBuffers(nn.Linear):
    """An order of the features, and a scale that is drawn and that no state_dict has."""

    def __init__(self, features: int, shuffled: bool = False) -> None:
        super().__init__(features, 1)
        order = torch.randperm(features) if shuffled else torch.arange(features).flip(0)
        self.register_buffer("order", order)
        self.register_buffer("scale", torch.rand(features), persistent=False)

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        return super().forward(self.scale * X[..., self.order])


class Branching(Linear):
    """Looks at its values, which differ from seed to seed."""

    def __init__(self, features: int = 10) -> None:
        super().__init__(features, zero=False)

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        output = super().forward(X)
        return output if output.sum() > 0 else 2 * output


def on_item(*layers: nn.Module) -> nn.Sequential:
    """Layers on the features of every item as a signal with one channel, [d, 1, p] → [d, …]."""
    return nn.Sequential(nn.Unflatten(-1, (1, -1)), *layers)


ZOO = {
    "two layers": TwoLayers,
    "conv1d": lambda p: on_item(nn.Conv1d(1, 3, 3, padding=1), nn.Tanh(), nn.Flatten(), nn.Linear(3 * p, 1)),
    "conv2d": lambda p: on_item(
        nn.Unflatten(-1, (1, -1)), nn.Conv2d(1, 2, 3, padding=1), nn.Tanh(), nn.Flatten(), nn.Linear(2 * p, 1)
    ),
    "grouped": lambda p: on_item(
        nn.Conv1d(1, 4, 1), nn.Tanh(), nn.Conv1d(4, 4, 3, padding=1, groups=2), nn.Flatten(), nn.Linear(4 * p, 1)
    ),
    "depthwise": lambda p: on_item(
        nn.Conv1d(1, 3, 1), nn.Tanh(), nn.Conv1d(3, 3, 3, padding=1, groups=3), nn.Flatten(), nn.Linear(3 * p, 1)
    ),
    "transposed": lambda p: on_item(
        nn.ConvTranspose1d(1, 2, 3, padding=1), nn.Tanh(), nn.Flatten(), nn.Linear(2 * p, 1)
    ),
    "average pool": lambda p: on_item(
        nn.Conv1d(1, 2, 3, padding=1), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(2, 1)
    ),
    "max pool": lambda p: on_item(
        nn.Conv1d(1, 2, 3, padding=1), nn.AdaptiveMaxPool1d(1), nn.Flatten(), nn.Linear(2, 1)
    ),
    "layer norm": lambda p: nn.Sequential(nn.Linear(p, 4), nn.LayerNorm(4), nn.Linear(4, 1)),
    "lstm": lambda p: Recurrent(p, "LSTM"),
    "gru": lambda p: Recurrent(p, "GRU"),
    "attention": lambda p: nn.Sequential(nn.Linear(p, 4), Attentive(4)),
    "attention, evaluated": lambda p: nn.Sequential(nn.Linear(p, 4), Attentive(4)).eval(),
    "shared and tied": Shared,
    "half frozen": HalfFrozen,
    "branching": Branching,
    "buffers": lambda p: WithBuffers(p, shuffled=True),
    "constants": WithConstants,
}  # fmt: skip
"""Name → constructor of a module that maps X [d, p] to d costs."""


class WrongLength(nn.Linear):
    def __init__(self) -> None:
        super().__init__(10, 3)


class Empty(nn.Module):
    def forward(self, X: torch.Tensor) -> torch.Tensor:
        return X.sum(-1)


class Poisoned(Linear):
    def __init__(self) -> None:
        super().__init__(10)
        nn.init.constant_(self.weight, float("nan"))


class Undefined(Linear):
    def __init__(self) -> None:
        super().__init__(10)

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        return super().forward(X) / 0.0


class WithDropout(nn.Sequential):
    def __init__(self, mode: bool = True) -> None:
        super().__init__(nn.Linear(10, 1), nn.Dropout(0.5))
        self.train(mode)


class WithBatchNorm(nn.Sequential):
    def __init__(self, mode: bool = True) -> None:
        super().__init__(nn.BatchNorm1d(10), nn.Linear(10, 1))
        self.train(mode)


class Remembering(Linear):
    """Adds what it gave before, kept outside its buffers."""

    def __init__(self) -> None:
        super().__init__(10, zero=False)
        self.before = None

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        now = super().forward(X)
        given, self.before = now if self.before is None else now + self.before, now.detach()
        return given


class InPlace(Linear):
    """Changes what it is given."""

    def __init__(self) -> None:
        super().__init__(10)

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        return super().forward(X.mul_(2))


class Lazy(nn.Sequential):
    def __init__(self) -> None:
        super().__init__(nn.LazyLinear(1))


class Failing(nn.Linear):
    def __init__(self) -> None:
        raise RuntimeError("no disk")


NOT_A_MODULE = dict
