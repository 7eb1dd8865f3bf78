"""Files that must be refused: the row, the column and the reason, before any round is run."""

import itertools
import threading
import zipfile
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from support.commands import odfl
from support.samples import some_of

from odfl_cli.core.errors import UserError
from odfl_cli.environments.replay.batches import MOST_ITEMS
from odfl_cli.environments.replay.environment import Replay
from odfl_cli.environments.replay.files import DataError, watch_files

SEVERAL = "the rounds of several seeds are told apart by a column, data.group"
HEAD = "round,item,x,cost\n"
FIRST = "1,a,1,1\n1,b,2,2\n"
WAY_OUT = "; data.on_missing=skip leaves such rounds out, last or mean fill from earlier ones"

BAD = {
    "missing cost": (HEAD + FIRST + "2,a,1,\n2,b,1,1\n", f"line 4, column cost: missing{WAY_OUT}"),
    "missing feature": (HEAD + "1,a,NA,1\n1,b,2,2\n", f"line 2, column x: missing{WAY_OUT}"),
    "NaN": (HEAD + FIRST + "2,a,nan,1\n2,b,1,1\n", f"line 4, column x: missing{WAY_OUT}"),
    "infinite": (HEAD + FIRST + "2,a,3,1\n2,b,-inf,1\n", "line 5, column x: infinite"),
    "overflow": (HEAD + "1,a,1,1e999\n1,b,2,2\n", "line 2, column cost: infinite"),
    "text": (HEAD + FIRST + "2,a,high,1\n2,b,1,1\n", "line 4, column x: 'high' is not a number; "),
    "fewer items": (HEAD + FIRST + "2,a,1,1\n3,a,1,1\n3,b,1,1\n", "line 4, column round: round 2 has 1 items, the first round 2 (b is missing)"),
    "more items": (HEAD + FIRST + "2,a,1,1\n2,b,1,1\n2,c,1,1\n", "line 6, column round: round 2 has more than 2 items, the number of the first round"),
    "another item": (HEAD + FIRST + "2,a,1,1\n2,c,1,1\n", "line 5, column item: 'c' was not among the items of the first round"),
    "twice": (HEAD + FIRST + "2,a,1,1\n2,a,1,1\n", "line 5, column item: 'a' appears twice in round 2; " + SEVERAL),
    "long": (HEAD + FIRST + f"2,a,1,1\n2,{'b ' * 600},1,1\n", f"line 5, column item: '{'b ' * 40}…' was not among the items of the first round"),
    "twice at once": (HEAD + "1,a,1,1\n1,a,1,1\n", "line 3, column item: 'a' appears twice in round 1; " + SEVERAL),
    "one item": (HEAD + "1,a,1,1\n2,a,1,1\n", "line 2: the first round has one item; two are needed"),
    "duplicate round": (HEAD + FIRST + "2,a,1,1\n2,b,1,1\n" + FIRST, "line 6, column item: 'a' appears twice in round 1; " + SEVERAL),
    "same round, written otherwise": (HEAD + FIRST + "1.0,a,1,1\n1.0,b,1,1\n", "line 4, column round: 1.0 comes after 1; "),
    "dates and numbers": (HEAD + FIRST + "2020-01-01,a,1,1\n2020-01-01,b,1,1\n", "line 4, column round: '2020-01-01' after '1'; all numbers, all dates, or all dates with a time zone"),
    "text for a round": (HEAD + "abc001,a,1,1\nabc001,b,2,2\n", "line 2, column round: 'abc001' is neither a number nor an ISO date"),
    "a number with an underscore": (HEAD + FIRST + "1_0,a,1,1\n1_0,b,2,2\n", "line 4, column round: '1_0' is neither a number nor an ISO date"),
    "an infinite round": (HEAD + FIRST + "inf,a,1,1\ninf,b,2,2\n", "line 4, column round: 'inf' is neither a number nor an ISO date"),
    "no such day": (HEAD + "2020-02-30,a,1,1\n2020-02-30,b,2,2\n", "line 2, column round: '2020-02-30' is neither a number nor an ISO date"),
    "no round": (HEAD + FIRST + ",a,1,1\n", "line 4, column round: missing"),
    "ragged": (HEAD + FIRST + "2,a,1\n", "line 4: 3 cells under 4 columns"),
    "quoted line break": (HEAD + '1,"a\n",1,1\n1,b,2,z\n', "line 4, column cost: 'z' is not a number; "),
    "empty": ("", "the file is empty"),
    "blank": ("\n\n", "the first line should name columns"),
    "header only": (HEAD, "the file holds no rounds"),
    "names twice": ("round,item,x,x,cost\n", "line 1: two columns are named x"),
    "nameless": ("round,item,,cost\n", "line 1: column 3 has no name"),
    "wrong name": ("round,item,x,Costs\n", "data.columns.cost=cost: there is no such column; did you mean Costs? "
        "there are round, item, x, Costs"),
    "no features": ("round,item,cost\n", "no column is left for the features, see data.columns.features"),
}  # fmt: skip


