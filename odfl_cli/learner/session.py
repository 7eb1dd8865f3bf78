"""A job with one seed, played round by round: its parts, and the state that rounds change."""

import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np
from omegaconf import OmegaConf

from odfl_cli.algorithms.base import Algorithm, for_seeds
from odfl_cli.algorithms.observed import Observed
from odfl_cli.config.identity import resolve
from odfl_cli.core.arrays import dot
from odfl_cli.core.errors import RoundError, RowError, UserError
from odfl_cli.core.streams import LONGEST_BLOCK, draw_all
from odfl_cli.engine.base import Draws, Engine
from odfl_cli.environments.base import Rounds
from odfl_cli.environments.replay.past import PastScale
from odfl_cli.feedback.base import Seen
from odfl_cli.learner.drift import PageHinkley, ask_detector
from odfl_cli.learner.forms import Form, is_finite
from odfl_cli.problem.targets import Target
from odfl_cli.runs.build import build, fill_sizes
from odfl_cli.runs.in_memory import compose_one, describe_part, given_parts
from odfl_cli.runs.simulate import MOST_ROUNDS, Job, check_finite, name_round
from odfl_cli.runs.snapshot import Snapshot, pack, settings_of
from odfl_cli.runs.states import module_arrays

log = logging.getLogger("odfl")

WORDS = (
    "algo", "predictor", "polytope", "regularizer", "oracle", "horizon", "engine", "theta_radius",
    "kappa", "feedback",
)  # fmt: skip
"""The parameters of a learner that `odfl run` takes under the same names."""
NOT_LEARNED = ("data.", "seeds", "metrics.", "horizon.rows")
"""Settings of a run that do not affect a learner."""
IN_DATA = ("standardise", "intercept", "target", "shape")
"""Settings of a learner that a run has in its data."""
KIND = "learner"


@dataclass(frozen=True)
class Sizes:
    """An environment for `build` without rounds, which the caller provides."""

    items: int
    shape: tuple[int, ...]  # of one round's X
    feature_names: tuple[str, ...] = ()
    offers_all: bool = True
    target: Target = "raw"

    @property
    def features(self) -> int:
        return self.shape[-1]

    def rounds(self, seeds: tuple[int, ...], start: int, stop: int) -> Rounds:
        raise UserError("a learner has no rounds of its own")

    def theta_star(self, seeds: tuple[int, ...]) -> None:
        """Unknown."""


class Parts(NamedTuple):
    """The algorithm and its engine, for schedules of T rounds."""

    algorithm: Algorithm
    engine: Engine
    horizon: int  # T
    uses_horizon: bool


class Place(NamedTuple):
    """The state that rounds change. A snapshot stores it, and an error does not change it."""

    state: Any  # of the algorithm, one seed
    horizon: int  # the T of its schedules
    offers_all: bool  # whether every round so far offered all items
    scale: tuple[int, np.ndarray, np.ndarray]  # count, origin and sums of a PastScale
    naive: np.ndarray  # the best decision of the first round, NaN before it, [d]
    rounds: int = 0
    begun: int = 0  # rounds before the schedules started
    total: float = 0.0  # the sum of the costs paid
    drift: PageHinkley = PageHinkley()
    found: bool = False  # whether the last call found drift


