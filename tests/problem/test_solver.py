"""A function as the decision set: what it is called with, what it may return, and how often it is called."""

import os
from collections import Counter
from functools import partial

import numpy as np
import pandas as pd
import pytest
import torch
from pydantic import ValidationError
from support.commands import complaints, odfl
from support.problems import composed_job
from support.solvers import EDGES, held_karp, pack, pack_rows, pack_values, slow, tour

from odfl_cli import UserError, run
from odfl_cli.core.cores import at_most
from odfl_cli.core.errors import RowError
from odfl_cli.engine import array_engine, groups
from odfl_cli.problem.polytopes.assignment import Assignment
from odfl_cli.problem.polytopes.solver import Solver
from odfl_cli.runs.simulate import simulate

COSTS = np.random.default_rng(0).normal(size=(30, 24))


def solver(solve, dimension=24, **settings):
    return Solver(dimension=dimension, solve=solve, **settings)


@pytest.mark.parametrize(
    ("solve", "settings"),
    [
        (pack, {}),
        (pack, {"seconds": None}),
        (pack_rows, {"batch": True}),
        (pack_values, {"sense": "max"}),
        ("support.solvers.pack", {}),
    ],
)
def test_the_answers_are_those_of_the_function(solve, settings):
    expected = pack_rows(COSTS)
    w = solver(solve, **settings).minimise(COSTS.reshape(5, 6, 24))
    np.testing.assert_array_equal(w.reshape(30, 24), expected)
    tensor = solver(solve, **settings).minimise(torch.from_numpy(COSTS))
    np.testing.assert_array_equal(tensor.numpy(), expected)


def test_equal_costs_are_solved_once():
    calls: Counter[bytes] = Counter()

    def count_call(costs):
        calls[costs.tobytes()] += 1
        return pack(costs)

    polytope = solver(count_call)
    twice = np.concatenate([COSTS[:5], COSTS[:5]])
    np.testing.assert_array_equal(polytope.minimise(twice), polytope.minimise(twice))
    assert set(calls.values()) == {1}
    assert len(calls) == 5


def test_a_function_that_writes_into_its_argument_changes_nothing():
    def greedy(costs):
        costs[:] = 0.0
        return costs

    before = COSTS[:2].copy()
    assert not solver(greedy).minimise(before).any()
    np.testing.assert_array_equal(before, COSTS[:2])


def test_only_the_latest_answers_are_kept(monkeypatch):
    monkeypatch.setattr("odfl_cli.problem.polytopes.solver.MEMO_BYTES", 4 * (16 * 24 + 200))
    polytope = solver(pack)
    np.testing.assert_array_equal(polytope.minimise(COSTS), pack_rows(COSTS))
    assert list(polytope._caller.memo) == [row.tobytes() for row in COSTS[-4:]]


def raises(costs):
    raise ValueError("no room\nfor more")


def ends(costs):
    raise SystemExit(3)


def with_sums(costs):
    return np.full(24, 1.0 if costs[0] > 0 else 2.0)


@pytest.mark.parametrize(
    ("solve", "settings", "reason"),
    [
        (lambda costs: costs[:3], {}, "returned 3 numbers; 24 are needed"),
        (lambda costs: costs[:, :3], {"batch": True}, "returned 30 × 3 numbers; 30 × 24"),
        (lambda costs: np.nan * costs, {}, "returned nan, which is not finite"),
        (lambda costs: np.inf * np.ones(24), {}, "returned inf, which is not finite"),
        (lambda costs: None, {}, "returned None; a decision of 24 numbers"),
        (lambda costs: "abc", {}, "returned a str; a decision"),
        (lambda costs: (pack(costs), 1.0), {}, "returned a tuple; a decision"),
        (lambda costs: 3.0, {}, "returned a float; a decision"),
        (lambda costs: pack(costs[0]), {"batch": True}, "rows of decisions of 24"),
        (raises, {}, "ValueError: no room for more"),
        (ends, {}, "SystemExit: 3"),
        (with_sums, {"constant_sum": True}, "has the sum 48 and another 24; constant_sum=true"),
    ],
)
@pytest.mark.parametrize("seconds", [None, 60.0])
def test_what_is_no_decision_is_refused(solve, settings, reason, seconds):
    with pytest.raises(RowError, match=f"polytope.solve: .*{reason}"):
        solver(solve, seconds=seconds, **settings).minimise(COSTS)


