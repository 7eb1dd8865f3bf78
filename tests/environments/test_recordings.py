"""A recording of a file is made once, and again when it is damaged, old or not to be trusted."""

import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.csv
import pyarrow.parquet
import pytest
from support.commands import odfl
from support.recordings import write

from odfl_cli.core.errors import UserError
from odfl_cli.environments.replay import recording
from odfl_cli.environments.replay.environment import Replay
from odfl_cli.environments.replay.parquet_file import open_parquet


def test_a_file_that_changes_is_read_again_and_old_recordings_go(tmp_path):
    """Recordings of the last day stay: another process may be replaying one."""
    kept = tmp_path / "cache/odfl/recordings"
    path = tmp_path / "a.csv"
    for cost in (1.0, 2.0, 3.0):
        write(path, f"round,item,x,cost\n1,a,1,{cost}\n1,b,2,2\n")
        os.utime(path, ns=(0, int(cost)))
        assert Replay(file=str(path)).rounds((0,), 0, 1).costs[0, 0, 0] == cost
        assert len(list(kept.iterdir())) == cost
    for old in kept.iterdir():
        os.utime(old, (0, old.stat().st_mtime - recording.DAY - 60))
    write(path, "round,item,x,cost\n1,a,1,4\n1,b,2,2\n")
    assert Replay(file=str(path)).rounds((0,), 0, 1).costs[0, 0, 0] == 4.0
    assert len(list(kept.iterdir())) == 1


def _flip(path):
    content = path.read_bytes()
    path.write_bytes(bytes([content[0] ^ 1]) + content[1:])


