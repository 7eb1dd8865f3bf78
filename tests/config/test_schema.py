"""Every refusal names the key, the value and what is allowed, in one line."""

import re

import pytest
from support.problems import composed, composed_job, refusal
from support.samples import some_of

from odfl_cli.config.schema import TopLevel
from odfl_cli.core.errors import UserError
from odfl_cli.runs.build import build


@pytest.mark.parametrize(
    ("override", "says"),
    [
        ("data.gamma=2", "data.gamma=2: should be .* equal to 0 and less than or equal to 1"),
        ("data.gamma=-0.5", "data.gamma=-0.5: should be greater than or equal to 0"),
        ("data.gamma=nan", "data.gamma=nan: should be a finite number"),
        ("data.gamma=much", "data.gamma=much: should be a valid number"),
        ("data.gamma=null", "data.gamma=null: should be a valid number"),
        ("data.rho=1", "data.rho=1: should be greater than -1 and less than 1"),
        ("data.rho=-1", "data.rho=-1: should be greater than -1 and less than 1"),
        ("data.rho=nan", "data.rho=nan: should be a finite number"),
        ("data.items=1", "data.items=1: should be greater than or equal to 2"),
        ("data.items=five", "data.items=five: should be a valid integer"),
        ("data.items=2.5", "data.items=2.5: should be a valid integer"),
        ("data.features=0", "data.features=0: should be greater than or equal to 1"),
        ("data.amplitude=-1", "data.amplitude=-1: should be greater than or equal to 0"),
        ("data.amplitude=inf", "data.amplitude=inf: should be a finite number"),
        ("data.noise_std=-1", "data.noise_std=-1: should be greater than or equal to 0"),
        ("data.clip=perhaps", "data.clip=perhaps: should be a valid boolean"),
        ("data.drift_weight=1.1", "data.drift_weight=1.1: should be .* 0 and less than or equal to 1"),
        ("data.drift=sometimes", "data.drift=sometimes: should be .*'switching'"),
        ("data.drift_period=1", "data.drift_period=1: should be greater than or equal to 2"),
        ("data.drift_rate=-1", "data.drift_rate=-1: should be greater than or equal to 0"),
        ("data.shift_rate=inf", "data.shift_rate=inf: should be a finite number"),
        ("data.theta_star_norm=0", "data.theta_star_norm=0: should be greater than 0"),
        ("horizon.rounds=0", "horizon.rounds=0: should be greater than or equal to 1"),
        ("horizon.rounds=2.5", "horizon.rounds=2.5: should be a valid integer"),
        ("horizon.rows=1", "horizon.rows=1: should be greater than or equal to 2"),
        ("theta_radius=-1", "theta_radius=-1: should be greater than 0"),
        ("theta_radius=0", "theta_radius=0: should be greater than 0"),
        ("theta_radius=inf", "theta_radius=inf: should be a finite number"),
        ("theta_radius=nan", "theta_radius=nan: should be a finite number"),
        ("theta_radius=wide", "theta_radius=wide: should be a valid number"),
        ("algo.c_eta=0", "algo.c_eta=0: should be greater than 0"),
        ("oracle.lr=-0.1", "oracle.lr=-0.1: should be greater than 0"),
        ("oracle.steps=0", "oracle.steps=0: should be greater than or equal to 1"),
        ("oracle.batch=0", "oracle.batch=0: should be greater than or equal to 1"),
        ("oracle.every=0", "oracle.every=0: should be greater than or equal to 1"),
        ("oracle.history_size=0", "oracle.history_size=0: should be greater than or equal to 1"),
        ("oracle.history=forever", "oracle.history=forever: should be 'full', 'window' or 'reservoir'"),
        ("engine.threads=0", "engine.threads=0: should be greater than or equal to 1"),
        ("engine.threads=two", "engine.threads=two: should be a valid integer"),
        ("kappa=-1", "kappa=-1: should be greater than or equal to 0"),
        ("kappa=nan", "kappa=nan: should be a finite number"),
        ("kappa=inf", "kappa=inf: should be a finite number"),
        ("kappa=small", "kappa=small: should be a valid number"),
        ("kappa=null", "kappa=null: should be a valid number"),
        ("seeds=0", "seeds=0: should be a count from 1"),
        ("seeds=-3", "seeds=-3: should be a count from 1"),
        ("seeds=2.5", "seeds=2.5: should be a count from 1"),
        ("seeds=true", "seeds=true: should be a count from 1"),
        ("seeds=many", "seeds=many: should be a count from 1"),
        ("seeds=9-0", "seeds=9-0: should be a count from 1 .* range as in 1000-1019"),
        ("seeds=[0-9,5]", "seeds=['0-9', 5]: no seed may appear twice"),
        ("seeds=[]", "seeds=[]: should be a count from 1"),
        ("seeds=[1,-2]", "seeds=[1, -2]: should be .* between 0 and 2^32 - 1"),
        ("seeds=[4294967296]", "seeds=[4294967296]: should be .* between 0 and 2^32 - 1"),
        ("seeds=[1,true]", "seeds=[1, True]: should be .* between 0 and 2^32 - 1"),
        ("seeds=[3,7,3]", "seeds=[3, 7, 3]: no seed may appear twice"),
        ("+data.colour=red", "data.colour: no such key in the chosen data"),
        ("+algo.eta=1", "algo.eta: no such key in the chosen algo"),
        ("+colour=red", "colour: there is no such key"),
        ("polytope.dimension=3", "data.items=5: the polytope takes decisions of length 3"),
        ("outputs=''", "outputs=: .*at least 1 character"),
    ],
)  # fmt: skip
def test_refusals(override, says):
    """In `says`, .* matches any text."""
    pattern = re.escape(says).replace(r"\.\*", ".*")
    with pytest.raises(UserError, match=pattern) as refused:
        composed_job(override)
    assert str(refused.value).startswith(says.split(":", 1)[0])
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("overrides", "words"),
    some_of(
        [
            ("seeds=[-1]", ["seeds=[-1]", "between 0"]),
            ("algo=pf_ogd algo.eta=-0.1", ["algo.eta=-0.1", "greater than 0"]),
            ("engine=compiled engine.threads=-2", ["engine.threads=-2", "greater than or equal to 1"]),
            ("metrics=regret metrics.sample=0", ["metrics.sample=0", "greater than or equal to 2"]),
            ("metrics=regret metrics.starts=0", ["metrics.starts=0", "greater than or equal to 3"]),
            ("metrics=regret metrics.sample=many", ["metrics.sample=many", "valid integer"]),
            ("data.drift=periodic data.features=1", ["θ* in a plane; data.features must be at least 2"]),
            ("metrics=decisions metrics.of=abc", ["metrics.of=abc", "metrics@metrics.of=NAME"]),
            ("metrics=decisions metrics.of=null", ["metrics.of", "metrics@metrics.of=NAME"]),

            ("oracle=multistart oracle.rule=newton", ["oracle.rule=newton", "'adam'"]),
            ("algo.belief.faces=0", ["algo.belief.faces=0", "greater than 0"]),
            ("polytope=box regularizer=entropy", ["regularizer", "log_barrier"]),
            ("polytope=knapsack polytope.capacity=0", ["polytope.capacity=0", "greater than 0"]),
            ("data.items=1" + 30 * "0", ["data.items=1", "less than or equal to 4294967295"]),
            ("oracle.steps=1" + 30 * "0", ["oracle.steps=1", "less than or equal to 4294967295"]),
            ("algo=hedge algo.experts=1" + 30 * "0", ["algo.experts=1", "less than or equal"]),
        ],
        12,
    ),
)  # fmt: skip
def test_values_that_do_not_fit_their_choices(overrides, words):
    line = refusal(*overrides.split())
    for word in words:
        assert word in line


