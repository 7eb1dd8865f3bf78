"""A vote: experts weighted by their decision costs, with a certificate without assumptions.

AdaNormalHedge of Luo & Schapire, *Achieving All with No Parameters: AdaNormalHedge*, COLT 2015, with
sleeping copies of the experts on the geometric intervals of Daniely, Gonen & Shalev-Shwartz,
*Strongly Adaptive Online Learning*, ICML 2015.
"""

import math
from collections.abc import Callable
from dataclasses import field
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from pydantic import SkipValidation

from odfl_cli.algorithms.base import Algorithm
from odfl_cli.algorithms.mixture import Mixture, build, build_learner
from odfl_cli.core.arrays import Array, array_namespace, dot, like, positive
from odfl_cli.core.errors import UserError
from odfl_cli.core.settings import PositiveInt, settings
from odfl_cli.problem.predictors.base import Predictor


class VoteState(NamedTuple):
    """The experts' states and gains; L levels of N experts, of which level 0 never restarts."""

    t: int
    theta: Array  # of the heaviest expert, 0 if its predictor is not the problem's, [S, m]
    weights: Array  # p_k, [S, N]
    gains: Array  # R, the sum of r over the interval of each copy, [S, L, N]
    sizes: Array  # C, the sum of |r|, [S, L, N]
    potential: Array  # B, [S]
    scale: Array  # s, the largest difference between two experts' costs so far, [S]
    paid: Array  # Σ_t ℓ_k, [S, N]
    detour: Array  # Σ_t of the cost paid minus that of the mixture, [S]
    certificate: Array  # bound on the regret to every expert, per round, [S]
    played: Array  # Σ_t of the cost paid, [S]
    expert_regret: Array  # the cost paid minus that of the best expert so far, per round, [S]
    states: tuple[Any, ...]


