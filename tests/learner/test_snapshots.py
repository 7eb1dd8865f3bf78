"""A learner that is saved goes on to the last bit; a file that is not its own is refused."""

import copy
import json
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file
from support.commands import odfl, run_directories
from support.learning import (
    ALGORITHMS,
    OFTEN,
    T,
    assert_same,
    assert_same_state,
    play_job,
    start_learner,
)
from support.samples import examples

from odfl_cli import Learner, UserError
from odfl_cli.algorithms.gradient import PFOGD
from odfl_cli.runs.snapshot import unpack

COSTLY = [pytest.param(a, marks=[] if a in OFTEN else pytest.mark.thorough) for a in ALGORITHMS]


@pytest.mark.parametrize("algo", COSTLY)
def test_a_saved_learner_goes_on_to_the_last_bit(algo: str, tmp_path: Path) -> None:
    (X, costs), simulation = play_job(f"algo={algo}", "data.items=5")
    cut = int(np.random.default_rng(len(algo)).integers(1, T))
    start_learner(algo).partial_fit(X[0, :cut], costs[0, :cut]).save(tmp_path / "a.safetensors")
    after = Learner.load(tmp_path / "a.safetensors")
    assert after.rounds_ == cut
    assert_same(after.partial_fit(X[0, cut:], costs[0, cut:]), simulation)


@given(cuts=st.lists(st.integers(1, 39), min_size=1, max_size=3, unique=True))
@examples(0.1)
def test_it_may_be_saved_after_any_rounds(cuts: list[int], tmp_path_factory) -> None:
    (X, costs), simulation = play_job("algo=df_ftpl", "data.items=5", rounds=40)
    file, learner = tmp_path_factory.mktemp("cut") / "x", start_learner("df_ftpl", rounds=40)
    for t in range(40):
        if t in cuts:
            learner.save(file)
            learner = Learner.load(file)
        learner.learn_one(X[0, t], costs[0, t])
    assert_same(learner, simulation)


@pytest.mark.thorough
def test_everything_else_goes_on_too(tmp_path: Path) -> None:
    """Scale, names, items that are not offered, the detector and the doubled horizon."""
    (X, costs), _ = play_job("algo=df_ogd")
    scaled = {"standardise": True, "intercept": True}
    words = {**scaled, "items": tuple("abcde"), "horizon": {"rounds": 30}}
    one, two = (Learner(algo="hedge", **words) for _ in range(2))
    for t in range(120):
        table = {i: dict(enumerate(x)) for i, x in zip("abcde", X[0, t].tolist(), strict=True)}
        price = dict(zip("abcde", costs[0, t].tolist(), strict=True))
        if t % 7 == 0:
            del table["c"], price["c"]
        if t in {50, 51, 101}:
            two.save(tmp_path / "x")
            two = Learner.load(tmp_path / "x")
        assert one.predict_one(table) == two.predict_one(table)
        one.learn_one(table, price)
        two.learn_one(table, price)
    assert_same_state(one._place.state, two._place.state)
    assert one.get_params() == two.get_params()
    assert (one.horizon_, one.cost_, one._place.drift) == (
        two.horizon_, two.cost_, two._place.drift
    )  # fmt: skip


RESTARTED = """
import sys, numpy as np
from odfl_cli import Learner
data = np.load(sys.argv[1])
learner = Learner.load(sys.argv[2])
t = learner.rounds_
learner.partial_fit(data["X"][t:t + 50], data["c"][t:t + 50])
learner.save(sys.argv[2])
"""


@pytest.mark.thorough
@pytest.mark.parametrize("algo", ["df_ogd", "df_ftpl", "vote"])
def test_processes_that_follow_each_other_are_one_run(algo: str, tmp_path: Path) -> None:
    (X, costs), simulation = play_job(f"algo={algo}", "data.items=5")
    file = tmp_path / "shop.safetensors"
    np.savez(tmp_path / "rounds.npz", X=X[0], c=costs[0])
    start_learner(algo).partial_fit(X[0, :50], costs[0, :50]).save(file)
    for _ in range(3):
        subprocess.run([sys.executable, "-c", RESTARTED, tmp_path / "rounds.npz", file], check=True)
    assert_same(Learner.load(file), simulation)


SAVER = """
import os, sys
import numpy as np
from odfl_cli import Learner
learner = Learner.load(sys.argv[1])
learner.predict_one(np.ones((5, 10)))
for line in sys.stdin:
    child = os.fork()
    if not child:
        while True:
            learner.learn_one(np.ones((5, 10)), np.arange(5))
            learner.save(sys.argv[1])
    print(child, flush=True)
    os.waitpid(child, 0)
    print("gone", flush=True)
"""


