"""A file replayed is the file, however it is cut."""

import json
import shlex

import numpy as np
import pandas as pd
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.commands import odfl, run_directories
from support.problems import composed_job
from support.recordings import DATA, write
from support.samples import some_of

from odfl_cli import run
from odfl_cli.cli.data.check import main as check
from odfl_cli.config.compose import compose_job
from odfl_cli.config.identity import identity, resolve
from odfl_cli.core.errors import UserError
from odfl_cli.environments.look import look
from odfl_cli.environments.replay import npz_file, parquet_file, tables
from odfl_cli.environments.replay.environment import Replay
from odfl_cli.environments.replay.past import BOUND, PastScale
from odfl_cli.environments.replay.tables import Columns
from odfl_cli.metrics.base import MEAN_COLUMNS
from odfl_cli.runs.simulate import simulate


def group_of(name: str) -> tuple[str, ...]:
    return () if name.endswith("npz") else ("data.group=seed",)


@pytest.mark.parametrize("name", some_of(["rounds.csv", "rounds.npz", "rounds.parquet"], 1))
def test_seeds_keep_their_names_and_so_their_draws(tmp_path, monkeypatch, name):
    """DF-OGD draws a start of its own for every seed: replayed under that name it is the same run."""
    monkeypatch.chdir(tmp_path)
    written = name.replace("parquet", "csv")
    chosen = ("algo=df_ogd", "horizon.rounds=40", "seeds=[61001,7,2]")
    done = odfl("data", "export", "-o", written, *DATA[:2], *chosen, cwd=tmp_path)
    assert done.stdout == f"odfl run data=replay data.file={written}\n", done.stderr
    if name != written:
        pyarrow.parquet.write_table(pyarrow.csv.read_csv(written), name)
    drawn = simulate(composed_job(*DATA[:2], *chosen)).table
    replay = ("data=replay", f"data.file={tmp_path / name}", "theta_radius=1", *group_of(name))
    replayed = simulate(composed_job(chosen[0], *replay)).table
    assert set(drawn) - set(replayed) == set(MEAN_COLUMNS)  # a file has no law
    for column, values in replayed.items():
        np.testing.assert_array_equal(values, drawn[column], err_msg=column)
    alone = simulate(composed_job(*chosen[:2], "seeds=[7]", *replay)).table
    np.testing.assert_array_equal(alone["cost"], drawn["cost"][1:2])
    with pytest.raises(UserError, match=r"no seed 0; .* write seeds=\[2,7,61001\]"):
        composed_job(*chosen[:2], "seeds=1", *replay)
    with pytest.raises(UserError, match="known parameter"):
        simulate(composed_job("algo=clairvoyant", *replay))


@pytest.mark.parametrize("seeds", [[3, 3], [3, 4, 5], [0.5, 1.5]])
def test_seeds_that_do_not_name_the_groups_are_refused(tmp_path, seeds):
    path = tmp_path / "rounds.npz"
    np.savez(path, X=np.ones((2, 3, 4, 2)), c=np.ones((2, 3, 4)), seed=np.array(seeds))
    with pytest.raises(UserError, match="seed"):
        Replay(file=str(path))


@pytest.mark.parametrize("standardise", [False, True])
@pytest.mark.parametrize("name", ["rounds.csv", "rounds.npz"])
def test_a_round_does_not_depend_on_the_block_or_the_other_seeds(exported, name, standardise):
    group = "seed" if name.endswith("csv") else None
    data = Replay(file=str(exported / name), group=group, standardise=standardise, intercept=True)
    whole = data.rounds((0, 1, 2), 0, 40)
    assert (whole.X[..., -1] == 1).all()
    for size in (1, 7, 16):
        for start in range(0, 40, size):
            stop = min(start + size, 40)
            part = data.rounds((2, 0), start, stop)
            np.testing.assert_array_equal(part.X, whole.X[[2, 0], start:stop])
            np.testing.assert_array_equal(part.costs, whole.costs[[2, 0], start:stop])


