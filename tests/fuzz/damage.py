"""What is done to files before odfl sees them."""

import io
import os
import random
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.csv
import pyarrow.parquet

Change = Callable[[bytes, random.Random], bytes]
BOMB = "a: &a [x, x]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{', '.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(9)
)
ROUNDS = "round,item,x,cost\n" + "".join(f"{t},{i},{t},{i}.5\n" for t in range(6) for i in range(3))


def _flip(content: bytes, chance: random.Random) -> bytes:
    changed = bytearray(content or b"x")
    changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def _some_bytes(content: bytes, chance: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(5):
        place = chance.randrange(len(changed) + 1)
        changed[place : place + chance.randrange(3)] = chance.randbytes(chance.randrange(4))
    return bytes(changed)


def _shuffle(content: bytes, chance: random.Random) -> bytes:
    lines = content.splitlines(keepends=True)
    chance.shuffle(lines)
    return b"".join(lines)


CHANGES: dict[str, Change] = {
    "none": lambda content, _: content,
    "empty": lambda *_: b"",
    "truncated": lambda content, _: content[: len(content) // 2],
    "zeros": lambda content, _: bytes(len(content)),
    "noise": lambda content, chance: chance.randbytes(len(content)),
    "flipped": _flip,
    "bytes": _some_bytes,
    "shuffled": _shuffle,
    "deep": lambda *_: b"[" * 100_000,
    "list": lambda *_: b"[1, 2, 3]",
    "numbers": lambda content, _: content.replace(b'"', b"").replace(b".", b"9" * 400),
    "texts": lambda content, _: content.replace(b"[", b'"[').replace(b"]", b']"'),
    "aliases": lambda *_: BOMB.encode(),
    "escapes": lambda content, _: content.replace(b"df_ogd", b"\x1b[31m\\u001b[2J"),
    "latin": lambda content, _: content.replace(b"o", b"\xf6"),
    "huge": lambda content, _: content + b" " * (1 << 20),
    "returns": lambda content, _: content.replace(b"\n", b"\r"),
    "nul": lambda content, _: content.replace(b"1", b"\0"),
    "quotes": lambda content, _: content.replace(b",", b',"', 5),
    "twice": lambda content, _: content * 2,
    "bom": lambda content, _: b"\xff\xfe" + content,
    "wide": lambda content, _: content.replace(b"\n", b"," * 20_000 + b"\n", 1),
    "text": lambda content, _: content.replace(b".5", b"five"),
    "infinite": lambda content, _: content.replace(b".5", b"e999"),
}


def damage(path: Path, how: str, precious: Path, chance: random.Random) -> None:
    """Replaces a file, or a folder where that makes sense; `precious` is what links point to."""
    content = path.read_bytes() if path.is_file() else b""
    if how == "locked":
        path.chmod(0)
        return
    if how in CHANGES and path.is_dir():
        return
    if path.is_dir():
        os.rename(path, path.with_name(path.name + "-moved"))
    else:
        path.unlink()
    if how in CHANGES:
        path.write_bytes(CHANGES[how](content, chance))
    elif how == "fifo":
        os.mkfifo(path)
    elif how == "folder":
        path.mkdir()
    elif how in ("link", "dangling", "loop"):
        targets = {"link": precious, "dangling": precious.with_name("nowhere"), "loop": path}
        path.symlink_to(targets[how])


def rounds_file(path: Path) -> None:
    """A good file of rounds, of the kind that its name says."""
    if path.suffix == ".npz":
        np.savez(path, X=np.ones((6, 3, 1)), c=np.ones((6, 3)))
    elif path.suffix == ".parquet":
        table = pyarrow.csv.read_csv(io.BytesIO(ROUNDS.encode()))
        pyarrow.parquet.write_table(table, path)
    else:
        path.write_text(ROUNDS)


def put(path: Path, how: str, precious: Path) -> None:
    """Something in the way of what is about to be written there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("mine\n")
    damage(path, how, precious, random.Random(0))


def parquet_file(path: Path, column: str, kind: str) -> None:
    """Rounds in a Parquet file of which a column has another type, and numbers that are large for it."""
    columns = {"round": [1, 1, 2, 2], "item": [0, 1] * 2, "x": [1.0] * 4, "cost": [1.0] * 4}
    pyarrow.parquet.write_table(pyarrow.table(columns | {column: _column(kind)}), path)


def _column(kind: str) -> pyarrow.Array:
    """Four values of the type."""
    plain: dict[str, Any] = {
        "string": "abc", "binary": b"\xff", "long": "x" * 100_000, "list": [1, 2], "struct": {"a": 1},
        "bool": True, "null": None, "decimal": Decimal("9" * 70), "float16": np.float16(1.5),
    }  # fmt: skip
    if kind in plain:
        return pyarrow.array([plain[kind]] * 4)
    if kind == "map":
        return pyarrow.array([[("a", 1)]] * 4, pyarrow.map_(pyarrow.string(), pyarrow.int64()))
    if kind == "dictionary":
        return pyarrow.array(["a"] * 4).dictionary_encode()
    if kind in ("int8", "uint64"):
        return pyarrow.array([127 if kind == "int8" else 2**64 - 1] * 4, kind)
    wanted = TEMPORAL[kind]
    bits = pyarrow.int32() if wanted.bit_width == 32 else pyarrow.int64()
    return pyarrow.array([2 ** (bits.bit_width - 1) - 1] * 4, bits).view(wanted)


TEMPORAL = {
    "date32": pyarrow.date32(),
    "date64": pyarrow.date64(),
    "timestamp[ms]": pyarrow.timestamp("ms"),
    "timestamp[us, tz=UTC]": pyarrow.timestamp("us", "UTC"),
    "timestamp[us, tz=Nowhere/Land]": pyarrow.timestamp("us", "Nowhere/Land"),
    "timestamp[ns]": pyarrow.timestamp("ns"),
    "duration[ms]": pyarrow.duration("ms"),
    "duration[ns]": pyarrow.duration("ns"),
    "time32[ms]": pyarrow.time32("ms"),
    "time64[us]": pyarrow.time64("us"),
    "time64[ns]": pyarrow.time64("ns"),
}