def test_the_row_that_failed_is_named():
    def fails_at_nine(costs):
        return pack(costs) if costs[0] != COSTS[9, 0] else costs[:2]

    with pytest.raises(RowError) as refusal:
        solver(fails_at_nine).minimise(COSTS)
    assert (refusal.value.row, refusal.value.rows) == (9, 30)


def test_a_function_that_never_returns_is_left_behind():
    stop = []

    def waits(costs):
        while costs[0] == COSTS[2, 0] and not stop:
            pass
        return pack(costs)

    polytope = solver(waits, seconds=0.3)
    with pytest.raises(RowError, match=r"no answer within 0.3 s; polytope.seconds") as refusal:
        polytope.minimise(COSTS)
    assert refusal.value.row == 2
    stop.append(True)
    np.testing.assert_array_equal(polytope.minimise(COSTS[3:]), pack_rows(COSTS[3:]))


def test_a_limit_may_be_longer_than_a_clock_can_wait():
    np.testing.assert_array_equal(solver(pack, seconds=1e30).minimise(COSTS), pack_rows(COSTS))


def test_what_it_prints_goes_to_stderr(capsys):
    def talks(costs):
        print("hello")
        return pack(costs)

    solver(talks).minimise(COSTS[:1])
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", "hello\n")


@pytest.mark.parametrize(
    ("solve", "reason"),
    [
        ("nowhere.solve", "there is no module nowhere here; start odfl in the directory"),
        ("support.solvers.nothing", "cannot be imported"),
        ("support.solvers.CITIES", "is an int; a function of the costs is needed"),
    ],
)
def test_a_name_that_is_no_function_is_refused(solve, reason):
    with pytest.raises(ValidationError, match=reason):
        solver(solve)


SMALL = {"algo": "pf_ogd", "data": {"items": 24}, "horizon": {"rounds": 60}, "seeds": 2}


@pytest.fixture
def played(monkeypatch):
    """The groups that were played in processes, which pay from the first decision on."""
    found: list[groups.Group] = []

    def play(parts):
        block = list(parts)
        found.extend(block)
        return groups.play_in_processes(block)

    monkeypatch.setattr(groups, "WORTH", 0.0)
    monkeypatch.setattr(array_engine, "play_in_processes", play)
    return found


def fails_on(wanted, costs):
    return raises(costs) if costs.tobytes() == wanted else slow(costs)


@pytest.mark.thorough
def test_slow_solvers_play_seeds_side_by_side_with_the_same_numbers(played):
    asked = []

    def record_call(costs):
        asked.append(costs.tobytes())
        return pack(costs)

    with at_most(1):
        alone = run(polytope=record_call, **SMALL).rows
    with at_most(2):
        together = run(polytope=slow, **SMALL).rows
    assert [len(group.rounds.costs) for group in played] == [1, 1]
    pd.testing.assert_frame_equal(together, alone, check_exact=True)
    asked.clear()
    run(polytope=record_call, **{**SMALL, "seeds": [1]})
    with at_most(2), pytest.raises(UserError, match=r"seed 1, round 21: .*ValueError: no room"):
        run(polytope=partial(fails_on, asked[20]), **SMALL)


def test_a_function_that_cannot_be_pickled_stays_in_the_process(monkeypatch, played):
    monkeypatch.setattr(groups, "SLOW", 0.0)
    lock = os.scandir(".")  # cannot be sent

    def bound(costs, lock=lock):
        return pack(costs)

    with at_most(2):
        run(polytope=bound, **SMALL)
    assert not played
    lock.close()


