"""The cases: every one is a line of text that repeats it."""

import random
import re
from collections.abc import Iterator
from itertools import product, zip_longest
from typing import Any, NamedTuple

import yaml
from omegaconf import OmegaConf
from support.problems import choices, groups, has_data

from odfl_cli.config.compose import compose_job
from odfl_cli.config.directory import conf_directory
from odfl_cli.core.reading import flatten

CONF = conf_directory()
GROUPS = tuple(
    group for group in groups() if group not in ("experiment", "until", "tune")
)  # until needs a sweep
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
TARGETS = (
    "builtins.open", "builtins.print", "builtins.int", "time.sleep", "sys.exit", "os", "nope.Nope",
    "torch.nn.Linear", "collections.OrderedDict", "odfl_cli", "odfl_cli.engine.auto.Auto",
    "odfl_cli.environments.sin4.Sin4", "odfl_cli.problem.polytopes.simplex.Simplex",
    "odfl_cli.problem.predictors.linear.Linear", "odfl_cli.problem.problem.Horizon",
)  # fmt: skip
"""Few of them are what a group's contract asks for."""
UNSAID = re.compile(r"hydra\.(run|sweep|runtime|overrides|verbose|output_subdir|.*\.filename)\b")
"""Keys of Hydra that name places to write to, that Hydra sets itself, or that ask for more lines."""
HYDRA_GROUPS = ("launcher", "sweeper", "job_logging", "hydra_logging", "help", "output", "env")
VERBS = ("list", "show", "best", "plot", "report", "export", "run")
FILES = (
    "runs/finished/summary.json", "runs/finished/seed-0.csv", "runs/finished/run.log",
    "runs/finished/.hydra/config.yaml", "runs/finished/.hydra/hydra.yaml", "runs/finished/.lock",
    "runs/finished/.hydra", "runs/finished", "runs/failed/failed.json", "runs/failed/.lock",
    "runs/failed/.hydra/config.yaml", "runs/failed/.hydra/hydra.yaml",
    "runs/unfinished/.hydra/config.yaml", "runs/unfinished/.hydra/hydra.yaml",
    "runs/unfinished/.lock", "sweeps/small/index.json", "sweeps/small", "runs",
    "report.html", "table.csv", "figures",
    "figures/small/overview.png", "figures/small/summary.csv",
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
COLUMNS = ("round", "item", "x", "cost")
TYPES = (
    "int8", "uint64", "float16", "bool", "null", "string", "binary", "long", "list", "struct", "map",
    "dictionary", "decimal", "date32", "date64", "timestamp[ms]", "timestamp[us, tz=UTC]",
    "timestamp[us, tz=Nowhere/Land]", "timestamp[ns]", "duration[ms]", "duration[ns]", "time32[ms]",
    "time64[us]", "time64[ns]",
)  # fmt: skip
PLACES = (
    "outputs", "outputs/runs", "outputs/sweeps", "outputs/sweeps/mine", "outputs/sweeps/mine/.lock",
    "outputs/sweeps/mine/index.json", "outputs/sweeps/mine/submitit", "outputs/runs/one",
    "outputs/runs/one/.lock", "outputs/runs/one/.hydra", "outputs/runs/one/.hydra/config.yaml",
    "outputs/runs/one/run.log", "outputs/runs/one/summary.json", "outputs/runs/one/seed-0.csv",
    "outputs/runs/one/failed.json", "rounds.csv", "rounds.npz",
)  # fmt: skip
SWEEPS = ("until=decided", "tune=grid")
ZIPPED = (
    "data.gamma=tag(zip,choice({},1))",
    "data.gamma=tag({},choice(0,1))",
    "data.gamma=tag(zip,{})",
)
STORED = ("continue", "load", "from_run")
"""What goes on from a stored state: a run, or a learner in Python."""
IN_THE_WAY = ("none", "folder", "link", "dangling", "loop", "fifo", "locked")
RANDOM = {"noise", "flipped", "bytes", "shuffled"}


class Case(NamedTuple):
    """An action, its target and its variant; `seed` determines the random choices."""

    kind: str  # key, target, hydra, group, sweep, zip, file, state, rounds, column or way
    place: str
    change: str
    word: str
    seed: int


def all_cases(seed: int) -> Iterator[Case]:
    """Every case once in a random order, as many of each kind as long as there are.

    Those with chance in them follow again, with other seeds.
    """
    kinds = [list(cases()) for cases in EVERY_KIND]
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


def target_cases() -> Iterator[Case]:
    """Parts that are not what the contract of their group asks for."""
    for (choice, key), target in product(keys(targets=True), TARGETS):
        yield Case("target", choice, key, target, 0)


def hydra_cases() -> Iterator[Case]:
    """Hydra's own keys × values, of a job and of a sweep."""
    hydra = OmegaConf.to_container(compose_job([]).hydra, resolve=False)
    names = [name for name in flatten({"hydra": hydra}) if not UNSAID.match(name)]
    for mode, key, value in product(("", "-m"), names, VALUES):
        yield Case("hydra", mode, key, value, 0)


def group_cases() -> Iterator[Case]:
    """Groups that are given, added or removed with anything but a choice."""
    names = (*GROUPS, "experiment", *(f"hydra/{name}" for name in HYDRA_GROUPS))
    for sign, group, value in product(("", "+", "~"), names, VALUES):
        yield Case("group", "", sign + group, value, 0)


def sweep_cases() -> Iterator[Case]:
    """Keys of what chooses constants or adds seeds × values, and values of a sweep that advance together."""
    for place in SWEEPS:
        group, _, choice = place.partition("=")
        for name, value in product(_names_of(group, choice), VALUES):
            yield Case("sweep", place, f"{group}.{name}", value, 0)
    for text, value in product(ZIPPED, VALUES):
        yield Case("zip", "", text, value, 0)


def state_cases() -> Iterator[Case]:
    """A stored state × corruptions × what goes on from it."""
    for corruption, word in product(CORRUPTIONS, STORED):
        yield Case("state", "", corruption, word, 0)


def column_cases() -> Iterator[Case]:
    """Types of the columns of a Parquet file × what reads it."""
    for kind, column, word in product(TYPES, COLUMNS, ("check", "run")):
        yield Case("column", kind, column, word, 0)


def way_cases() -> Iterator[Case]:
    """Something else in the place of what a run, a sweep or an export writes."""
    for place, how in product(PLACES, IN_THE_WAY):
        word = "export" if place.startswith("rounds") else "run" if "/runs" in place else "sweep"
        yield Case("way", place, how, word, 0)


def file_cases() -> Iterator[Case]:
    """Files of an outputs folder × corruptions × verbs."""
    for path, corruption, verb in product(FILES, CORRUPTIONS, VERBS):
        yield Case("file", path, corruption, verb, 0)


def rounds_cases() -> Iterator[Case]:
    """Files of rounds × mutations × what reads them."""
    for kind, mutation, word in product(KINDS, MUTATIONS, ("check", "run")):
        yield Case("rounds", kind, mutation, word, 0)


EVERY_KIND = (
    key_cases, target_cases, hydra_cases, group_cases, sweep_cases, file_cases, state_cases, rounds_cases,
    column_cases, way_cases,
)  # fmt: skip


def keys(targets: bool = False) -> list[tuple[str, str]]:
    """(group=choice, dotted key) of all files in conf/ whose data are there, and the keys beside the groups.

    `targets`: those that name classes, else all others.
    """
    found = [] if targets else [("", key) for key in TOP]
    for group in GROUPS:
        for choice in filter(has_data, choices(group)):
            found += [
                (f"{group}={choice}", f"{group}.{name}")
                for name in _names_of(group, choice)
                if name.endswith("_target_") == targets
            ]
    return found


def _names_of(group: str, choice: str) -> Iterator[str]:
    """The dotted keys of a file of conf/."""
    return _names(yaml.safe_load((CONF / group / f"{choice}.yaml").read_text()) or {})


def _names(content: dict[str, Any], prefix: str = "") -> Iterator[str]:
    for name, value in content.items():
        if name != "defaults":
            yield prefix + name
            if isinstance(value, dict):
                yield from _names(value, f"{prefix}{name}.")
