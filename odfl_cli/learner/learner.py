"""`Learner`: an algorithm of `odfl run` in the user's own loop."""

import inspect
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np

from odfl_cli.core.errors import UserError
from odfl_cli.core.files import atomic, explain_write_errors
from odfl_cli.learner.forms import Form, is_finite
from odfl_cli.learner.session import KIND, Place, Session, as_tuples
from odfl_cli.results.finding import locate
from odfl_cli.results.runs import inspect as inspect_run
from odfl_cli.runs.snapshot import Snapshot, read_snapshot, unpack
from odfl_cli.runs.states import read_state


class Learner:
    """Predicts decisions and learns from their costs, round by round, with the numbers of `odfl run`.

    The parameters up to `overrides` are those of `run`: names of choices, mappings of keys, pairs of
    both, or parts of your own. None means the default of `odfl run`. `items` and `features` are counts
    or lists of names; by default they are those of the first round. `standardise`, `intercept` and
    `target` are those of data=replay.
    With `offers_all=False` a row of NaN in X is an item that is not offered, like an item that a
    mapping leaves out. `drift` is a detector with `update` and `drift_detected`, such as those of
    river; None: Page–Hinkley.

    The constructor only stores its arguments. `prediction_` has the costs predicted for the last decision.
    """

    _session: Session | None = None
    _place: Place

    def __init__(
        self,
        *,
        algo: Any = None,
        predictor: Any = None,
        polytope: Any = None,
        regularizer: Any = None,
        oracle: Any = None,
        horizon: Any = None,
        engine: Any = None,
        theta_radius: float | Literal["auto"] | None = None,
        kappa: float | None = None,
        feedback: Any = None,
        overrides: Sequence[str] | None = None,
        items: int | Sequence[Any] | None = None,
        features: int | Sequence[Any] | None = None,
        seed: int = 0,
        standardise: bool = False,
        intercept: bool = False,
        target: str = "raw",
        offers_all: bool = True,
        drift: Any = None,
    ) -> None:
        self.algo, self.predictor, self.polytope = algo, predictor, polytope
        self.regularizer, self.oracle, self.horizon = regularizer, oracle, horizon
        self.engine, self.theta_radius, self.kappa = engine, theta_radius, kappa
        self.feedback = feedback
        self.overrides, self.items, self.features, self.seed = overrides, items, features, seed
        self.standardise, self.intercept, self.target = standardise, intercept, target
        self.offers_all, self.drift = offers_all, drift

    def predict_one(self, X: Any) -> Any:
        """Returns the decision for the X of a round, in the form of X; learns nothing."""
        session = self._start(X)
        values, offers_all = session.form.read_features(X, self._place.offers_all)
        self.prediction_, decision = session.decide(self._place, values, offers_all)
        return session.form.write(X, decision)

    def learn_one(self, X: Any, costs: Any, played: Any = None) -> None:
        """Learns from the costs of a round, which may come late and in any order.

        `played` is the decision that was played: with feedback=bandit `costs` is its cost, a
        number, with semi_bandit the costs of its items.
        """
        session = self._start(X)
        values, offers_all = session.form.read_features(X, self._place.offers_all)
        if played is not None:
            self._place = session.learn_played(self._place, values, costs, played)
            return
        costs = session.form.read_costs(costs, values, offers_all)
        self._place = session.learn(self._place, values[None], costs[None], offers_all)

    def predict(self, Xs: Any) -> Any:
        """Returns the decisions for several X, without learning in between: [n, d] for arrays, a list for mappings."""
        decisions = [self.predict_one(X) for X in Xs]
        is_array = all(isinstance(decision, np.ndarray) for decision in decisions)
        return np.array(decisions) if is_array else decisions

    def partial_fit(self, Xs: Any, Cs: Any) -> "Learner":
        """Learns from n rounds, or from none if one is invalid; same result to the bit as n calls of learn_one."""
        if len(Xs) != len(Cs):
            raise UserError(f"Xs: {len(Xs)} rounds, and costs of {len(Cs)}")
        if not len(Xs):
            return self
        session, offers_all = self._start(Xs[0]), self._place.offers_all
        read, sizes = session.form, (*session.form.shape, session.form.items)
        if isinstance(Xs, np.ndarray) and isinstance(Cs, np.ndarray):
            X, costs = (np.ascontiguousarray(values, dtype=np.float64) for values in (Xs, Cs))
            fits = (*X.shape[1:], *costs.shape[1:]) == sizes
            if fits and is_finite(X) and is_finite(costs):
                self._place = session.learn(self._place, X, costs, True)
                return self
        rows = [read.read_features(X, offers_all) for X in Xs]
        X, offered = np.stack([x for x, _ in rows]), [all_ for _, all_ in rows]
        costs = np.stack([read.read_costs(c, *row) for c, row in zip(Cs, rows, strict=True)])
        self._place = session.learn(self._place, X, costs, all(offered))
        return self

    @property
    def theta_(self) -> np.ndarray:
        """θ, [m]."""
        return self._place_or_raise.state.theta[0].copy()

    @property
    def rounds_(self) -> int:
        """The number of rounds learned from."""
        return self._place.rounds if self._session else 0

    @property
    def cost_(self) -> float:
        """The mean cost of its decisions, each made just before learning from its round."""
        place = self._place_or_raise
        return place.total / place.rounds if place.rounds else math.nan

    @property
    def drift_(self) -> bool:
        """True if the last learn_one or partial_fit found drift."""
        return self._place_or_raise.found

    @property
    def horizon_(self) -> int | None:
        """The T of its schedules: horizon.rounds, doubled each time it is reached; None if they need no T."""
        session, place = cast(Session, self._session), self._place_or_raise
        uses_horizon = session.parts(place.horizon, place.offers_all).uses_horizon
        return place.horizon if uses_horizon else None

    def save(self, path: str | Path) -> None:
        """Writes the learner to a safetensors file, atomically."""
        place = self._place_or_raise
        content = cast(Session, self._session).pack(place)
        with explain_write_errors(Path(path)), atomic(Path(path), "wb") as file:
            file.write(content)

    @classmethod
    def load(cls, path: str | Path, **params: Any) -> "Learner":
        """Returns a saved learner, which continues with the same numbers to the last bit.

        `params` has the parameters that were objects, which files do not store. Others are checked: a file
        with other settings raises a UserError.
        """
        _check_names(params)
        return cls._unpack(read_snapshot(Path(path)), params)

    @classmethod
    def from_run(cls, run: str | Path, seed: int | None = None, **params: Any) -> "Learner":
        """Returns the learner trained by a run with save_state=true; `run` is its name or path."""
        _check_names(params)
        stored = inspect_run(locate(run))
        seed = min(stored.seeds, default=0) if seed is None else seed
        snapshot = read_state(stored, seed)
        data = stored.config.get("data", {})
        if data.get("standardise"):
            raise UserError(
                f"{run}: its data were standardised, and a run does not keep their scale"
            )
        alone = (
            ["hydra.mode=RUN"] if any(w.startswith("experiment=") for w in stored.overrides) else []
        )
        given = {
            "algo": stored.algorithm,
            "overrides": (*stored.overrides, *alone),
            "horizon": {"rounds": snapshot.header["rounds"]},
            "intercept": bool(data.get("intercept")),
            "target": data.get("target", "raw"),
            "offers_all": snapshot.header["offers_all"],
        }
        learner = cls(**{**given, **params, "seed": seed})
        learner._session, learner._place = Session.of_run(learner.get_params(), snapshot)
        return learner

    @classmethod
    def _unpack(cls, snapshot: Snapshot, params: Mapping[str, Any]) -> "Learner":
        header = snapshot.header
        if header["kind"] != KIND:
            raise UserError(f"{snapshot.place}: it is the state of a run; see Learner.from_run")
        for name, kind in header["objects"].items():
            if name not in params:
                raise UserError(
                    f"{snapshot.place}: {name} was an object ({kind}); give it, {name}=…, to load"
                )
        stored = {name: as_tuples(value) for name, value in header["params"].items()}
        learner = cls(**{**stored, **params})
        learner._session, learner._place = Session.unpack(learner.get_params(), snapshot)
        return learner

    def __getstate__(self) -> dict[str, Any]:
        packed = self._session.pack(self._place) if self._session else None
        return {"params": self.get_params(), "packed": packed}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state["params"])  # type: ignore[misc]
        if state["packed"]:
            snapshot = unpack(state["packed"], "Learner")
            self._session, self._place = Session.unpack(self.get_params(), snapshot)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Returns the constructor's arguments by name."""
        return {name: getattr(self, name) for name in inspect.signature(Learner).parameters}

    def set_params(self, **params: Any) -> "Learner":
        """Changes arguments of the constructor; raises a UserError after the first round."""
        _check_names(params)
        if params and self.rounds_:
            raise UserError("set_params: it has learned already; clone() has the same parameters")
        vars(self).update(params, _session=None)
        return self

    def clone(self, new_params: Mapping[str, Any] | None = None) -> "Learner":
        """Returns an untrained learner with the same parameters except `new_params`."""
        return type(self)(**{**self.get_params(), **(new_params or {})})

    def __repr__(self) -> str:
        defaults = inspect.signature(Learner).parameters
        words = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if name == "seed" or repr(value) != repr(defaults[name].default)
        ]
        return f"Learner({', '.join(words)})"

    def _start(self, X: Any) -> Session:
        """The session, created with the form of the first round."""
        if self._session is None:
            form = Form.from_round(X, self.items, self.features)
            self._session = Session(self.get_params(), form)
            self._place = self._session.start(None, self.offers_all)
        return self._session

    @property
    def _place_or_raise(self) -> Place:
        if self._session is None:
            raise AttributeError("it has not seen a round yet")
        return self._place


def _check_names(params: Mapping[str, Any]) -> None:
    """Raises a ValueError, as scikit-learn does, for names that are no arguments of the constructor."""
    if unknown := sorted(set(params).difference(inspect.signature(Learner).parameters)):
        raise ValueError(f"{unknown[0]}: a Learner has no such parameter")