@settings
class Vote(Mixture):
    """Plays Σ_k p_k w_k, which lies in W and costs Σ_k p_k ℓ_k; expert k decides w_k and pays ℓ_k.

    `experts` are names in `settings`; rls/quadratic is rls with the quadratic predictor in
    `predictors` in place of the problem's.

    Level 0 has one copy of every expert with prior q = 1/(2N), or 1/N if it is the only level; level
    l ≥ 1 has copies that restart every `shortest`·2^(l−1) rounds and share the rest of the prior. All copies
    of an expert play alike; only their sums restart. With r = (Σ p ℓ − ℓ_k)/s, R = Σ r and C = Σ |r|:

        Φ(R, C) = exp(R₊²/3C),   p ∝ Σ_copies q ½ (Φ(R + 1, C + 1) − Φ(R − 1, C + 1)).

    As Φ(R + r, C + |r|) ≤ Φ(R, C) + ½ (Φ(R+1, C+1) − Φ(R−1, C+1)) r + 3|r|/(2(C + 1)) and Σ q w r = 0,
    Σ q Φ ≤ B = 1 + 3/2 Σ q |r|/(C + 1), so that for any costs R_k ≤ √(3 C_k ln(B/q)).

    s is the largest difference of two experts' costs so far. If it grows from s to s', r is scaled by
    s/s' in that round: in total this adds at most the last s to a regret. A larger s lowers R²/C, so
    that B remains a bound. `expert_regret` is the regret to the best fixed expert by realised costs,
    which are known for all experts. The certificate bounds it: min_k (L_k + bound_k) − min_k L_k with L_k
    the experts' costs. With `play` = heaviest, which plays the decision of the expert with the most
    weight, it includes the cost of this above the mixture.
    """

    experts: SkipValidation[tuple[str, ...]]
    settings: SkipValidation[dict[str, Callable[..., Algorithm]]]
    predictors: SkipValidation[dict[str, Callable[..., Predictor]]] = field(default_factory=dict)
    play: Literal["mixed", "heaviest"] = "mixed"
    shortest: PositiveInt = 64
    name = "vote"
    needs_horizon = True  # for the lengths of intervals and their prior
    noted = ("certificate", "expert_regret")
    reported = noted

    def __post_init__(self) -> None:
        if len(self.learners) < 2:
            raise UserError(f"algo.experts={list(self.experts)}: a vote needs two experts at least")

    @cached_property
    def learners(self) -> tuple[Algorithm, ...]:
        is_list = isinstance(self.experts, list | tuple)
        if not is_list or len(set(map(str, self.experts))) < len(self.experts):
            raise UserError(f"algo.experts={self.experts}: a list of different names is needed")
        return tuple(self._expert(*str(expert).partition("/")) for expert in self.experts)

    def _expert(self, name: str, slash: str, predictor: str) -> Algorithm:
        """The algorithm `name` for the problem, with the predictor after the slash."""
        part, problem = find_part(self.settings, name, "algo.settings"), self.problem
        if slash:
            key = f"algo.predictors.{predictor}"
            chosen = build(find_part(self.predictors, predictor, "algo.predictors"), key)
            try:
                problem = problem.with_predictor(chosen)
            except UserError as error:
                raise UserError(f"{key}: {error}") from error
        try:
            return build_learner(part, f"algo.settings.{name}", problem)
        except UserError as error:
            expert = f"algo.experts: {name}/{predictor}: " if slash else ""
            raise UserError(f"{expert}{error}") from error

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(f"expert {name}" for name in self.experts)

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """The numbers of rounds after which copies of levels 1, 2, … restart; shorter than the run."""
        count = max(0, math.ceil(math.log2(self.problem.rounds / self.shortest)))
        return tuple(self.shortest * 2**level for level in range(count))

    @cached_property
    def prior(self) -> np.ndarray:
        """q of a copy by level, [L, 1]; the sum over all copies in a run of T rounds is 1."""
        N, T = len(self.learners), self.problem.rounds
        if not self.lengths:
            return np.array([[1.0 / N]])
        started = sum(T // length + 1 for length in self.lengths)
        return 0.5 / N * np.array([[1.0], *[[1.0 / started]] * len(self.lengths)])

    def init(self, seeds: int, truth: np.ndarray | None) -> VoteState:
        states = tuple(learner.init(seeds, truth) for learner in self.learners)
        N, L, zeros = len(states), len(self.prior), np.zeros
        return VoteState(
            t=0,
            theta=states[0].theta,
            weights=np.full((seeds, N), 1.0 / N),
            gains=zeros((seeds, L, N)),
            sizes=zeros((seeds, L, N)),
            potential=np.ones(seeds),
            scale=zeros(seeds),
            paid=zeros((seeds, N)),
            detour=zeros(seeds),
            certificate=zeros(seeds),
            played=zeros(seeds),
            expert_regret=zeros(seeds),
            states=states,
        )

    def shares(self, state: VoteState) -> Array:
        """The share of each expert in the decision, [S, N]."""
        return state.weights if self.play == "mixed" else heaviest(state.weights)

    def leader(self, state: VoteState) -> Array:
        return heaviest(state.weights)

    def weigh(self, state: VoteState, paid: Array) -> VoteState:
        """Updates the gains of the copies, the weights and the certificate."""
        cost = paid[..., 0] + dot(self.shares(state), paid - paid[..., :1])
        state = self._count_round(state, paid)._replace(played=state.played + cost)
        least = array_namespace(paid).min(state.paid, axis=-1)
        return state._replace(
            weights=self._weights(state),
            certificate=self._certificate(state) / state.t,
            expert_regret=(state.played - least) / state.t,
        )

    def _count_round(self, state: VoteState, paid: Array) -> VoteState:
        """Updates R, C, B and s after a round in which the experts paid [S, N], and restarts copies."""
        xp, t = array_namespace(paid), state.t + 1
        less = paid - paid[..., :1]  # than the first: the regret between equal costs is exactly 0
        mixed = dot(state.weights, less)
        scale = xp.maximum(state.scale, xp.max(paid, axis=-1) - xp.min(paid, axis=-1))
        part = state.scale / positive(scale)  # 1 unless s grows
        r = (part[..., None] * (mixed[..., None] - less))[..., None, :]
        size, unit = xp.abs(r), positive(state.scale)[..., None, None]
        added = 1.5 * like(r, self.prior) * size / (state.sizes + unit)
        gains, sizes = state.gains + r, state.sizes + size
        ends = np.array([[False], *([t % length == 0] for length in self.lengths)])
        if ends.any():
            awake = like(r, 1.0 - ends)
            gains, sizes = awake * gains, awake * sizes
        detour = dot(self.shares(state), less) - mixed
        return state._replace(
            t=t,
            gains=gains,
            sizes=sizes,
            potential=state.potential + added.sum((-2, -1)),
            scale=scale,
            paid=state.paid + paid,
            detour=state.detour + detour,
        )

    def _weights(self, state: VoteState) -> Array:
        """p_k ∝ Σ_copies q w(R/s, C/s), [S, N]."""
        xp = array_namespace(state.gains)
        unit = positive(state.scale)[..., None, None]
        logs = log_weight(state.gains / unit, state.sizes / unit) + like(unit, np.log(self.prior))
        weights = xp.exp(logs - xp.max(logs, axis=(-2, -1))[..., None, None]).sum(-2)
        return weights / weights.sum(-1)[..., None]

    def _certificate(self, state: VoteState) -> Array:
        """A bound on the sum of costs paid minus that of any expert, [S]."""
        xp = array_namespace(state.paid)
        q = float(self.prior[0, 0])
        deviation = 3.0 * state.sizes[..., 0, :] * state.scale[..., None]
        bounds = xp.sqrt(deviation * xp.log(state.potential / q)[..., None])
        reached = xp.min(state.paid + bounds, axis=-1) - xp.min(state.paid, axis=-1)
        return reached + state.scale + state.detour


def find_part(parts: dict[str, Any], name: str, key: str, asked: str = "algo.experts") -> Any:
    """The part `name` of the setting `key`; raises a UserError that lists the existing ones."""
    if not isinstance(parts, dict):
        raise UserError(f"{key}={parts}: parts by name, see conf/algo/vote.yaml")
    if name not in parts:
        there = ", ".join(sorted(parts)) or "none"
        raise UserError(f"{asked}: no {name} in {key}; there are {there}")
    return parts[name]


def log_weight(R: Array, C: Array) -> Array:
    """ln ½ (Φ(R + 1, C + 1) − Φ(R − 1, C + 1)); about ln TINY for R ≤ −1."""
    xp = array_namespace(R)
    above, below = (xp.clip(R + step, min=0.0) ** 2 / (3.0 * (C + 1.0)) for step in (1.0, -1.0))
    return above + xp.log(positive(-xp.expm1(below - above))) - math.log(2.0)


def heaviest(weights: Array) -> Array:
    """One for the first of the largest weights, else zero, [..., N]."""
    xp = array_namespace(weights)
    index = xp.arange(weights.shape[-1], device=weights.device)
    return xp.astype(index == xp.argmax(weights, axis=-1)[..., None], weights.dtype)
