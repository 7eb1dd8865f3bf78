"""The cases: every one is a line of text that repeats it."""

import random
from collections.abc import Iterator
from itertools import product, zip_longest
from typing import Any, NamedTuple

import yaml
from support.problems import choices, groups, has_data

from odfl_cli.config.directory import conf_directory

CONF = conf_directory()
GROUPS = tuple(group for group in groups() if group != "experiment")
TOP = tuple(
    key
    for key in yaml.safe_load((CONF / "config.yaml").read_text())
    if key not in ("defaults", "hydra")
)
VALUES = (
    "", "abc", "null", "true", "???", "nan", "inf", "-inf", "-1", "0", "1", "0.5", "1e-320", "1e308",
    "1e400", "1000000000000000000000000000000", "1_000", "[]", "[1,2]", "[[1],[2]]", "{}", "{a:1}",
    "${nope.nope}", "${data.items}", "'a b'", '"\\n"', "../../canary/precious", "/dev/null",
    "ü", "'\x1b[31mred'", "x" * 3000,
)  # fmt: skip
VERBS = ("list", "show", "best", "plot", "report", "export", "clean", "run")
FILES = (
    "runs/finished/summary.json", "runs/finished/seed-0.csv", "runs/finished/run.log",
    "runs/finished/.hydra/config.yaml", "runs/finished/.hydra/hydra.yaml", "runs/finished/.lock",
    "runs/finished/.hydra", "runs/finished", "runs/failed/failed.json", "runs/failed/.lock",
    "runs/failed/.hydra/config.yaml", "runs/failed/.hydra/hydra.yaml",
    "runs/unfinished/.hydra/config.yaml", "runs/unfinished/.hydra/hydra.yaml",
    "runs/unfinished/.lock", "sweeps/small/index.json", "sweeps/small", "runs",
    "report.html", "table.csv", "figures", "figures/.drawn.json", "figures/overview.png",
    "figures/summary.csv",
)  # fmt: skip
CORRUPTIONS = (
    "empty", "truncated", "zeros", "noise", "flipped", "deep", "list", "numbers", "texts", "aliases",
    "escapes", "latin", "huge", "missing", "link", "dangling", "loop", "fifo", "folder", "locked",
)  # fmt: skip
KINDS = ("csv", "npz", "parquet")
MUTATIONS = (
    "none", "empty", "truncated", "zeros", "noise", "flipped", "bytes", "returns", "nul", "quotes",
    "twice", "shuffled", "latin", "bom", "wide", "text", "infinite", "folder", "fifo",
)  # fmt: skip
RANDOM = {"noise", "flipped", "bytes", "shuffled"}


class Case(NamedTuple):
    """What is done, to what, and how; `seed` decides what is left to chance."""

    kind: str  # key, file or rounds
    place: str
    change: str
    word: str
    seed: int


def all_cases(seed: int) -> Iterator[Case]:
    """Every case once in a random order, as many of each kind as long as there are.

    Those with chance in them follow again, with other seeds.
    """
    kinds = [list(cases()) for cases in (key_cases, file_cases, rounds_cases)]
    for attempt in range(10):
        for cases in kinds:
            random.Random(seed + attempt).shuffle(cases)
        for together in zip_longest(*kinds):
            yield from (case._replace(seed=seed + attempt) for case in together if case)
        kinds = [[case for case in cases if case.change in RANDOM] for cases in kinds]


def key_cases() -> Iterator[Case]:
    """Keys × values."""
    for (choice, key), value in product(keys(), VALUES):
        yield Case("key", choice, key, value, 0)


def file_cases() -> Iterator[Case]:
    """Files of an outputs folder × corruptions × verbs."""
    for path, corruption, verb in product(FILES, CORRUPTIONS, VERBS):
        yield Case("file", path, corruption, verb, 0)


def rounds_cases() -> Iterator[Case]:
    """Files of rounds × mutations × what reads them."""
    for kind, mutation, word in product(KINDS, MUTATIONS, ("check", "run")):
        yield Case("rounds", kind, mutation, word, 0)


def keys() -> list[tuple[str, str]]:
    """(group=choice, dotted key) of all files in conf/ whose data are there, and the keys beside the groups."""
    found = [("", key) for key in TOP]
    for group in GROUPS:
        for choice in filter(has_data, choices(group)):
            names = _names(yaml.safe_load((CONF / group / f"{choice}.yaml").read_text()) or {})
            found += [(f"{group}={choice}", f"{group}.{name}") for name in names]
    return found


def _names(content: dict[str, Any], prefix: str = "") -> Iterator[str]:
    for name, value in content.items():
        if name not in ("_target_", "defaults"):
            yield prefix + name
            if isinstance(value, dict):
                yield from _names(value, f"{prefix}{name}.")
