"""A model in a file as the decision set: the same optima as an independent solver, and refusals."""

import gzip
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog
from support.commands import complaints, odfl
from support.problems import composed_job
from support.samples import some_of
from support.solvers import CAPACITY, WEIGHTS, as_mps, pack, pack_rows, write_knapsack

from odfl_cli.core.errors import UserError
from odfl_cli.problem.polytopes.model import LARGEST_FILE, Model
from odfl_cli.runs.simulate import simulate

COSTS = np.random.default_rng(3).normal(size=(12, 24))


@pytest.fixture
def knapsack(tmp_path: Path) -> Path:
    return write_knapsack(tmp_path / "plan.lp")


def pack_file(path: Path) -> Path:
    target = path.with_name(f"{path.name}.gz")
    target.write_bytes(gzip.compress(path.read_bytes()))
    return target


@pytest.mark.parametrize(
    "kind", [lambda path: path, as_mps, pack_file, lambda path: pack_file(as_mps(path))]
)
@pytest.mark.parametrize("start", ["first", "last"])
def test_the_knapsack_is_that_of_the_dynamic_programme(knapsack, kind, start):
    w = Model(file=str(kind(knapsack)), start=start).minimise(COSTS)
    np.testing.assert_allclose((COSTS * w).sum(-1), (COSTS * pack_rows(COSTS)).sum(-1), atol=1e-9)
    assert set(np.unique(w)) <= {0.0, 1.0}


def test_the_relaxation_is_that_of_scipy(tmp_path):
    w = Model(file=str(write_knapsack(tmp_path / "plan.lp", binary=False))).minimise(COSTS)
    for costs, found in zip(COSTS, w, strict=True):
        best = linprog(costs, WEIGHTS[None], [CAPACITY], bounds=(0, 1)).fun
        assert costs @ found == pytest.approx(best, abs=1e-9)


def test_an_answer_does_not_depend_on_what_was_solved_before(knapsack):
    model = Model(file=str(knapsack))
    together = model.minimise(COSTS)
    for row in (7, 2):
        np.testing.assert_array_equal(Model(file=str(knapsack)).minimise(COSTS[row]), together[row])


@pytest.mark.parametrize(
    ("variables", "columns"), [(("x3", "x1"), [3, 1]), ("x1?", range(10, 20)), (None, range(24))]
)
def test_the_variables_that_are_decided_on(knapsack, variables, columns):
    """The others have the costs of the file: 1 for x0, else 0, so that none need be packed."""
    model = Model(file=str(knapsack), variables=variables)
    assert model.dimension == len(columns)
    costs, all_costs = COSTS[0, : len(columns)], np.zeros(24)
    all_costs[columns] = costs
    expected = pack(all_costs) @ all_costs
    assert model.minimise(costs) @ costs == pytest.approx(expected, abs=1e-9)


SLACK = """max
 obj: 2 a - 3 slack
st
 demand: a + b + slack >= 4
bounds
 a <= 3
 b <= 3
 slack <= 9
end
"""


def test_other_variables_keep_their_costs_and_the_sense_of_the_file(tmp_path):
    """A unit of slack costs 3, so that a and b cover the demand as long as they cost less."""
    (tmp_path / "plan.lp").write_text(SLACK)
    model = Model(file=str(tmp_path / "plan.lp"), variables=("a", "b"))
    np.testing.assert_allclose(model.minimise(np.array([1.0, 2.0])), [3.0, 1.0])
    np.testing.assert_allclose(model.minimise(np.array([5.0, 2.0])), [0.0, 3.0])


def test_solves_that_hit_the_limit_are_counted(knapsack):
    model = Model(file=str(knapsack), seconds=1e-4)
    w = model.minimise(COSTS)
    assert (w @ WEIGHTS <= CAPACITY).all()
    assert model.take_limited(4).sum() > 0
    assert not model.take_limited(4).any()


@pytest.mark.thorough
def test_a_limit_is_on_one_solve_and_not_on_all(knapsack):
    model = Model(file=str(knapsack), seconds=2.0)
    for costs in np.random.default_rng(0).normal(size=(150, 24)):
        model.minimise(costs)
    assert model.solve._highs.getRunTime() > 0
    assert not model.take_limited(1).any()