@pytest.mark.thorough
def test_a_kill_while_saving_leaves_the_old_or_the_new_file(tmp_path: Path) -> None:
    """A process that learns and saves as fast as it can, killed fifty times."""
    file, rng, found = tmp_path / "shop.safetensors", np.random.default_rng(1), []
    learner = start_learner("df_ftpl", rounds=3000)
    learner.partial_fit(rng.normal(size=(9, 5, 10)), np.ones((9, 5)))
    learner.save(file)
    begun = time.perf_counter()
    learner.save(file)
    seconds = time.perf_counter() - begun
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", SAVER, file], **pipes) as process:
        for _ in range(50):
            process.stdin.write("save\n")
            process.stdin.flush()
            child = int(process.stdout.readline())
            time.sleep(rng.uniform(0, 10 * seconds))
            os.kill(child, signal.SIGKILL)
            assert process.stdout.readline() == "gone\n"
            found.append(unpack(file.read_bytes(), "file").header["numbers"]["rounds"])
        process.stdin.close()
    assert min(found) >= 9
    assert len(set(found)) > 1  # some were saved before the kill


def save_learner(tmp_path: Path, **params: object) -> Path:
    file = tmp_path / "shop.safetensors"
    Learner(**params).partial_fit(np.ones((2, 3, 2)), np.ones((2, 3))).save(file)
    return file


def test_what_is_no_snapshot_is_refused(tmp_path: Path) -> None:
    file = save_learner(tmp_path)
    whole = file.read_bytes()
    text, short, flipped = (tmp_path / name for name in ("text", "short", "flipped"))
    text.write_text("θ = 0\n")
    short.write_bytes(whole[:-9])
    flipped.write_bytes(whole[:-3] + bytes([whole[-3] ^ 1]) + whole[-2:])
    for path, message in [
        (text, "it is not a snapshot of odfl, or damaged"),
        (short, "it is not a snapshot of odfl, or damaged"),
        (flipped, "it is damaged"),
        (tmp_path / "none", "No such file"),
        (tmp_path, "Is a directory"),
    ]:
        with pytest.raises(UserError, match=message):
            Learner.load(path)
    with pytest.raises(UserError, match="cannot write there"):
        Learner.load(file).save(tmp_path / "no" / "file")


def test_a_header_that_was_changed_is_refused(tmp_path: Path) -> None:
    whole = save_learner(tmp_path).read_bytes()
    changed = whole.replace(b'\\"rounds\\": 2', b'\\"rounds\\": 3')
    assert changed != whole
    with pytest.raises(UserError, match="it is damaged"):
        unpack(changed, "file")


def test_another_version_or_configuration_is_refused_with_what_differs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = save_learner(tmp_path, algo=("df_ogd", {"c_eta": 0.3}))
    with pytest.raises(UserError, match=r"made with algo\._target_=DFOGD, not with .*=RLS"):
        Learner.load(file, algo="rls")
    with pytest.raises(UserError, match=r"made with algo\.c_eta=0\.3, not with algo\.c_eta=0\.1"):
        Learner.load(file, algo="df_ogd")
    with pytest.raises(UserError, match="made with intercept=false, not with intercept=true"):
        Learner.load(file, intercept=True)
    monkeypatch.setattr("odfl_cli.runs.snapshot.__version__", "9.9")
    with pytest.raises(UserError, match=r"made by odfl .*, and this is 9\.9"):
        Learner.load(file)


def test_objects_are_given_again(tmp_path: Path) -> None:
    file = save_learner(tmp_path, algo=PFOGD)
    with pytest.raises(UserError, match=r"algo was an object \(.*PFOGD\); give it, algo=…"):
        Learner.load(file)
    assert Learner.load(file, algo=PFOGD).rounds_ == 2


def test_nothing_is_executed_and_others_can_read_the_arrays(tmp_path: Path) -> None:
    file = save_learner(tmp_path, algo="rls")
    assert repr(Learner.load(file)) == "Learner(algo='rls', seed=0)"
    arrays = load_file(file)
    np.testing.assert_array_equal(arrays["state.theta"][0], Learner.load(file).theta_)
    length = int.from_bytes(file.read_bytes()[:8], "little")
    header = json.loads(json.loads(file.read_bytes()[8 : 8 + length])["__metadata__"]["odfl"])
    assert header["params"]["algo"] == "rls"
    assert header["versions"].keys() >= {"odfl", "numpy"}


