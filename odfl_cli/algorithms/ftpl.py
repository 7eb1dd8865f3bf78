"""Follow the perturbed leader in a world that changes: DF-FTPL with restarts, and a mixture of them.

Xu & Zhang, *Online Non-convex Learning in Dynamic Environments*, NeurIPS 2024. Theirs are for losses
that an exact oracle minimises. Here the losses and the oracle are those of DF-FTPL.
"""

import math
from collections.abc import Callable
from dataclasses import field
from functools import cached_property

from pydantic import SkipValidation

from odfl_cli.algorithms.base import Algorithm
from odfl_cli.algorithms.df_ftpl import DFFTPL, DFFTPLState
from odfl_cli.algorithms.mixture import build_learner
from odfl_cli.algorithms.vote import Vote
from odfl_cli.core.arrays import Array
from odfl_cli.core.settings import PositiveInt, settings
from odfl_cli.problem.oracles.base import OracleCall


@settings
class FTPLD(DFFTPL):
    """FTPL-D: DF-FTPL that forgets its history every K = `period` rounds; its schedules have K for T.

    The dynamic regret is O(T^{2/3} (V + 1)^{1/3}) for K = (T/(V + 1))^{2/3} if the losses vary by V in all. None
    is V = 0's K, T^{2/3}. θ stays, as the point from which the oracle starts.
    """

    period: PositiveInt | None = None
    name = "ftpl_d"

    @property
    def horizon(self) -> int:
        """K."""
        T = self.problem.rounds
        return min(T, self.period or math.ceil(T ** (2.0 / 3.0)))

    @property
    def theorem(self) -> None:
        """None of the paper's."""

    def oracle_call(
        self, state: DFFTPLState, X: Array, costs: Array, draws: dict[str, Array]
    ) -> OracleCall:
        return super().oracle_call(self._restarted(state), X, costs, draws)

    def update(
        self, state: DFFTPLState, X: Array, costs: Array, draws: dict[str, Array]
    ) -> DFFTPLState:
        learned = super().update(self._restarted(state), X, costs, draws)
        return learned._replace(t=state.t + 1)

    def _restarted(self, state: DFFTPLState) -> DFFTPLState:
        return state._replace(t=state.t % self.horizon)


@settings
class FTPLA(Vote):
    """FTPL-A: FTPL-D with the periods `shortest`·2^k and with none, weighed as by `vote`.

    As published, AdaNormalHedge weighs learners that live on geometric intervals, which gives the
    regret O((τ ln T)^{1/2}) on every interval of length τ. Theirs samples a learner; here the mixture of
    the decisions is played, which costs what a sampled one costs on average.
    """

    base: SkipValidation[Callable[..., Algorithm]]  # FTPL-D
    experts: tuple[str, ...] = ()
    settings: SkipValidation[dict[str, Callable[..., Algorithm]]] = field(default_factory=dict)
    name = "ftpl_a"

    def __post_init__(self) -> None:
        _ = self.learners

    @cached_property
    def learners(self) -> tuple[Algorithm, ...]:
        """FTPL-D with each period; the last is T, without a restart."""
        return tuple(
            build_learner(self.base, "algo.base", self.problem, period=period)
            for period in (*self.lengths, self.problem.rounds)
        )

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(f"period {period}" for period in (*self.lengths, self.problem.rounds))
