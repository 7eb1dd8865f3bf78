"""Real rounds: the numbers are the packages', and no round knows its own day."""

import datetime
import shlex
from pathlib import Path

import numpy as np
import pytest
from support.commands import odfl
from support.problems import block_of, composed, composed_job
from support.samples import each_once

from odfl_cli.core.errors import UserError
from odfl_cli.environments import Replay
from odfl_cli.environments.datasets import sp500, victoria
from odfl_cli.environments.datasets.table import Table, packaged, write

DAYS = 150  # of each source: enough for 80 rounds
LEARNERS = ("df_ogd", "df_ftpl", "pf_ogd", "spo")


def stock_table(change_from: int | None = None) -> Table:
    """The rounds of the first days; prices from one day on may be others."""
    days, names, closing = sp500.prices(sp500.source())
    closing = closing[:DAYS].copy()
    if change_from is not None:
        closing[change_from:] *= np.random.default_rng(0).uniform(
            0.5, 2.0, closing[change_from:].shape
        )
    return sp500.table(days[:DAYS], names, closing)


def electricity_table(change_from: int | None = None) -> Table:
    """The rounds of all days; the demand from one day on may be another."""
    days, hourly = victoria.demand(victoria.source())
    hourly = hourly.copy()
    if change_from is not None:
        hourly[change_from:] *= np.random.default_rng(0).uniform(
            0.5, 2.0, hourly[change_from:].shape
        )
    return victoria.table(days, hourly)


def decisions(table: Table, file: Path, algo: str) -> np.ndarray:
    """What the learner plays on the replayed table, [T, d]."""
    write(table, file)
    features = ",".join(table.names)
    job = composed_job(
        f"algo={algo}",
        "data=replay",
        f"data.file={file}",
        "data.columns.round=day",
        f"data.columns.features=[{features}]",
        "data.standardise=true",
        f"horizon.rounds={len(table.days)}",
        "seeds=1",
    )
    rounds, draws = block_of(job, 0, len(table.days))
    algorithm, played = job.algorithm, []
    state = algorithm.init(1, None)
    for t in range(len(table.days)):
        played.append(algorithm.decide(state, rounds.X[:, t])[1][0])
        now = {name: values[:, t] for name, values in draws.items()}
        state = algorithm.update(state, rounds.X[:, t], rounds.costs[:, t], now)
    return np.array(played)


@pytest.mark.parametrize(("algo", "name"), each_once(LEARNERS, ["stocks", "electricity"]))
def test_nothing_of_the_future_reaches_a_decision(name, algo, tmp_path):
    """Another world from day t on: decisions up to and including day t are the same."""
    build, first = {"stocks": (stock_table, 61), "electricity": (electricity_table, 7)}[name]
    day = first + 40
    before = decisions(build(), tmp_path / "before.csv", algo)
    after = decisions(build(change_from=day), tmp_path / "after.csv", algo)
    np.testing.assert_array_equal(after[: day - first + 1], before[: day - first + 1])
    assert (after[day - first + 1 :] != before[day - first + 1 :]).any()


@pytest.mark.parametrize(("build", "first"), [(stock_table, 61), (electricity_table, 7)])
def test_features_and_costs_before_a_change_are_the_same(build, first):
    """The day that changes has its old features and new costs."""
    day = first + 40
    before, after = build(), build(change_from=day)
    known = day - first
    np.testing.assert_array_equal(after.X[: known + 1], before.X[: known + 1])
    np.testing.assert_array_equal(after.costs[:known], before.costs[:known])
    assert (after.costs[known] != before.costs[known]).all()
    assert (after.X[known + 1] != before.X[known + 1]).any()


def test_a_day_of_stocks_by_hand():
    days, names, closing = sp500.prices(sp500.source())
    table = stock_table()
    t, stock = 100, names.index("KO")
    price = closing[:, stock]
    row = table.days.index(days[t])
    assert table.costs[row, stock] == pytest.approx(-100 * (price[t] - price[t - 1]) / price[t - 1])
    given = dict(zip(table.names, table.X[row, stock], strict=True))
    gain = lambda late, early: 100 * (price[late] - price[early]) / price[early]  # noqa: E731
    assert given["return_1"] == pytest.approx(gain(t - 1, t - 2))
    assert given["return_3"] == pytest.approx(gain(t - 3, t - 4))
    for span in (5, 20, 60):
        assert given[f"momentum_{span}"] == pytest.approx(gain(t - 1, t - 1 - span))
    latest = [gain(i, i - 1) for i in range(t - 20, t)]
    assert given["volatility_20"] == pytest.approx(np.std(latest))


def test_a_day_of_electricity_by_hand():
    days, hourly = victoria.demand(victoria.source())
    table = electricity_table()
    day = datetime.date(2012, 3, 3)
    assert day.strftime("%A") == "Saturday"
    t, row = days.index(day), table.days.index(day.isoformat())
    level = hourly[t - 7 : t].sum() / 168
    evening = table.items.index("18")
    assert table.costs[row, evening] == pytest.approx((hourly[t, 18] - level) / 10_000)
    given = dict(zip(table.names, table.X[row, evening], strict=True))
    assert given["yesterday"] == pytest.approx((hourly[t - 1, 18] - level) / 10_000)
    assert given["last_week"] == pytest.approx((hourly[t - 7, 18] - level) / 10_000)
    assert given["mean_week"] == pytest.approx((hourly[t - 7 : t, 18].mean() - level) / 10_000)
    assert given["sin"] == pytest.approx(-1)
    assert given["weekend_sin"] == given["sin"]
    assert not table.X[row - 1, :, -2:].any()  # Friday


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["stocks", "electricity"])
def test_an_experiment_is_played_after_the_period_it_was_tuned_on(name):
    job = composed_job(f"experiment={name}", "algo=uniform")
    assert 0 not in job.seeds
    tuning = composed_job(f"experiment={name}", "algo=uniform", "seeds=[0]", "horizon.rounds=43")
    path = tuning.environment.file
    with open(path) as file:
        next(file)
        periods = list(dict.fromkeys(tuple(line.split(",")[:1]) for line in file))
    assert len(periods) == max(job.seeds) + 1
    with open(path) as file:
        days = [line.split(",")[1] for line in file][1:]
    assert days == sorted(days)


def test_an_example_can_be_written_checked_and_replayed(tmp_path):
    done = odfl("data", "example", "electricity", "-o", "mine.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    checked = odfl(*shlex.split(done.stdout)[1:], cwd=tmp_path)
    assert checked.returncode == 0, checked.stderr
    assert "43 to 100 rounds, 24 items, 7 features, 2 groups" in checked.stdout
    shipped = composed("data=electricity").data
    own = Replay(
        file=str(tmp_path / "mine.csv"),
        columns=dict(shipped.columns),
        group=shipped.group,
        standardise=shipped.standardise,
        intercept=shipped.intercept,
    )
    theirs = composed_job("data=electricity", "seeds=2", "horizon.rounds=43").environment
    for ours, expected in zip(own.rounds((1,), 5, 90), theirs.rounds((1,), 5, 90), strict=True):
        np.testing.assert_array_equal(ours, expected)


def test_a_package_that_is_not_there_is_named():
    with pytest.raises(UserError, match=r"no_such_package: pip install 'odfl\[examples\]'"):
        packaged("no_such_package", "data.csv")