def refusal(file: Path, **settings) -> str:
    """The one line, without the file's name; nothing stays in the cache."""
    with pytest.raises(UserError) as caught:
        Replay(file=str(file), **settings)
    assert not list(file.parent.glob("cache/odfl/replay/*"))
    name, line = str(caught.value).split(": ", 1)
    assert name == f"data.file={file}"
    return line


@pytest.mark.parametrize("case", BAD)
def test_a_bad_csv_is_refused_with_row_column_and_reason(case, tmp_path):
    text, reason = BAD[case]
    file = tmp_path / "bad.csv"
    file.write_text(text)
    line = refusal(file)
    assert line.startswith(reason) if reason.endswith("; ") else line == reason


@pytest.mark.parametrize("case", ["missing cost", "missing feature", "NaN"])
def test_nothing_is_left_when_every_round_is_skipped(case, tmp_path):
    file = tmp_path / "bad.csv"
    file.write_text(HEAD + BAD[case][0].removeprefix(HEAD).removeprefix(FIRST))
    assert refusal(file, on_missing="skip") == "every round misses something"


def test_infinite_values_are_no_missing_values(tmp_path):
    file = tmp_path / "bad.csv"
    file.write_text(BAD["infinite"][0])
    assert refusal(file, on_missing="skip") == "line 5, column x: infinite"


def test_a_wrong_line_far_down_is_named(tmp_path):
    """Beyond the first chunk of rows."""
    file = tmp_path / "bad.csv"
    rows = [f"{t},{item},1,2\n" for t in range(30_000) for item in "ab"]
    rows[55_555] = "27777,b,oh,2\n"
    file.write_text(HEAD + "".join(rows))
    assert refusal(file).startswith("line 55557, column x: 'oh' is not a number; ")


def test_a_constant_round_column_is_refused_before_it_fills_the_memory(tmp_path):
    file = tmp_path / "bad.csv"
    file.write_text(HEAD + "".join(f"1,{item},1,2\n" for item in range(MOST_ITEMS + 50_000)))
    assert refusal(file) == (
        f"line {MOST_ITEMS + 2}, column round: round 1 has more than {MOST_ITEMS} items"
    )


def test_a_million_columns_are_refused_by_the_first_line_alone(tmp_path, monkeypatch):
    file = tmp_path / "wide.csv"
    file.write_text(",".join(f"x{i}" for i in range(1_000_000)) + "\n1,2\n")
    line = "more than 10000 columns in the first line; features are columns"
    assert refusal(file) == line
    file.write_text("x," * 20_000 + "\n")
    assert refusal(file) == line


