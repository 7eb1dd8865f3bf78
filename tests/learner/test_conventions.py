"""The conventions of scikit-learn and river, by their own checks, and drift."""

import copy
from functools import partial
from typing import Any

import numpy as np
import pytest
from river import drift
from river.checks import common
from sklearn.base import clone
from sklearn.utils import estimator_checks
from support.learning import play_job, start_learner

from odfl_cli import Learner, UserError
from odfl_cli.learner.drift import PageHinkley

SKLEARN = [
    "estimator_cloneable",
    "estimator_repr",
    "no_attributes_set_in_init",
    "get_params_invariance",
    "set_params",
    "parameters_default_constructible",
    "do_not_raise_errors_in_init_or_set_params",
]
RIVER = [
    "repr",
    "str",
    "doc",
    "clone_same_class",
    "clone_is_idempotent",
    "clone_changes_memory_addresses",
    "clone_with_new_params_applies",
    "repr_roundtrips_clone",
    "get_params_matches_signature",
    "init_default_params_are_not_mutable",
    "pickling_supports_roundtrip",
]
RIVER_ON_ROUNDS = [
    "learn_one",
    "shuffle_features_no_impact",
    "pickling",
    "clone_is_independent",
    "predict_one_before_any_learn",
    "no_state_aliasing_with_input",
]


class ForRiver(Learner):
    """river's checks read its private names for what `Learner` offers under public ones."""

    _supervised = True
    __doc__ = Learner.__doc__

    def _get_params(self) -> dict[str, Any]:
        return self.get_params()


@pytest.mark.parametrize("check", SKLEARN)
def test_checks_of_scikit_learn(check: str) -> None:
    getattr(estimator_checks, f"check_{check}")("Learner", Learner(algo="pf_ogd"))


@pytest.mark.parametrize("check", RIVER)
def test_checks_of_river(check: str) -> None:
    getattr(common, f"check_{check}")(ForRiver(algo="pf_ogd"))


@pytest.mark.parametrize("check", RIVER_ON_ROUNDS)
def test_checks_of_river_on_rounds(check: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(common, "_infer", lambda model, x: sum(model.predict_one(x).values()))
    monkeypatch.setattr(common, "_inference_methods", lambda model: ["predict_one"])
    rng = np.random.default_rng(0)
    rounds = [
        (
            {item: {f: float(rng.normal()) for f in "pqr"} for item in "abcd"},
            {item: float(rng.random()) for item in "abcd"},
        )
        for _ in range(4)
    ]
    getattr(common, f"check_{check}")(ForRiver(algo="pf_ogd"), rounds)


def test_clones_are_new_and_parameters_are_fixed_once_learned() -> None:
    learner = Learner(algo=("pf_ogd", {"eta": 0.1}), seed=4)
    assert repr(learner) == "Learner(algo=('pf_ogd', {'eta': 0.1}), seed=4)"
    learner.set_params(seed=5).partial_fit(np.ones((2, 3, 2)), np.ones((2, 3)))
    assert clone(learner).rounds_ == learner.clone().rounds_ == 0
    assert learner.clone({"seed": 6}).seed == 6
    with pytest.raises(UserError, match="it has learned already"):
        learner.set_params(seed=6)
    for call in (Learner().set_params, partial(Learner.load, "x"), partial(Learner.from_run, "x")):
        with pytest.raises(ValueError, match=r"^speed: a Learner has no such parameter$"):
            call(speed=6)
    for look in (lambda new: new.theta_, lambda new: new.horizon_, lambda new: new.save("x")):
        with pytest.raises(AttributeError, match="has not seen a round"):
            look(Learner())


def draw_with_rise(rng: np.random.Generator, before: int, after: int, by: float) -> np.ndarray:
    """Numbers whose mean rises by so many deviations."""
    return np.append(rng.normal(3.0, 0.2, before), rng.normal(3.0 + 0.2 * by, 0.2, after))


def test_page_hinkley_finds_a_rise_in_any_units_and_rarely_anything_else() -> None:
    rng = np.random.default_rng(0)
    alarms = [PageHinkley().after(rng.normal(size=2000))[1] for _ in range(100)]
    assert sum(alarms) <= 2
    for scale in (1e-6, 1.0, 1e6):
        xs = scale * draw_with_rise(rng, 500, 200, by=1.0)
        assert not PageHinkley().after(xs[:500])[1]
        assert PageHinkley().after(xs)[1]
    assert not PageHinkley().after(np.ones(1000))[1]


@pytest.mark.parametrize("size", [1, 2, 123])
def test_page_hinkley_has_the_same_numbers_in_parts(size: int) -> None:
    """Two alarms, and so three starts."""
    rng = np.random.default_rng(1)
    xs = np.concatenate([draw_with_rise(rng, 300, 100, by=2.0) for _ in range(2)] + [np.ones(40)])
    whole, alarm = PageHinkley().after(xs)
    parts, alarms = PageHinkley(), 0
    for first in range(0, len(xs), size):
        parts, found = parts.after(xs[first : first + size])
        alarms += found
    assert (whole, alarm) == (parts, alarms > 0)
    assert alarms >= (2 if size < 100 else 1)


def test_a_change_of_the_world_is_drift() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 5, 3))
    theta = np.where(np.arange(1200)[:, None] < 600, [1.0, -1, 0.5], [-1.0, 1, -0.5])
    costs = (X @ theta[:, :, None])[..., 0] + 0.1 * rng.normal(size=(1200, 5))
    learner = Learner(algo="rls")
    found = [t for t in range(1200) if learner.learn_one(X[t], costs[t]) or learner.drift_]
    assert found
    assert 600 < found[0] < 700
    alone = Learner(algo="rls").partial_fit(X[:600], costs[:600])
    assert not alone.drift_
    assert alone.partial_fit(X[600:800], costs[600:800]).drift_


def test_detectors_of_river_are_accepted() -> None:
    (X, costs), _ = play_job("algo=df_ogd")
    detector = drift.ADWIN()
    learner = start_learner(drift=detector).partial_fit(X[0], costs[0])
    assert learner.drift_ in {True, False}
    assert detector.width > 0
    flat = copy.deepcopy(detector)
    assert flat.width == detector.width


def test_standardising_and_the_intercept_are_those_of_recorded_data(tmp_path) -> None:
    from support.problems import composed_job

    from odfl_cli.runs.simulate import simulate

    (X, costs), _ = play_job("algo=df_ogd")
    X = 5.0 + 3.0 * X
    np.savez(tmp_path / "rounds.npz", X=X[0], c=costs[0])
    words = ["data=replay", f"data.file={tmp_path / 'rounds.npz'}", "data.standardise=true"]
    job = composed_job("algo=rls", *words, "data.intercept=true", "theta_radius=1")
    simulation = simulate(job)
    scaled = {"standardise": True, "intercept": True, "horizon": {"rounds": 200}}
    one, many = (Learner(algo="rls", **scaled) for _ in range(2))
    for x, c in zip(X[0], costs[0], strict=True):
        one.predict_one(x)
        one.learn_one(x, c)
    many.partial_fit(X[0], costs[0])
    for learner in (one, many):
        np.testing.assert_array_equal(learner.theta_, simulation.state.theta[0])
        assert learner.cost_ == simulation.table["avg_cost"][0, -1]