@pytest.mark.parametrize(
    ("name", "damage"),
    [(name, damage) for name in ("0.bin", "shape.json")
     for damage in (_flip, Path.unlink, lambda path: os.truncate(path, 5))],
)  # fmt: skip
def test_a_damaged_recording_is_made_again(tmp_path, name, damage):
    file = write(tmp_path / "a.csv", "round,item,x,cost\n1,a,1,5\n1,b,2,2\n")
    before = Replay(file=file).rounds((0,), 0, 1)
    (kept,) = (tmp_path / "cache/odfl/recordings").iterdir()
    damage(kept / name)
    for ours, theirs in zip(Replay(file=file).rounds((0,), 0, 1), before, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert [path.name for path in kept.parent.iterdir()] == [kept.name]


def test_an_untouched_recording_is_known_by_its_stamp_and_a_touched_one_by_its_content(
    tmp_path, monkeypatch
):
    file = write(tmp_path / "a.csv", "round,item,x,cost\n1,a,1,5\n1,b,2,2\n")
    Replay(file=file).rounds((0,), 0, 1)
    read = []
    monkeypatch.setattr(
        recording, "hash_file", lambda path, *_: read.append(path.name) or "another"
    )
    (kept,) = (tmp_path / "cache/odfl/recordings").iterdir()
    assert recording._is_whole(kept)
    assert read == []
    os.utime(kept / "0.bin")
    assert not recording._is_whole(kept)
    assert read == ["0.bin"]


def test_a_parquet_file_is_read_by_pages_not_by_row_groups(tmp_path):
    values = np.random.default_rng(0).normal(size=1_000_000)
    path = tmp_path / "a.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"x": values}), path, row_group_size=len(values))
    before = pyarrow.total_allocated_bytes()
    with open_parquet(path) as (_, rows):
        assert next(rows) == ("row 1", (values[0],))
        assert pyarrow.total_allocated_bytes() - before < path.stat().st_size / 2


def test_what_a_killed_process_left_is_removed_but_not_the_work_of_the_last_day(tmp_path):
    cache = tmp_path / "cache/odfl/recordings"
    old, new = cache / ".partial-old", cache / ".partial-new"
    cache.mkdir(parents=True, mode=0o700)
    for place in (old, new):
        place.mkdir()
        (place / "0.bin").write_bytes(b"half")
    os.utime(old, (0, 0))
    Replay(file=write(tmp_path / "a.csv", "round,item,x,cost\n1,a,1,5\n1,b,2,2\n"))
    assert new.exists()
    assert not old.exists()


def test_a_full_cache_is_not_blamed_on_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(recording, "_write", lambda *_: Path("/dev/full").write_text("x"))
    with pytest.raises(UserError, match=r"a\.csv: cannot be prepared in .*cache \(No space left"):
        Replay(file=write(tmp_path / "a.csv", "round,item,x,cost\n1,a,1,5\n1,b,2,2\n"))


def test_recordings_that_others_could_write_are_not_used(tmp_path):
    file = write(tmp_path / "a.csv", "round,item,x,cost\n1,a,1,5\n1,b,2,2\n")
    Replay(file=file)
    cache = tmp_path / "cache/odfl/recordings"
    (kept,) = cache.iterdir()
    cache.chmod(0o777)
    assert not Replay(file=file)._recordings[0].directory.startswith(str(cache))
    assert [path.name for path in cache.iterdir()] == [kept.name]


@pytest.mark.parametrize("kind", ["csv", "npz", "parquet"])
@pytest.mark.parametrize("shape", [*product((1, 2), (2, 3), (1, 2))])  # rounds, items, features
def test_small_recordings_hold_what_the_file_holds(tmp_path, kind, shape):
    """Read back round by round, by the first and by a later process."""
    X, c = np.random.default_rng(0).normal(size=shape), np.arange(shape[0] * shape[1]) / 8
    t, item = (axis.ravel() for axis in np.indices(shape[:2]))
    columns = dict(zip(("x", "y"), X.reshape(-1, shape[2]).T, strict=False))
    table = pyarrow.table({"round": t, "item": item, **columns, "cost": c})
    path = tmp_path / f"a.{kind}"
    if kind == "npz":
        np.savez(path, X=X, c=c.reshape(shape[:2]))
    else:
        {"csv": pyarrow.csv.write_csv, "parquet": pyarrow.parquet.write_table}[kind](table, path)
    for _ in range(2):
        data = Replay(file=str(path), standardise=False)
        for start in range(shape[0]):
            found = data.rounds((0,), start, start + 1)
            np.testing.assert_array_equal(found.X[0, 0], X[start])
            np.testing.assert_array_equal(found.costs[0, 0], c.reshape(shape[:2])[start])


def test_a_recording_is_made_once(exported, monkeypatch):
    first = Replay(file=str(exported / "rounds.csv"), group="seed")
    monkeypatch.setattr(recording, "_store", lambda *_: pytest.fail("read again"))
    again = Replay(file=str(exported / "rounds.csv"), group="seed")
    np.testing.assert_array_equal(first.rounds((1,), 3, 9).X, again.rounds((1,), 3, 9).X)


def test_a_home_that_cannot_be_written_is_no_obstacle(exported, tmp_path):
    (tmp_path / "blocked").write_text("a file where a directory is needed")
    chosen = ("data=replay", f"data.file={exported}/rounds.npz", "seeds=3", "horizon.rounds=40")
    places = {"XDG_CACHE_HOME": str(tmp_path / "blocked"), "TMPDIR": str(tmp_path)}
    done = odfl("run", "algo=uniform", *chosen, cwd=tmp_path, **places)
    assert done.returncode == 0, done.stderr
    assert not list(tmp_path.glob("odfl-*"))


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["a.csv", "a.npz"])
def test_files_larger_than_memory_are_streamed(tmp_path, name):
    """Reads the file in a process whose memory may not grow by half of its size."""
    rounds, items, features = 12_000 if name.endswith("npz") else 5_000, 10, 50
    rng = np.random.default_rng(0)
    X, c = rng.normal(size=(rounds, items, features)), rng.normal(size=(rounds, items))
    if name.endswith("npz"):
        np.savez(tmp_path / name, X=X, c=c)
    else:
        rows = ",".join(f"{value:.17f}" for value in X[0, 0])
        with (tmp_path / name).open("w") as file:
            file.write(
                ",".join(["round", "item", *(f"x{i}" for i in range(features)), "cost"]) + "\n"
            )
            for t in range(rounds):
                file.writelines(f"{t},{i},{rows},{float(c[t, i])!r}\n" for i in range(items))
    size = (tmp_path / name).stat().st_size
    assert size > 40 * 2**20
    script = f"""
import resource, numpy as np
from odfl_cli.environments.base import Rounds
from odfl_cli.environments.replay.environment import Replay
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + {size} // 2,) * 2)
data = Replay(file={name!r}, standardise=True)
total = sum(data.rounds((0,), t, t + 100).costs.sum() for t in range(0, {rounds}, 100))
print(repr(float(total)))
"""
    done = _python(script, tmp_path)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) == pytest.approx(c.sum())


def _python(script: str, cwd: Path):
    return subprocess.run([sys.executable, "-c", script], cwd=cwd, capture_output=True, text=True)
