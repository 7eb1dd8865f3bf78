"""The contract of an environment."""

from collections.abc import Callable
from typing import NamedTuple, Protocol, cast

import numpy as np

from odfl_cli.core.arrays import dot
from odfl_cli.core.cores import on_threads
from odfl_cli.core.streams import MANY


class Rounds(NamedTuple):
    """A block of consecutive rounds for S seeds."""

    X: np.ndarray  # [S, B, d, p], or [S, B, …] with the shape that the environment names
    costs: np.ndarray  # [S, B, d]


Fill = Callable[[tuple[int, ...], int, int, Rounds], None]
"""Called with seeds, start, stop and arrays, into which it writes the rounds start ≤ t < stop."""


class Environment(Protocol):
    """Rounds by random access: a round depends only on the seed, its number and the configuration.

    Optional attributes: `feature_names` [p]; `offers_all`, False if X is NaN for items that cannot be
    played in a round; `target`, the transformation of the costs that learners see
    (odfl_cli.problem.targets); `shape`, the shape of one round's X if it is not (d, p); `expected_costs`,
    as in KnownMeans.
    """

    @property
    def items(self) -> int:
        """d, the length of a cost vector."""

    @property
    def features(self) -> int:
        """p, the covariates of one item."""

    def rounds(self, seeds: tuple[int, ...], start: int, stop: int) -> Rounds:
        """Rounds start ≤ t < stop, counted from 0."""

    def theta_star(self, seeds: tuple[int, ...]) -> np.ndarray | None:
        """The parameter of the costs, [S, p], or None if there is none; for clairvoyants only."""


def fill_seeds(
    environment: Environment, seeds: tuple[int, ...], start: int, stop: int, fill: Fill
) -> Rounds:
    """Rounds start ≤ t < stop of all seeds; calls `fill` for one seed at a time, on all threads."""
    shape = (len(seeds), stop - start, environment.items)
    X, costs = np.empty((*shape, environment.features)), np.empty(shape)

    def fill_row(row: int) -> None:
        one = slice(row, row + 1)
        fill(seeds[one], start, stop, Rounds(X[one], costs[one]))

    on_threads(fill_row, len(seeds), 1 if X.size < MANY else None)
    return Rounds(X, costs)


def shape_of(environment: Environment) -> tuple[int, ...]:
    """The shape of one round's X: the environment's `shape`, or (d, p)."""
    return getattr(environment, "shape", (environment.items, environment.features))


class KnownLaw(Protocol):
    """An environment with a known law, against which regret is measured."""

    @property
    def stationary(self) -> bool:
        """True if all rounds have the same law."""

    def fresh(self, seeds: tuple[int, ...], t: int, size: int) -> Rounds:
        """`size` samples of round t's law (t from 0), X [S, size, d, p] and costs [S, size, d].

        The costs are E[c | X], which has the mean of c and less noise. The samples are transformed from
        the same draws for all t, so that they move only with the law. Samples 2n and 2n + 1 may
        depend on each other (a draw and its mirror image), but on no other.
        """

    def theta_star(self, seeds: tuple[int, ...], t: int = 0) -> np.ndarray | None:
        """The mean parameter of the costs of round t, [S, p], or None if there is none."""


class KnownMeans(Protocol):
    """An environment with a known E[c_t | X_t], which scores decisions without the costs' noise.

    `by_rows` is True if an item's mean depends on its own features alone: X may then hold the rows of
    any number of items.
    """

    by_rows: bool

    def expected_costs(self, seeds: tuple[int, ...], start: int, X: np.ndarray) -> np.ndarray:
        """E[c_t | X_t], [S, B, d], in the rounds from `start` on with the features X."""


def mean_costs(
    environment: Environment,
    seeds: tuple[int, ...],
    start: int,
    X: np.ndarray,
    decision: np.ndarray,
) -> np.ndarray | None:
    """⟨E[c_t | X_t], w_t⟩, [S, B], or None if it is unknown; w_t is [S, B, d], or its item [S, B]."""
    if not knows_means(environment):
        return None
    known, one_item = cast(KnownMeans, environment), decision.ndim == 2
    if not one_item and np.count_nonzero(decision) == decision[..., 0].size:
        one_item = bool((decision.max(-1) == 1.0).all())
        decision = decision.argmax(-1) if one_item else decision
    if one_item and known.by_rows:
        places = np.arange(decision.size) * X.shape[2] + decision.ravel()
        rows = X.reshape(-1, X.shape[3]).take(places, axis=0)
        return known.expected_costs(seeds, start, rows.reshape(*decision.shape, 1, -1))[..., 0]
    means = known.expected_costs(seeds, start, X)
    if one_item:
        return np.take_along_axis(means, decision[..., None], axis=2)[..., 0]
    return dot(means, decision)


def knows_means(environment: Environment) -> bool:
    """True if the environment knows E[c_t | X_t]."""
    return hasattr(environment, "expected_costs")


def known_law(environment: Environment) -> KnownLaw | None:
    """The environment if its law is known, else None."""
    return cast(KnownLaw, environment) if hasattr(environment, "fresh") else None


def switches_of(environment: Environment, rounds: int) -> list[int]:
    """The rounds (from 1) up to `rounds` in which the law jumps; empty if they are unknown."""
    switches = getattr(environment, "switches", None)
    return switches(rounds) if switches else []