@pytest.mark.parametrize("key", ["data.gamma", "theta_radius", "algo.c_eta", "horizon.rounds", "kappa"])  # fmt: skip
def test_a_boolean_is_no_number(key):
    with pytest.raises(UserError, match=f"{key}=true: "):
        composed_job(f"{key}=true")


@pytest.mark.parametrize("group", ["algo", "data", "horizon", "oracle", "polytope"])
def test_a_group_without_a_choice(group):
    config = composed().copy()
    config[group] = None
    with pytest.raises(UserError, match=f"{group}=.*choose one of the group's files"):
        build(config)


def test_a_target_that_cannot_be_found():
    config = composed().copy()
    config.algo._target_ = "odfl_cli.algorithms.Nothing"
    with pytest.raises(UserError, match=r"^algo: ") as refused:
        build(config)
    assert "odfl_cli.algorithms.Nothing" in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("seeds", "expected"),
    [
        (1, (0,)),
        (3, (0, 1, 2)),
        ([7], (7,)),
        ([9, 2, 4294967295], (9, 2, 4294967295)),
        ("1000-1003", (1000, 1001, 1002, 1003)),
        (["0-2", 20], (0, 1, 2, 20)),
    ],
)
def test_a_count_a_range_or_a_list_of_seeds(seeds, expected):
    top = TopLevel(theta_radius=1, seeds=seeds, outputs="outputs", sweep="sweep")
    assert top.seed_list() == expected


def test_what_is_allowed_is_built():
    """The borders that belong to the ranges."""
    job = composed_job(
        "data.items=2", "data.features=1", "data.gamma=0", "data.noise_std=0", "data.amplitude=0",
        "data.drift_weight=1", "data.rho=0", "data.theta_star_norm=0.5", "data.clip=false",
        "horizon.rounds=1", "horizon.rows=2", "theta_radius=0.001", "seeds=[0]",
        "algo.c_alpha=10", "oracle.steps=1",
    )  # fmt: skip
    assert (job.environment.items, job.environment.features) == (2, 1)
    assert job.environment.clip is False
    assert job.environment.theta_star_norm == 0.5
    assert job.algorithm.problem.theta_set.radius == 0.001
    assert job.algorithm.c_alpha == 10
    assert job.algorithm.problem.oracle.steps == 1
    assert job.horizon.rounds == job.algorithm.problem.rounds == 1
    assert job.seeds == (0,)