def test_the_cost_is_no_feature(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text(HEAD + FIRST)
    columns = {"features": ["x", "cost"]}
    assert "it would be known ahead" in refusal(file, columns=columns)


@pytest.mark.parametrize(
    ("arrays", "reason"),
    [
        ({"X": np.ones((3, 2, 1))}, "there is no array c; there are X"),
        ({"X": np.ones((3, 2, 1)), "c": np.ones((3, 3))}, "X has shape (3, 2, 1) and c (3, 3)"),
        ({"X": np.ones((0, 2, 1)), "c": np.ones((0, 2))}, "it holds no rounds"),
        ({"X": np.full((3, 2, 1), "a"), "c": np.ones((3, 2))}, "X holds <U1 where numbers belong"),
        ({"X": np.ones((3, 2, 1)), "c": np.array([[1, 2], [1, np.nan], [1, 1]])},
         "c, round 1, item 1, group 0 (counted from 0): missing"),
        ({"X": np.array([[[1.0], [2.0]], [[np.inf], [1.0]]]), "c": np.ones((2, 2))},
         "X, round 1, item 0, feature 0, group 0 (counted from 0): infinite"),
        ({"X": np.ones((3, 2, 2)).T, "c": np.ones((2, 2))}, "X is stored by columns"),
    ],
)  # fmt: skip
def test_a_bad_npz_is_refused(arrays, reason, tmp_path):
    np.savez(tmp_path / "bad.npz", **arrays)
    assert reason in refusal(tmp_path / "bad.npz")


def test_an_npz_that_is_none_or_was_cut(tmp_path):
    file = tmp_path / "bad.npz"
    file.write_bytes(b"not a zip file")
    assert refusal(file).startswith("not an NPZ file")
    np.savez(file, X=np.ones((30, 2, 1)), c=np.ones((30, 2)))
    file.write_bytes(file.read_bytes()[:-100])
    assert refusal(file).startswith("not an NPZ file")


def test_an_npz_with_any_damage_is_refused_in_one_line_or_read(tmp_path):
    """Headers of zip and numpy, flags such as encryption, kinds of compression, the numbers."""
    file, random = tmp_path / "bad.npz", np.random.default_rng(0)
    np.savez_compressed(file, X=np.ones((30, 2, 1)), c=np.ones((30, 2)))
    whole = file.read_bytes()
    refused = []
    for _ in range(300):
        content = bytearray(whole)
        content[random.integers(len(content))] = random.integers(256)
        file.write_bytes(content)
        try:
            Replay(file=str(file))
        except UserError as error:
            refused.append(str(error))
    assert len(refused) > 100
    assert all("\n" not in line and len(line) < 600 for line in refused)


def test_npz_members_that_are_encrypted_or_no_arrays(tmp_path):
    file = tmp_path / "bad.npz"
    np.savez(file, X=np.ones((3, 2, 1)), c=np.ones((3, 2)))
    encrypted = bytearray(file.read_bytes())
    for mark, offset in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        encrypted[encrypted.index(mark) + offset] |= 1
    file.write_bytes(encrypted)
    assert "encrypted" in refusal(file)
    for name, content in (("X", b"1"), ("X.npy", b"1"), ("X.npy", b"\x93NUMPY\x09\x00")):
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr(name, content)
            archive.writestr("c.npy", content)
        assert refusal(file)


def test_lines_may_end_in_a_carriage_return(tmp_path):
    file = tmp_path / "mac.csv"
    rows = [f"{t},{item},{t},2\n" for t in range(100) for item in "ab"]
    file.write_bytes((HEAD + "".join(rows)).replace("\n", "\r").encode())
    np.testing.assert_array_equal(
        Replay(file=str(file)).rounds((0,), 0, 100).X[0, :, 0, 0], range(100)
    )


def test_a_bad_parquet_is_refused(tmp_path):
    file = tmp_path / "bad.parquet"
    good = {"round": [1, 1, 2, 2], "item": ["a", "b"] * 2, "x": [1.0, 2, 3, 4], "cost": [1, 2, 3, 4]}  # fmt: skip
    for change, reason in [
        ({"cost": [1, 2, None, 4]}, f"row 3, column cost: missing{WAY_OUT}"),
        ({"x": [1.0, 2.0, 3.0, np.inf]}, "row 4, column x: infinite"),
        ({"x": ["a", "b", "c", "d"]}, "row 1, column x: 'a' is not a number; "),
        ({"round": [1, 1, 1, 1]}, "row 3, column item: 'a' appears twice in round 1"),
    ]:
        pyarrow.parquet.write_table(pyarrow.table(good | change), file)
        assert refusal(file).startswith(reason)
    file.write_bytes(b"PAR0")
    assert refusal(file).startswith("not a Parquet file")


def test_a_file_that_grows_while_it_is_read(tmp_path):
    """The message is the same for any content of the last, half-written line."""
    file = tmp_path / "growing.csv"
    file.write_text(HEAD + "".join(f"{t},{item},1,2\n" for t in range(40_000) for item in "ab"))
    done = threading.Event()

    def grow() -> None:
        with file.open("a") as growing:
            while not done.is_set():
                growing.write("99999999,a")
                growing.flush()

    writer = threading.Thread(target=grow)
    writer.start()
    try:
        assert refusal(file).startswith("the file changed while it was read")
    finally:
        done.set()
        writer.join()


@pytest.mark.parametrize("parts", [["a"] * 2, itertools.repeat("a")], ids=["ended", "endless"])
def test_a_change_is_noticed_after_the_last_part_and_stops_a_file_that_grows(parts, tmp_path):
    file = tmp_path / "a.csv"
    file.write_text(HEAD)
    read = watch_files([file], iter(parts))
    assert [next(read), next(read)] == ["a", "a"]
    file.write_text(HEAD + FIRST)
    with pytest.raises(DataError, match="changed"):
        next(read)


@pytest.mark.parametrize(
    ("arguments", "words"),
    some_of(
        [
            (["data=replay"], ["data.file"]),
            (["data=replay", "data.file=nowhere.csv"], ["nowhere.csv", "no such file"]),
            (["data=replay", "data.file=good.csv", "data.items=3"], ["data.items=3", "2"]),
            (["data=replay", "data.file=good.csv", "data.columns.rnd=t"], ["data.columns.round"]),
            (["data=replay", "data.file=good.csv", "data.on_missing=maybe"], ["refuse", "skip"]),
            (["data=replay", "data.file=[good.csv,other.csv]"], ["other.csv", "3 items"]),
        ],
        3,
    ),
)
def test_the_command_refuses_in_one_line_and_writes_nothing(arguments, words, tmp_path):
    (tmp_path / "good.csv").write_text(HEAD + FIRST + "2,a,1,1\n2,b,1,1\n")
    (tmp_path / "other.csv").write_text(HEAD + FIRST + "1,c,1,1\n")
    done = odfl("run", *arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.splitlines()
    assert all(word in line for word in words), line
    assert not (tmp_path / "outputs").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["check"], ["FILE"]),
        (["check", "nowhere.csv"], ["no such file"]),
        (["check", "good.csv", "data.columns.rond=day"], ["did you mean data.columns.round"]),
        (
            ["check", "good.csv", "data.on_missing=list"],
            ["data.on_missing=list: should be 'refuse'"],
        ),
        (["check", "good.csv", "data.items=3"], ["data.items=3: good.csv has 2"]),
        (["chek"], ["check", "export"]),
        (["export", "data=sin4"], ["-o"]),
        (["export", "-o", "a.txt"], [".csv or .npz"]),
        (["export", "-o", "a.csv", "data.gama=1"], ["did you mean data.gamma?"]),
        (["export", "-o", "a.csv", "horizon=7"], ["horizon.rounds"]),
        (["export", "-o", "nowhere.csv/a.csv", "horizon=smoke"], ["cannot write"]),
        (["example", "stocks", "-o", "a.csv"], ["data export -o FILE experiment=stocks"]),
    ],
)
def test_the_data_verbs_refuse_in_one_line(arguments, words, tmp_path):
    if "nowhere.csv/a.csv" in arguments:
        (tmp_path / "nowhere.csv").write_text("a file where a directory is needed")
    (tmp_path / "good.csv").write_text(HEAD + FIRST)
    done = odfl("data", *arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.splitlines()
    assert all(word in line for word in words), line
    assert not list(tmp_path.glob("a.*"))


OUT_OF_RANGE = {
    "date32": pyarrow.date32(),
    "date64": pyarrow.date64(),
    "milliseconds": pyarrow.timestamp("ms"),
    "with a zone": pyarrow.timestamp("us", tz="UTC"),
    "duration": pyarrow.duration("ms"),
    "time": pyarrow.time64("us"),
}


@pytest.mark.parametrize("column", ["round", "item", "x", "cost"])
@pytest.mark.parametrize("kind", OUT_OF_RANGE)
def test_dates_that_python_does_not_have_are_refused(
    kind: str, column: str, tmp_path: Path
) -> None:
    bits = pyarrow.int32() if kind == "date32" else pyarrow.int64()
    largest = 2 ** (bits.bit_width - 1) - 1
    columns = {"round": [1, 1], "item": [0, 1], "x": [1.0, 2.0], "cost": [1.0, 2.0]}
    wrong = pyarrow.array([largest, largest], bits).view(OUT_OF_RANGE[kind])
    file = tmp_path / "bad.parquet"
    pyarrow.parquet.write_table(pyarrow.table(columns | {column: wrong}), file)
    assert refusal(file).startswith("a date or a number is out of range (")