@pytest.mark.thorough
def test_a_torch_module_is_in_the_file(tmp_path: Path) -> None:
    module = torch.nn.Sequential(torch.nn.Linear(10, 1), torch.nn.Flatten(0)).double()
    (X, costs), _ = play_job("algo=df_ogd", rounds=12)
    whole = Learner(algo="pf_ogd", predictor=module).partial_fit(X[0], costs[0])
    part = whole.clone().partial_fit(X[0, :5], costs[0, :5])
    part.save(tmp_path / "net")
    assert load_file(tmp_path / "net")["module.0.weight"].shape == (1, 10)
    after = Learner.load(tmp_path / "net", predictor=module).partial_fit(X[0, 5:], costs[0, 5:])
    np.testing.assert_array_equal(after.theta_, whole.theta_)
    with torch.no_grad():
        module[0].bias += 1.0
    with pytest.raises(UserError, match="give the module that it was made with"):
        Learner.load(tmp_path / "net", predictor=module)


def test_copies_and_pickles_are_snapshots() -> None:
    (X, costs), simulation = play_job("algo=df_ogd", rounds=12)
    learner = start_learner(rounds=12).partial_fit(X[0, :5], costs[0, :5])
    for other in (copy.deepcopy(learner), pickle.loads(pickle.dumps(learner))):
        assert_same(other.partial_fit(X[0, 5:], costs[0, 5:]), simulation)
    assert learner.rounds_ == 5


@pytest.mark.thorough
def test_a_run_that_is_continued_has_the_rows_of_one_run(tmp_path: Path) -> None:
    """700 rounds of which 500 are logged: rows that the first part did not log are there too."""
    for words in (["algo=vote", "algo.experts=[df_ogd,rls]"], ["algo=df_ogd"]):
        kept = ["seeds=[3,5]", "horizon.rounds=400", "save_state=true", "outputs=a"]
        first = odfl("run", *words, *kept, cwd=tmp_path)
        assert first.returncode == 0, first.stderr
        (run,) = (tmp_path / "a/runs").glob(f"{words[0][5:]}-*")
        name, go_on = run.name, ["seeds=[3,5]", "horizon.rounds=700"]
        done = odfl("run", *words, *go_on, f"continue={name}", "outputs=a", cwd=tmp_path)
        if words[0] == "algo=vote":
            assert done.returncode == 2
            assert "the schedules of vote depend on horizon.rounds" in done.stderr
            continue
        assert done.returncode == 0, done.stderr
        assert odfl("run", *words, *go_on, "outputs=b", cwd=tmp_path).returncode == 0
        (whole,) = run_directories(tmp_path / "b")
        for seed in (3, 5):
            file = f"seed-{seed}.csv"
            continued = tmp_path / "a/runs" / whole.name / file
            assert (whole / file).read_bytes() == continued.read_bytes()
        learner = Learner.from_run(run, seed=5)
        (X, costs), _ = play_job("algo=df_ogd", rounds=12)
        assert (learner.rounds_, learner.seed) == (400, 5)
        learner.learn_one(X[0, 0], costs[0, 0])
        for wrong, message in [
            (["data.gamma=0.5"], "made with data.gamma=1.0, not with data.gamma=0.5"),
            (["horizon.rounds=400"], "it has 400 rounds; set horizon.rounds=800"),
            (["seeds=[3,9]"], "no state of seed 9 is kept"),
            (["metrics=regret"], "these metrics follow θ"),
            (["continue=nonesuch"], "nonesuch: no such directory"),
        ]:
            again = (*words, *go_on, f"continue={name}", "outputs=a", "force=true", *wrong)
            refused = odfl("run", *again, cwd=tmp_path)
            assert (refused.returncode, message in refused.stderr) == (2, True), refused.stderr


@pytest.mark.thorough
def test_a_run_trains_the_learner_that_plays_its_rounds(tmp_path: Path) -> None:
    (X, costs), simulation = play_job("algo=df_ogd", "polytope=budget", rounds=60)
    words = ["algo=df_ogd", "polytope=budget", "seeds=[3]", "outputs=o"]
    assert odfl("run", *words, "horizon.rounds=40", "save_state=true", cwd=tmp_path).returncode == 0
    (run,) = run_directories(tmp_path / "o")
    learner = Learner.from_run(run)
    learner.partial_fit(X[0, 40:], costs[0, 40:])
    assert_same(learner, simulation)
    assert odfl("run", *words, "horizon.rounds=50", cwd=tmp_path).returncode == 0
    other = next(path for path in run_directories(tmp_path / "o") if path != run)
    with pytest.raises(UserError, match=r"no state of seed 3 is kept; odfl run .* save_state=true"):
        Learner.from_run(other, seed=3)