class Session:
    """An algorithm with its engine and its draws, for rounds of one form."""

    def __init__(self, params: Mapping[str, Any], form: Form) -> None:
        self.params, self.form, self.seed = params, form, params["seed"]
        words = {name: params[name] for name in WORDS if params[name] is not None}
        self._config, setting = compose_one(params["overrides"] or (), words)
        OmegaConf.update(self._config, "seeds", [self.seed])
        self._given = given_parts(setting)
        self._parts: dict[tuple[int | None, bool], Parts] = {}
        self._drawn: tuple[Any, Draws] = None, {}

    def _make(self, horizon: int | None, offers_all: bool) -> Job:
        """The job for T rounds, or for horizon.rounds."""
        config, given = self._config, dict(self._given)
        if horizon and "horizon" in given:
            given["horizon"] = replace(given["horizon"], rounds=horizon)
        elif horizon:
            config = config.copy()
            OmegaConf.update(config, "horizon.rounds", horizon)
        form, intercept = self.form, ["intercept"] * bool(self.params["intercept"])
        names = tuple(map(str, [*form.feature_names, *intercept])) if form.item_names else ()
        shape = (*form.shape[:-1], form.shape[-1] + len(intercept))
        sizes = Sizes(form.items, shape, names, offers_all, self.params["target"])
        return build(config, data=sizes, **given)

    @cached_property
    def settings(self) -> dict[str, Any]:
        """The settings that determine the numbers besides the rounds, for snapshots."""
        job = self._make(None, self.params["offers_all"])
        values = resolve(fill_sizes(self._config, job.environment))
        made = {"algo": job.algorithm, "regularizer": job.algorithm.problem.regularizer}
        for group, part in self._given.items():
            values[group] = describe_part(made.get(group, part))
        params = {name: self.params[name] for name in IN_DATA[:-1]}
        return settings_of(values | params | {"shape": list(self.form.shape)})

    def parts(self, horizon: int | None, offers_all: bool) -> Parts:
        """The parts for T rounds, or for horizon.rounds; built when they are first needed."""
        if (horizon, offers_all) not in self._parts:
            job = self._make(horizon, offers_all)
            algorithm, T = for_seeds(job.algorithm, (self.seed,)), job.horizon.rounds
            job.engine.start(algorithm)
            if isinstance(algorithm, Observed) and algorithm.feedback.delay:
                raise UserError("feedback.delay: a learner takes costs when they come; leave it 0")
            made = Parts(algorithm, job.engine, T, algorithm.uses_horizon)
            self._parts[horizon, offers_all] = self._parts[T, offers_all] = made
        return self._parts[horizon, offers_all]

    def start(self, horizon: int | None, offers_all: bool) -> Place:
        """The place before round 1."""
        parts, scale = self.parts(horizon, offers_all), PastScale(self.form.shape[-1])
        kept = scale.count, scale.origin, scale.sums
        naive = np.full(self.form.items, np.nan)
        return Place(parts.algorithm.init(1, None), parts.horizon, offers_all, kept, naive)

    def ready(self, place: Place) -> Place:
        """The place before the next round: after T rounds, schedules restart with 2T (the doubling trick)."""
        uses_horizon = self.parts(place.horizon, place.offers_all).uses_horizon
        if not uses_horizon or place.rounds - place.begun < place.horizon:
            return place
        parts = self.parts(2 * place.horizon, place.offers_all)
        state = parts.algorithm.begin_again(place.state)
        return place._replace(state=state, horizon=parts.horizon, begun=place.rounds)

    def _scale(self, place: Place, X: np.ndarray) -> tuple[Any, np.ndarray]:
        """The scale after rounds X [n, …], and the rounds scaled and with an intercept."""
        kept = place.scale
        if self.params["standardise"]:
            scale = PastScale(X.shape[-1])
            scale.count, scale.origin, scale.sums = kept
            X = scale.standardise(X)
            kept = scale.count, scale.origin, scale.sums
        if self.params["intercept"]:
            ones = np.where(np.isnan(X[..., :1]), np.nan, 1.0)
            X = np.concatenate([X, ones], axis=-1)
        return kept, X

    def decide(
        self, place: Place, X: np.ndarray, offers_all: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        """ĉ and w for the X of one round, [d] each."""
        place, X = self.ready(place), self._scale(place, X[None])[1]
        algorithm = self.parts(place.horizon, place.offers_all and offers_all).algorithm
        try:
            with np.errstate(all="ignore"):
                draws = {}
                if algorithm.explores:
                    drawn = self._draw(algorithm, place.rounds, place.rounds + 1)
                    draws = {name: values[:, 0] for name, values in drawn.items()}
                prediction, decision = algorithm.act(place.state, X, draws)
        except RowError as error:
            raise UserError(f"{algorithm.name}, round {place.rounds + 1}: {error}") from error
        return prediction[0], decision[0]

    def learn(self, place: Place, X: np.ndarray, costs: np.ndarray, offers_all: bool) -> Place:
        """The place after rounds X [n, …] with costs [n, d]; `offers_all` if all rounds offer all items."""
        scale, X = self._scale(place, X)
        first, paid = 0, list[np.ndarray]()
        while first < len(costs):
            place, last = self._find_stop(place, X, first, offers_all)
            place, cost = self._advance(place, X[first:last], costs[first:last])
            first, paid = last, [*paid, cost]
        naive, paid_all = place.naive, np.concatenate(paid) if len(paid) > 1 else paid[0]
        if math.isnan(naive[0]):
            problem = self.parts(place.horizon, place.offers_all).algorithm.problem
            naive = problem.polytope.minimise(problem.mark_missing(costs[:1], X[:1]))[0]
        above = paid_all - dot(costs, naive)
        if (detector := self.params["drift"]) is not None:
            drift, found = place.drift, ask_detector(detector, above)
        else:
            drift, found = place.drift.after(above)
        return place._replace(scale=scale, naive=naive, drift=drift, found=found)

    def learn_played(self, place: Place, X: np.ndarray, costs: Any, played: Any) -> Place:
        """The place after a round X [d, p] with semi-bandit or bandit feedback on the decision `played`."""
        place, (scale, X) = self.ready(place), self._scale(place, X[None])
        algorithm: Any = self.parts(place.horizon, place.offers_all).algorithm
        if not isinstance(algorithm, Observed):
            raise UserError("played: say feedback=semi_bandit or bandit, of which it is a part")
        kind, t = algorithm.feedback.kind, place.rounds + 1
        w = self.form.read_costs(played, X[0], True)
        values = np.full(self.form.items, np.nan)
        if kind != "bandit":
            values[w != 0] = self.form.read_played(costs)[w != 0]
            costs = (np.where(w != 0, values, 0.0) * w).sum()
        if not math.isfinite(paid := float(costs)):
            raise UserError("costs: those of the items that were played are needed")
        state, drawn = place.state, self._draw(algorithm, place.rounds, t)
        draws = {name: of_round[:, 0] for name, of_round in drawn.items()}
        memo = algorithm.base.memo(state.learner, X, draws)
        seen = Seen(X, values[None], np.array([paid]), w[None], memo, t, kind)
        learner = algorithm.base.learn(state.learner, seen, draws)
        state = state._replace(t=t, theta=learner.theta, learner=learner)
        total = place.total + paid
        return place._replace(state=state, rounds=t, total=total, scale=scale, found=False)

    def _find_stop(
        self, place: Place, X: np.ndarray, first: int, offers_all: bool
    ) -> tuple[Place, int]:
        """The place before round `first`, and the end of the rounds that can be played at once."""
        if (following := self.ready(place)) is not place:
            log.warning(
                "%s: %d rounds have passed, for which its schedules were made; it starts again for %d "
                "(the doubling trick; horizon.rounds is the first guess)",
                self.parts(place.horizon, place.offers_all).algorithm.name,
                place.horizon,
                following.horizon,
            )
        place, last = following, min(len(X), first + MOST_ROUNDS)
        if last - first > 1 and self.parts(place.horizon, place.offers_all).uses_horizon:
            last = min(last, first + place.begun + place.horizon - place.rounds)
        if place.offers_all and not offers_all:
            absent = np.isnan(X[first:last]).reshape(last - first, -1).any(1)
            if absent.any() and not absent[0]:
                return place, first + int(absent.argmax())
            place = place._replace(offers_all=not absent[0])
        return place, last

    def _advance(self, place: Place, X: np.ndarray, costs: np.ndarray) -> tuple[Place, np.ndarray]:
        """The place after rounds that are played at once, and their costs, [n]."""
        algorithm, engine, *_ = self.parts(place.horizon, place.offers_all)
        rounds, start = Rounds(X[None], costs[None]), place.rounds
        draws = self._draw(algorithm, start, start + len(costs))
        try:
            state, trace = engine.advance(algorithm, place.state, rounds, draws)
        except RoundError as error:
            raise name_round(error, algorithm, (self.seed,), start) from error
        paid, *_ = trace.cost
        total = reduce(add, paid.tolist(), place.total)
        if not (math.isfinite(total) and is_finite(trace.mse)):
            check_finite(algorithm, (self.seed,), start, trace)
        return place._replace(state=state, rounds=start + len(costs), total=total), paid

    def _draw(self, algorithm: Algorithm, start: int, stop: int) -> Draws:
        """The draws of rounds start ≤ t < stop; single rounds are cut from whole blocks."""
        if stop - start > 1:
            return draw_all((self.seed,), algorithm.draws(), start, stop)
        window, at = divmod(start, LONGEST_BLOCK)
        if self._drawn[0] != (id(algorithm), window):
            block = window * LONGEST_BLOCK, (window + 1) * LONGEST_BLOCK
            drawn = draw_all((self.seed,), algorithm.draws(), *block)
            self._drawn = (id(algorithm), window), drawn
        return {name: values[:, at : at + 1] for name, values in self._drawn[1].items()}

    def pack(self, place: Place) -> bytes:
        """The content of a snapshot, from which `unpack` restores the session."""
        plain = {name: value for name, value in self.params.items() if _is_plain(value)}
        objects = {name: value for name, value in self.params.items() if name not in plain}
        header = {
            "kind": KIND,
            "params": plain,
            "objects": {
                name: getattr(value, "__qualname__", type(value).__qualname__)
                for name, value in objects.items()
            },
            "settings": self.settings,
            "form": self.form,
        }
        return pack(header, place, self._weights(place), path="")

    @classmethod
    def unpack(cls, params: Mapping[str, Any], snapshot: Snapshot) -> tuple["Session", Place]:
        """The session and place of a snapshot, for a learner with equal parameters."""
        session = cls(params, Form(*map(as_tuples, snapshot.header["form"])))
        snapshot.check_settings(session.settings, NOT_LEARNED)
        numbers = snapshot.header["numbers"]
        template = session.start(numbers["horizon"], numbers["offers_all"])
        return session, session._check_weights(snapshot, snapshot.restore(template, ""))

    @classmethod
    def of_run(cls, params: Mapping[str, Any], snapshot: Snapshot) -> tuple["Session", Place]:
        """The session after a run, from its snapshot of a seed."""
        header = snapshot.header
        session = cls(params, Form(tuple(header["shape"]), header["items"]))
        snapshot.check_settings(session.settings, (*NOT_LEARNED, *IN_DATA))
        place, rounds = session.start(header["rounds"], params["offers_all"]), header["rounds"]
        total = reduce(add, snapshot.arrays["trace.cost"][0].tolist(), 0.0)
        state = snapshot.restore(place.state)
        place = place._replace(state=state, rounds=rounds, total=total)
        return session, session._check_weights(snapshot, place)

    def _check_weights(self, snapshot: Snapshot, place: Place) -> Place:
        """The place; raises a UserError if the module's parameters differ from the snapshot's."""
        for name, values in self._weights(place).items():
            if not np.array_equal(values, snapshot.arrays.get(name)):  # type: ignore[arg-type]
                raise UserError(
                    f"{snapshot.place}: {name} is not what the module has learned from its initial "
                    "parameters; give the module that it was made with"
                )
        return place

    def _weights(self, place: Place) -> dict[str, np.ndarray]:
        """The parameters of a torch module by name."""
        algorithm = self.parts(place.horizon, place.offers_all).algorithm
        return module_arrays(algorithm.problem.predictor, place.state.theta[0], self.seed)


def _is_plain(value: Any) -> bool:
    """True if JSON preserves the value, except that tuples become lists."""
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_plain(inner) for key, inner in value.items())
    return value is None or isinstance(value, bool | int | float | str)


def as_tuples(value: Any) -> Any:
    """The value with all lists as tuples."""
    return tuple(map(as_tuples, value)) if isinstance(value, list) else value