def test_a_wide_gap_ends_a_solve_and_is_counted(knapsack):
    model = Model(file=str(knapsack), gap=0.5)
    cost = (COSTS * model.minimise(COSTS)).sum(-1)
    best = (COSTS * pack_rows(COSTS)).sum(-1)
    assert (cost <= best + 0.5 * np.abs(cost) + 1e-9).all()
    assert model.take_limited(1).sum() >= (cost > best + 1e-9).sum() > 0


def test_limits_are_a_column(knapsack):
    chosen = ("polytope=model", f"polytope.file={knapsack}", "data.items=24", "algo=pf_ogd")
    jobs = [composed_job(*chosen, "horizon.rounds=3", "seeds=2", *more)
            for more in (["polytope.seconds=0.0001"], [])]  # fmt: skip
    limited, free = (simulate(job).table for job in jobs)
    assert limited["solver_limits"].shape == (2, 3)
    assert (limited["solver_limits"] >= 1).all()  # of the decision, and of the best one
    assert "solver_limits" not in free


def test_a_program_is_read_again_in_another_process(knapsack):
    program = Model(file=str(knapsack)).solve
    again = pickle.loads(pickle.dumps(program))
    np.testing.assert_array_equal(again(COSTS[0]), program(COSTS[0]))


@pytest.mark.parametrize("words", [("polytope=custom", "polytope.file=triangle.csv", "data.items=3"),
                                   ("polytope=model", "polytope.file=plan.lp", "data.items=24")])  # fmt: skip
def test_a_highspy_that_cannot_be_imported_is_one_line(words, knapsack, monkeypatch):
    """This happens after `import ortools`, which contains a HiGHS of another version."""
    monkeypatch.chdir(knapsack.parent)
    (knapsack.parent / "triangle.csv").write_text("1,0,0,>=,0\n0,1,0,>=,0\n0,0,1,>=,0\n1,1,1,=,1\n")
    monkeypatch.setitem(sys.modules, "highspy", None)
    words_shown = r"highspy cannot be imported .*ortools was imported before .* `import highspy`"
    with pytest.raises(UserError, match=words_shown):
        composed_job(*words)


UNBOUNDED = "min\n obj: x\nst\n c: x + y >= 1\nbounds\n x free\n y <= 1\nend\n"
INFEASIBLE = "min\n obj: x\nst\n c: x >= 2\nbounds\n x <= 1\nend\n"


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    some_of(
        [
            ("plan.lp", UNBOUNDED, "the model is unbounded: x has no limit"),
            ("plan.lp", INFEASIBLE, "the model is infeasible"),
            ("plan.lp", "hello", "not a model that HiGHS can read"),
            ("plan.mps", "", "not a model that HiGHS can read"),
            ("plan.mps.gz", "hello", "not a model that HiGHS can read"),
            ("plan.txt", "hello", "should end in .mps or .lp"),
            ("missing.mps", None, "there is no such file"),
        ],
        3,
    ),
)
def test_a_file_that_is_no_set_is_refused_in_one_line(tmp_path, name, content, reason):
    if content is not None:
        (tmp_path / name).write_text(content)
    done = odfl("run", "polytope=model", f"polytope.file={name}", "data.items=2", cwd=tmp_path)
    assert done.returncode == 2
    (line,) = complaints(done)
    assert line.startswith(f"odfl: polytope.file={name}: ")
    assert reason in line
    assert not list(tmp_path.rglob("run.log"))


def test_a_file_of_200_mb_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "plan.mps"
    with open(path, "wb") as file:
        file.truncate(200 * 2**20)
    assert path.stat().st_size > LARGEST_FILE
    with pytest.raises(UserError, match="more than 100 MB"):
        Model(file=str(path))
    with gzip.open(tmp_path / "plan.mps.gz", "wb", compresslevel=1) as file:
        for _ in range(101):
            file.write(bytes(2**20))
    with pytest.raises(UserError, match="more than 100 MB"):
        Model(file=str(tmp_path / "plan.mps.gz"))


@pytest.mark.parametrize(
    ("variables", "reason"),
    [
        (("x1", "y2"), "there is no variable y2; there are x"),
        ("y*", r"no variable fits polytope.variables=y\*; there are x0"),
        (("x1", "x1"), "named twice"),
    ],
)
def test_wrong_names_are_refused(knapsack, variables, reason):
    with pytest.raises(UserError, match=reason):
        Model(file=str(knapsack), variables=variables)
