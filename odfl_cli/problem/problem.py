"""The task of an algorithm: its parts, sizes and length, and its decisions."""

from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from odfl_cli.core.arrays import Array, array_namespace, dot
from odfl_cli.core.errors import RowError, UserError
from odfl_cli.core.settings import Integer, settings
from odfl_cli.problem.ball import Ball
from odfl_cli.problem.offers import (
    OFFERS,
    OfferedPolytope,
    OfferedPredictor,
    OfferedRegularizer,
    mark_missing,
    replace_nan,
)
from odfl_cli.problem.oracles.base import Oracle
from odfl_cli.problem.polytopes.linear import DecisionSet
from odfl_cli.problem.predictors.base import Predictor, prepare_predictor
from odfl_cli.problem.regularizers.base import Regularizer
from odfl_cli.problem.targets import Target, transform_costs

UNIT_RADIUS = 10.0
"""R in units of the data for theta_radius=auto: the norm of 100 weights of size 1."""
UNBOUNDED = 1e100  # R of a ball that contains every θ; its square is finite
KappaRule = Literal["line", "worst"]
BISECTIONS = 40
ABSOLUTE_ROUNDING, RELATIVE_ROUNDING = 1e-9, 1e-12


@settings
class Horizon:
    """T rounds, at most about `rows` of them logged."""

    rounds: Annotated[Integer, Field(ge=1, le=10**9)]
    rows: Annotated[Integer, Field(ge=2)] = 500

    def logged(self) -> np.ndarray:
        """The logged rounds, from 1: all of a short run, else half evenly and half log-spaced."""
        if self.rounds <= self.rows:
            return np.arange(1, self.rounds + 1)
        even = np.linspace(1, self.rounds, -(-self.rows // 2))
        early = np.geomspace(1, self.rounds, self.rows // 2)
        every = np.concatenate([even, early, [self.rounds]]).round().astype(np.int64)
        return np.array(sorted(set(every.tolist())))  # np.unique would import masked arrays


def decide(polytope: DecisionSet, prediction: Array, kappa: float) -> Array:
    """A w ∈ W with ⟨ĉ, w⟩ ≤ min_{w'∈W} ⟨ĉ, w'⟩ + κ, [..., d] as ĉ.

    The paper's proposition allows any such w. This one is the worst along a line: w* + λ (w_worst − w*)
    with the largest λ ≤ 1 that κ allows. Deterministic, row by row, and verified.
    """
    best = polytope.minimise(prediction)
    if kappa == 0.0:
        return best
    away = polytope.minimise(-prediction) - best
    share = kappa / dot(prediction, away).clip(kappa)
    decision = best + share[..., None] * away
    verify(prediction, best, decision, kappa)
    return decision


def worst_within(polytope: DecisionSet, prediction: Array, means: Array, kappa: float) -> Array:
    """The w ∈ W of largest ⟨E[c | X], w⟩ among those with ⟨ĉ, w⟩ ≤ min ⟨ĉ, w'⟩ + κ, [..., d].

    A linear program with one more constraint than W: its solution lies between minimisers of
    λĉ − E[c | X] on both sides of the λ at which the constraint is met, which bisection finds.
    """
    xp, best = array_namespace(prediction), polytope.minimise(prediction)

    def at(weight: Array) -> tuple[Array, Array]:
        w = polytope.minimise(weight[..., None] * prediction - means)
        return w, dot(prediction, w - best)

    low = xp.zeros_like(means[..., 0])
    within, high = best, low + 1.0
    beyond, most = at(low)
    gap = xp.zeros_like(most)
    for step in range(2 * BISECTIONS):
        weight = high if step < BISECTIONS else (low + high) / 2.0
        w, found = at(weight)
        inside = found <= kappa
        within = xp.where(inside[..., None], w, within)
        beyond = xp.where(inside[..., None], beyond, w)
        gap, most = xp.where(inside, found, gap), xp.where(inside, most, found)
        low = xp.where(inside, low, weight)
        if step < BISECTIONS:  # at first λ grows until the constraint is met
            high = xp.where(inside, high, 2.0 * high)
        else:
            high = xp.where(inside, weight, high)
    free = at(0.0 * low)
    share = (kappa - gap) / xp.clip(most - gap, min=ABSOLUTE_ROUNDING)
    decision = within + xp.clip(share, max=1.0)[..., None] * (beyond - within)
    decision = xp.where((free[1] <= kappa)[..., None], free[0], decision)
    verify(prediction, best, decision, kappa)
    return decision


def verify(prediction: Array, best: Array, decision: Array, kappa: float) -> None:
    """Raises a RowError if the gap ⟨ĉ, w − w*⟩ is outside [0, κ] by more than rounding."""
    gap = dot(prediction, decision - best)
    size = dot(abs(prediction), abs(decision) + abs(best))
    rounding = ABSOLUTE_ROUNDING + RELATIVE_ROUNDING * size
    wrong = ((gap > kappa + rounding) | (gap < -rounding)).reshape(-1).tolist()
    if True in wrong:
        row = wrong.index(True)
        raise RowError(
            row,
            len(wrong),
            f"kappa={kappa:g}: the decision's predicted cost is "
            f"{float(gap.reshape(-1)[row]):g} above that of the polytope's minimiser",
        )


def predicted_gap(polytope: DecisionSet, prediction: Array, decision: Array) -> Array:
    """⟨ĉ, w⟩ − min_{w'∈W} ⟨ĉ, w'⟩, [...], which κ bounds."""
    return dot(prediction, decision - polytope.minimise(prediction))


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Everything that is fixed before the first round; it knows only the sizes of the data."""

    items: int  # d
    features: int  # p
    rounds: int  # T
    theta_set: Ball  # Θ
    predictor: Predictor  # g
    polytope: DecisionSet  # W
    regularizer: Regularizer  # R
    oracle: Oracle  # O_ξ
    feature_names: tuple[str, ...] = ()  # [p], if the data have names
    auto_radius: bool = False  # whether Θ depends on the data: all θ, or a ball in their units
    kappa: float = 0.0  # how much a decision's predicted cost may exceed the least one
    kappa_rule: KappaRule = "line"  # the rule that chooses among these decisions
    target: Target = "raw"  # the transformation of the costs that learners see
    offers_all: bool = True  # False: NaN in X marks items that cannot be played in a round
    X_shape: tuple[int, ...] = ()  # of one round's X if it is not [d, p]
    seeds: tuple[int, ...] = ()  # for predictors whose initial parameters depend on the seed

    def __post_init__(self) -> None:
        self.oracle.check(self.parameters)

    @property
    def parameters(self) -> int:
        """m, the length of θ."""
        return self.predictor.parameter_count(self.items, self.features)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one round's X, (d, p) for most data."""
        return self.X_shape or (self.items, self.features)

    def for_seeds(self, seeds: tuple[int, ...]) -> "Problem":
        """The problem of these seeds, whose predictors may have different initial parameters."""
        for_seeds = getattr(self.predictor, "for_seeds", lambda seeds: self.predictor)
        return replace(self, seeds=seeds, predictor=for_seeds(seeds))

    def rows(self, part: slice) -> "Problem":
        """The problem of some of its seeds, by their places."""
        rows = getattr(self.predictor, "rows", lambda part: self.predictor)
        return replace(self, seeds=self.seeds[part], predictor=rows(part))

    def with_predictor(self, part: Any) -> "Problem":
        """The same problem with another predictor."""
        predictor = prepare_predictor(part, self.items, self.shape)
        radius = getattr(predictor, "radius", None) or self.theta_set.radius
        problem = replace(self, predictor=predictor, theta_set=Ball(radius=radius))
        return problem.for_seeds(self.seeds) if self.seeds else problem

    @property
    def in_units(self) -> "Problem":
        """The problem for features and costs in units of the data, odfl_cli.algorithms.units."""
        radius = getattr(self.predictor, "radius", None) or UNIT_RADIUS
        return replace(self, theta_set=Ball(radius=radius)) if self.auto_radius else self

    def with_draws(self, draws: Array | None) -> "Problem":
        """The problem with the draws of a round for its regulariser; itself if that draws nothing."""
        method = getattr(self.regularizer, "with_draws", None)
        return replace(self, regularizer=method(draws)) if method and draws is not None else self

    def decide(self, prediction: Array) -> Array:
        """The decision for predicted costs [..., d]: a minimiser over W, or within κ of one."""
        return decide(self.polytope, prediction, self.kappa)

    @property
    def beyond_papers(self) -> str | None:
        """A feature that the paper lacks (missing items, κ > 0, a transformed target), in words; or None."""
        if not self.offers_all:
            return OFFERS
        if self.kappa > 0:
            return f"kappa={self.kappa:g}"
        return None if self.target == "raw" else f"data.target={self.target}"

    def with_offers(self) -> "Problem":
        """The problem with parts that accept NaN for items not offered; raises a UserError if they cannot."""
        if not hasattr(self.polytope, "least_offered"):
            name = type(self.polytope).__name__
            raise UserError(
                f"polytope: {name} cannot take {OFFERS}; choose polytope=simplex or budget"
            )
        if self.kappa > 0:
            raise UserError(f"kappa={self.kappa:g}: {OFFERS} are decided exactly; choose kappa=0")
        return replace(
            self,
            offers_all=False,
            predictor=OfferedPredictor(self.predictor),
            polytope=OfferedPolytope(self.polytope),
            regularizer=OfferedRegularizer(self.regularizer),
        )

    def mark_missing(self, costs: Array, X: Array) -> Array:
        """The costs with NaN for items that are not offered."""
        return costs if self.offers_all else mark_missing(costs, X[..., 0])

    def learning_target(self, costs: Array, X: Array) -> Array:
        """The target of the costs, from which an algorithm learns; 0 for items not offered."""
        if self.target == "raw":
            return costs
        found = transform_costs(self.target, self.mark_missing(costs, X))
        return found if self.offers_all else replace_nan(mark_missing(found, X[..., 0]), 0.0)

    def squared_error(self, prediction: Array, costs: Array) -> Array:
        """The mean of (ĉ − c)² over the offered items, [...]."""
        missed = prediction - costs
        if self.offers_all:
            return dot(missed, missed) / missed.shape[-1]
        xp, errors = array_namespace(missed), missed**2
        return replace_nan(errors, 0.0).sum(-1) / (~xp.isnan(errors)).sum(-1)