def test_the_size_of_the_chunks_changes_no_number(exported, monkeypatch, tmp_path):
    found = []
    for cells in (7, 50, 50_000):
        for module in (tables, parquet_file, npz_file):
            monkeypatch.setattr(module, "CELLS", cells)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / str(cells)))
        for name in ("rounds.csv", "rounds.npz", "rounds.parquet"):
            group = None if name.endswith("npz") else "seed"
            data = Replay(file=str(exported / name), group=group, standardise=True)
            found.append(data.rounds((0, 1, 2), 0, 40))
    for rounds in found[1:]:
        np.testing.assert_array_equal(rounds.X, found[0].X)
        np.testing.assert_array_equal(rounds.costs, found[0].costs)


@given(
    st.integers(1, 6),
    st.integers(1, 4),
    st.sampled_from([1e-3, 1.0, 1e3]),
    st.integers(0, 2**32 - 1),
)
def test_features_are_standardised_by_the_past_alone(items, cut, scale, seed):
    rng = np.random.default_rng(seed)
    X = 50.0 + scale * rng.normal(size=(9, items, 3))
    X[..., 2] = 7.0  # never varies
    past = PastScale(3)
    Z = np.concatenate([past.standardise(X[:cut]), past.standardise(X[cut:])])
    for t in range(9):
        seen = X[:t].reshape(-1, 3)
        if len(seen) < 2:
            np.testing.assert_array_equal(Z[t], 0.0)
            continue
        expected = ((X[t] - seen.mean(0))[:, :2] / seen.std(0)[:2]).clip(-BOUND, BOUND)
        np.testing.assert_allclose(Z[t, :, :2], expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(Z[..., 2], 0.0)
    changed = X.copy()
    changed[5:] += rng.normal(size=changed[5:].shape)
    np.testing.assert_array_equal(
        PastScale(3).standardise(changed)[:5], PastScale(3).standardise(X)[:5]
    )


def test_items_in_another_order_are_put_in_that_of_the_first_round(tmp_path):
    file = write(
        tmp_path / "a.csv",
        "cost,day,what,x\n1,2020-01-01,a,10\n2,2020-01-01,b,20\n4,2020-01-02,b,40\n3,2020-01-02,a,30\n",
    )
    data = Replay(file=file, columns={"round": "day", "item": "what", "cost": "cost"})
    rounds = data.rounds((0,), 0, 2)
    np.testing.assert_array_equal(rounds.costs, [[[1, 2], [3, 4]]])
    np.testing.assert_array_equal(rounds.X[..., 0], [[[10, 20], [30, 40]]])


def test_groups_may_take_turns_and_files_are_groups_too(tmp_path):
    rows = "r,g,x,cost\n1,u,1,1\n1,u,2,2\n1,v,3,3\n1,v,4,4\n2,u,5,5\n2,u,6,6\n2,v,7,7\n2,v,8,8\n"
    columns = {"round": "r", "item": None}
    together = Replay(file=write(tmp_path / "a.csv", rows), columns=columns, group="g")
    np.testing.assert_array_equal(
        together.rounds((0, 1), 0, 2).costs, [[[1, 2], [5, 6]], [[3, 4], [7, 8]]]
    )
    files = []
    for name, group in (("u.csv", "u"), ("v.csv", "v")):
        kept = [row.replace(f",{group},", ",") for row in rows.split() if f",{group}," in row]
        files.append(write(tmp_path / name, "\n".join(["r,x,cost", *kept])))
    apart = Replay(file=files, columns=columns)
    for ours, theirs in zip(apart.rounds((0, 1), 0, 2), together.rounds((0, 1), 0, 2), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_all_groups_and_rounds_are_played_unless_others_are_asked_for(tmp_path):
    """Rounds do not depend on the seeds asked for: seeds of one directory share a horizon."""
    table = [f"{g},{t},{i},1,{t}" for g, T in (("a", 5), ("b", 3)) for t in range(T) for i in "xy"]
    write(tmp_path / "a.csv", "\n".join(["shop,round,item,f,cost", *table]) + "\n")
    replay = ("algo=uniform", "data=replay", f"data.file={tmp_path}/a.csv", "data.group=shop")
    for asked, seeds, rounds in (
        ([], (0, 1), 3),
        (["seeds=1"], (0,), 3),
        (["seeds=[1]", "horizon.rounds=2"], (1,), 2),
        (["horizon=smoke", "seeds=1", "horizon.rounds=5"], (0,), 5),
    ):
        job = composed_job(*replay, *asked)
        assert (job.seeds, job.horizon.rounds) == (seeds, rounds), asked
    for asked, complaint in (
        (["horizon=smoke"], r"rounds=50: .* set horizon\.rounds=3"),
        (["seeds=3"], "no seed 2; .* write seeds=2"),
        (["seeds=1", "horizon.rounds=6"], r"set horizon\.rounds=5"),
    ):
        with pytest.raises(UserError, match=complaint):
            composed_job(*replay, *asked)


@pytest.mark.parametrize("key", ["seeds", "horizon.rounds"])
def test_a_generator_has_no_end_to_play_to(key):
    with pytest.raises(UserError, match=f"{key}=null"):
        composed_job(f"{key}=null")


@pytest.mark.thorough
def test_an_explicit_horizon_names_the_run_as_with_any_other_data(exported):
    """The default horizon of replayed rounds adds nothing to the identity of older runs."""
    file = f"data.file={exported}/rounds.npz"
    replay = ("data=replay", "theta_radius=1", file, "horizon.rounds=40")
    named = {
        identity(resolve(compose_job([*replay, *more])))
        for more in ([], ["horizon=short"], ["seeds=2"], ["horizon=paper", "seeds=null"])
    }
    assert len(named) == 1


def test_skipping_leaves_out_the_rounds_that_miss_something(tmp_path):
    file = write(
        tmp_path / "a.csv",
        "round;item;x;cost\n1;a;1;1\n1;b;2;2\n2;a;NA;3\n2;b;4;4\n3;a;5;\n3;b;6;6\n4;a;7;7\n5;a;8;8\n5;b;9;9\n",
    )
    data = Replay(file=file, on_missing="skip")
    np.testing.assert_array_equal(data.rounds((0,), 0, 2).costs, [[[1, 2], [8, 9]]])
    with pytest.raises(UserError, match=r"horizon\.rounds=3: .* 2 rounds"):
        data.check_extent((0,), 3)


@pytest.mark.parametrize(
    "labels",
    [("9", "10"), ("-1.5", "2e1"), ("2020-01", "2020-02"), ("2020-W01", "2020-W02"),
     ("2020-01-01", "2020-01-02"), ("2020-01-01 09:00:00", "2020-01-01T10:00:00"),
     ("2020-01-01T12:00:00+02:00", "2020-01-01T11:00:00Z")],
    ids="..".join,
)  # fmt: skip
def test_rounds_are_numbers_or_iso_dates(tmp_path, labels):
    rows = "".join(f"{label},{item},1,2\n" for label in labels for item in "ab")
    write(tmp_path / "a.csv", "round,item,x,cost\n" + rows)
    Replay(file=str(tmp_path / "a.csv")).check_extent((0,), 2)


@pytest.mark.parametrize(
    ("labels", "complaint"),
    [(("2020-01-01T11:00:00Z", "2020-01-01T13:00:00+02:00"), "should increase"),
     (("2020-01-01T09:00:00", "2020-01-01T10:00:00Z"), "time zone")],
)  # fmt: skip
def test_dates_with_a_time_zone_are_compared_as_instants(tmp_path, labels, complaint):
    rows = "".join(f"{label},{item},1,2\n" for label in labels for item in "ab")
    file = write(tmp_path / "a.csv", "round,item,x,cost\n" + rows)
    with pytest.raises(UserError, match=f"line 4, column round: .*{complaint}"):
        Replay(file=file)


def test_the_line_that_check_prints_runs_the_file(exported, tmp_path):
    (tmp_path / "my rounds.csv").write_text(
        (exported / "rounds.csv").read_text().replace("round", "day").replace("item", "what")
    )
    mapping = ("data.columns.round=day", "data.columns.item=what", "data.columns.features=[x0,x2]")
    done = odfl("data", "check", "my rounds.csv", *mapping, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "40 rounds, 4 items, 2 features, 3 groups" in done.stdout
    line = done.stdout.splitlines()[-1].removeprefix("usable: ")
    ran = odfl(*shlex.split(line)[1:], "algo=uniform", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    (directory,) = run_directories(tmp_path)
    summary = json.loads((directory / "summary.json").read_text())
    assert summary["rounds"] == 40
    assert summary["config"]["data"]["items"] == summary["config"]["polytope"]["dimension"] == 4
    assert summary["config"]["horizon"]["rounds"] == 40
    assert summary["config"]["seeds"] == summary["seeds"] == [0, 1, 2]


def test_what_is_missing_is_filled_from_earlier_rounds_alone(tmp_path):
    """Items a and b; the first round misses b's x, so nothing can fill it."""
    rows = ["round,item,x,cost", "1,a,1,10", "1,b,,20", "2,a,3,30", "2,b,5,40"]
    rows += ["3,a,,50", "3,b,7,", "4,a,,70", "4,b,9,80", "5,a,100,100", "5,b,100,100"]
    write(tmp_path / "a.csv", "\n".join(rows) + "\n")
    for how, x, cost in (("last", 3, 40), ("mean", 2, 30)):
        filled = Replay(file=str(tmp_path / "a.csv"), on_missing=how)
        filled.check_extent((0,), 4)
        X, costs = filled.rounds((0,), 0, 4)
        np.testing.assert_array_equal(X[0, :, 0, 0], [3, x, x, 100])
        np.testing.assert_array_equal(X[0, :, 1, 0], [5, 7, 9, 100])
        np.testing.assert_array_equal(costs[0, 1], [50, cost])
    np.savez(tmp_path / "a.npz", X=[[[1.0], [2]], [[np.nan], [4]]], c=[[1.0, 2], [3, np.nan]])
    X, costs = Replay(file=str(tmp_path / "a.npz"), on_missing="last").rounds((0,), 1, 2)
    assert (X[0, 0, 0, 0], costs[0, 0, 1]) == (1, 2)


def test_check_counts_what_is_missing_infinite_and_constant(tmp_path):
    text = "round,item,a,b,cost\n1,p,,3,1\n1,q,inf,3,2\n2,p,4,3,nan\n2,q,NA,3,5\n"
    write(tmp_path / "a.csv", text)
    done = odfl("data", "check", "a.csv", cwd=tmp_path)
    assert done.returncode == 2
    figures = {row.split()[0]: row.split()[1:] for row in done.stdout.splitlines() if row.split()}
    assert figures["a"] == ["2", "1", "4", "4", "4", "constant"]
    assert figures["b"] == ["0", "0", "3", "3", "3", "constant"]
    assert figures["cost"] == ["1", "0", "1", f"{8 / 3:.6g}", "5"]
    assert done.stderr.startswith(
        "odfl: data.file=a.csv: line 2, column a: missing; data.on_missing=skip "
    )
    assert "1      p     " in done.stdout


@pytest.mark.parametrize(
    ("word", "line"),
    [
        ("data.items=${nope.nope}", "data.items: Interpolation key"),
        ("data.columns=abc", "data.columns=abc: should be a dictionary"),
        ("data.group=7", "data.group=7: should be a valid string"),
    ],
)
def test_check_refuses_wrong_keys_in_one_line(tmp_path, word, line):
    file = write(tmp_path / "a.csv", "round,item,a,cost\n1,p,2,1\n1,q,1,2\n")
    with pytest.raises(UserError) as refused:
        check([str(file), word])
    assert str(refused.value).startswith(line)
    assert "\n" not in str(refused.value)


def test_unsorted_rows_are_put_in_order(tmp_path):
    """Rounds, and the rows of one: the same recording as of the sorted table, for each group."""
    rng = np.random.default_rng(0)
    rows = [(g, t, i, *rng.random(2)) for g in "uv" for t in range(8) for i in range(3)]
    for name, order in (("sorted", range(48)), ("shuffled", rng.permutation(48))):
        lines = "".join(",".join(map(str, rows[k])) + "\n" for k in order)
        write(tmp_path / f"{name}.csv", "shop,round,item,x,cost\n" + lines)
    sorted_, shuffled = (
        Replay(file=str(tmp_path / f"{name}.csv"), group="shop") for name in ("sorted", "shuffled")
    )
    items = [shuffled._recordings[0].groups.index(g) for g in sorted_._recordings[0].groups]
    for seed, same in enumerate(items):
        one, other = sorted_.rounds((seed,), 0, 8), shuffled.rounds((same,), 0, 8)
        np.testing.assert_array_equal(np.sort(one.costs), np.sort(other.costs))


@pytest.mark.parametrize("form", ["wide.csv", "shared.npz"])
def test_features_that_items_share_are_taken_once(tmp_path, form):
    """A column of costs for each item, or X [T, p] beside c [T, d] as PyEPO draws them."""
    rng = np.random.default_rng(1)
    x, c = rng.random((5, 2)), rng.random((5, 3))
    keys = {}
    if form == "wide.csv":
        lines = [f"{t},{','.join(map(str, [*x[t], *c[t]]))}\n" for t in (3, 1, 0, 4, 2)]
        write(tmp_path / form, "day,a,b,n,e,s\n" + "".join(lines))
        keys = {"columns": Columns(round="day", cost=("n", "e", "s"))}
    else:
        np.savez(tmp_path / form, x=x, c=c)
    X, costs = Replay(file=str(tmp_path / form), **keys).rounds((0,), 0, 5)[:2]
    np.testing.assert_array_equal(costs[0], c)
    np.testing.assert_array_equal(X[0], np.repeat(x[:, None], 3, axis=1))


def test_a_look_at_the_rounds_names_the_words_to_type():
    rng = np.random.default_rng(2)
    x, c = rng.normal(size=(50, 1, 2)) * [1e6, 1.0], rng.random((50, 3))
    c[:10, :2] = 0.0
    found = " | ".join(look(np.repeat(x, 3, axis=1), c, ["price", "b"], shared=True))
    words = ("predictor=per_item", "data.intercept=true", "price (", "theta_radius=auto", "20%")
    assert all(word in found for word in words)
    c[0] = c[0, :1]
    ties = "20% of the rounds, and what learns from the best decision"
    assert any(ties in line for line in look(rng.random((50, 3, 1)), c, ["a"], shared=True))
    X = np.concatenate([rng.normal(size=(50, 3, 1)), np.ones((50, 3, 2)) * [4.0, 1.0]], axis=-1)
    level = 100 + rng.random((50, 3))
    missing, shares = look(X[..., :1], level, ["a"], shared=True)
    assert missing.startswith("no feature is constant: data.intercept=true")
    assert shares.startswith("the costs of a round share a level (1e+02)")
    assert "data.target=rank" in shares
    assert [*look(X[..., :2], level, ["a", "intercept"], shared=True)] == [shares]
    assert not [*look(X[..., :2], level - 100, ["a", "intercept"], shared=True)]
    for columns, words in (
        (["a", "k"], "k; 'data.columns.features=[a]' leaves it out"),
        ([], "feature 1; leave it out of X"),
    ):
        (line,) = look(X, level - 100, columns, shared=True)
        assert line == f"constant, so that nothing depends on it: {words}"


def test_check_looks_at_the_rounds_with_the_keys_that_are_typed(tmp_path, capsys):
    """Items alike, without an intercept, with a level: each remark goes when its words are typed."""
    lines = "".join(f"{t},{i},{t % 5},{100 + i * t % 3}\n" for t in range(20) for i in range(3))
    write(tmp_path / "a.csv", "round,item,x,cost\n" + lines)
    typed = []
    for words in ("predictor=per_item", "data.intercept=true", "data.target=rank"):
        check([str(tmp_path / "a.csv"), *typed])
        assert words in capsys.readouterr().out
        typed.append(words)
        check([str(tmp_path / "a.csv"), *typed])
        assert words not in capsys.readouterr().out.partition("usable")[0]


def test_a_frame_is_replayed_and_a_check_is_remembered(tmp_path, capsys):
    frame = pd.DataFrame(
        [(t, i, t * i % 5, (t + i) % 3) for t in range(6) for i in range(3)],
        columns=["day", "item", "x", "cost"],
    )
    frame.to_csv(tmp_path / "shop.csv", index=False)
    remembered = tmp_path / "conf" / "data" / "shop.yaml"
    done = odfl(
        "data", "check", "shop.csv", "data.columns.round=day", "-o", str(remembered), cwd=tmp_path
    )
    assert f"usable: odfl run --config-dir={tmp_path}/conf data=shop" in done.stdout
    ran = odfl("run", f"--config-dir={tmp_path}/conf", "data=shop", "algo=rls", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    (written,) = tmp_path.rglob("seed-0.csv")
    result = run(algo="rls", data=(frame, {"columns": {"round": "day"}}))
    np.testing.assert_array_equal(result.rows["cost"], pd.read_csv(written)["cost"])
    assert capsys.readouterr().err == ran.stderr != ""
