"""Follow the perturbed leader for changing data: DF-FTPL with restarts, and a mixture of these.

Xu & Zhang, *Online Non-convex Learning in Dynamic Environments*, NeurIPS 2024, for losses
that an exact oracle minimises; here with the losses and the oracle of DF-FTPL.
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
    """FTPL-D: DF-FTPL that forgets its history every K = `period` rounds; its schedules use K for T.

    The dynamic regret is O(T^{2/3} (V + 1)^{1/3}) for K = (T/(V + 1))^{2/3} if the losses vary by V in total.
    `period` null is K for V = 0, T^{2/3}. θ is kept as the oracle's starting point.
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
        """None: the paper's theorem is for DF-FTPL without restarts."""

    def oracle_call(
        self, state: DFFTPLState, X: Array, costs: Array, draws: dict[str, Array]
    ) -> OracleCall:
        return super().oracle_call(self._restart(state), X, costs, draws)

    def update(
        self, state: DFFTPLState, X: Array, costs: Array, draws: dict[str, Array]
    ) -> DFFTPLState:
        learned = super().update(self._restart(state), X, costs, draws)
        return learned._replace(t=state.t + 1)

    def _restart(self, state: DFFTPLState) -> DFFTPLState:
        return state._replace(t=state.t % self.horizon)


@settings
class FTPLA(Vote):
    """FTPL-A: FTPL-D with the periods `shortest`·2^k and without restarts, weighted as by `vote`.

    As published, AdaNormalHedge weights learners on geometric intervals, which gives the
    regret O((τ ln T)^{1/2}) on every interval of length τ. The paper samples a learner; here the mixture of
    the decisions is played, with the same expected cost.
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