@pytest.mark.parametrize("algo", ["pf_ogd", "spo", "ogd"])
def test_the_best_cost_is_that_of_an_independent_solver(algo):
    result = run(
        algo=algo, polytope=tour, data={"items": len(EDGES)}, horizon={"rounds": 20}, seeds=2
    )
    job = composed_job(f"data.items={len(EDGES)}", "horizon.rounds=20", "seeds=2")
    costs = job.environment.rounds((0, 1), 0, 20).costs
    for seed in (0, 1):
        expected = [held_karp(c) for c in costs[seed]]
        best = result.rows.query("seed == @seed")["best_cost"]
        np.testing.assert_allclose(best, expected, rtol=0, atol=1e-9)


def test_an_object_with_minimise_alone_is_a_set():
    class Tour:
        def minimise(self, costs):
            return tour(costs)

    settings = {"algo": "ogd", "data": {"items": 15}, "horizon": {"rounds": 4}, "seeds": 2}
    one, other = run(polytope=Tour(), **settings), run(polytope=tour, **settings)
    np.testing.assert_array_equal(one.rows["cost"], other.rows["cost"])


def test_a_set_of_another_length_is_refused_before_its_faces_are_listed():
    """The faces for a million items would fill the memory."""

    class Vast(Assignment):
        def equalities(self):
            raise AssertionError("listed")

    with pytest.raises(UserError, match=r"data\.items=5: .* decisions of length 1000000"):
        run(polytope=Vast(size=1000), regularizer="log_barrier")


def test_what_is_no_set_is_refused():
    with pytest.raises(UserError, match="object is no decision set; give one with minimise"):
        run(polytope=object())


@pytest.mark.parametrize(
    ("overrides", "reason"),
    [
        (
            ("regularizer=log_barrier",),
            "log_barrier needs the faces .* Solver does not state; choose .*perturbed",
        ),
        (
            ("regularizer=quadratic",),
            "quadratic needs the faces .* Solver does not state; choose .*perturbed",
        ),
        (("regularizer=entropy",), "smooths the simplex only; .* else perturbed"),
        (("algo=uniform",), "algo=uniform plays the centre .* Solver .* algo=frozen"),
        (("metrics=full",), "metrics.margin=true needs the faces .* metrics.margin=false"),
    ],
)
def test_what_needs_faces_says_so_in_one_line(overrides, reason):
    chosen = ("polytope=solver", "polytope.solve=support.solvers.tour", "data.items=15")
    with pytest.raises(UserError, match=reason):
        simulate(composed_job(*chosen, *overrides, "horizon.rounds=2", "seeds=1"))


RUN = ("run", "algo=pf_ogd", "polytope=solver", "data.items=15", "horizon.rounds=5", "seeds=2")
MODULE = """
from support.solvers import tour
calls = []
def good(costs):
    print("a line")
    return tour(costs)
def late(costs):
    calls.append(1)
    return tour(costs) if len(calls) < 8 else 1 / 0
"""


def test_a_run_that_fails_says_where_and_loses_nothing(tmp_path):
    (tmp_path / "mine.py").write_text(MODULE)
    failed = odfl(*RUN, "polytope.solve=mine.late", cwd=tmp_path)
    assert failed.returncode == 1
    assert complaints(failed) == [
        "odfl: pf_ogd, seed 0, round 5: polytope.solve: ZeroDivisionError: division by zero"
    ]
    (record,) = tmp_path.rglob("failed.json")
    assert "division by zero" in record.read_text()
    done = odfl(*RUN, "polytope.solve=mine.good", cwd=tmp_path)
    assert done.returncode == 0
    assert "a line" not in done.stdout
    assert len(list(tmp_path.rglob("seed-*.csv"))) == 2


def test_a_solver_that_changed_is_run_again(tmp_path):
    (tmp_path / "mine.py").write_text(MODULE)
    assert odfl(*RUN, "polytope.solve=mine.good", cwd=tmp_path).returncode == 0
    (tmp_path / "mine.py").write_text(MODULE + "\n")
    again = odfl(*RUN, "polytope.solve=mine.good", cwd=tmp_path)
    assert "mine changed since seeds 0, 1 were computed" in again.stderr
