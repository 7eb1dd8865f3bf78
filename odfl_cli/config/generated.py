"""Configurations derived from other files of conf/: experts of a vote, constants of nested learners."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml
from hydra import __version__

from odfl_cli.config.directory import TUNED, choices_of, conf_directory, variants
from odfl_cli.core.reading import FAST_LOADER

BASES = {"guard": ("base", "rivals.rls", "rivals.spo", "rivals.df_ogd"), "restart": ("base",)}
"""Algorithm → its settings that hold another algorithm, by the group algo@algo.<setting>."""
FOR = {
    "algo_oracle": "${oracle}",
    "algo_regularizer": "${regularizer}_${data}",
    "algo_data": "${data}",
}
"""Group in conf/tuned → the part of its file names after the algorithm."""
CHOICE = "${{choice_of:{}}}" if __version__.startswith("1.3") else "${{{}}}"
"""The choice of a group in a defaults list; Hydra 1.3 reads dots as paths, and 1.4 calls no resolvers there."""
INSIDE = TUNED + "inside"
LOCAL, GLOBAL = None, "_global_"


@cache
def generate(path: str) -> tuple[dict[str, Any], str | None] | None:
    """The content of the configuration at a path and its package; None if there is none.

    `algo/NAME` is a variant of an algorithm, from conf/variants.yaml.
    `experts/all` has every algorithm and predictor of conf/ that `vote` may name.
    `tuned/inside/algo_data/…` converts a file of conf/tuned/algo_data for a learner inside another: the
    values of algo.*, those of oracle.* under `oracle` and data.target as `target`.
    `tuned/inside/vote` lists these files for the experts of a vote, and so on.
    """
    folder, _, name = path.rpartition("/")
    if folder == "algo" and name in variants():
        return variants()[name], LOCAL
    if path == "experts/all":
        return _experts(), LOCAL
    if folder == INSIDE and name in {"vote", *BASES}:
        return {"defaults": _defaults(name)}, GLOBAL
    file = conf_directory() / TUNED / f"{path.removeprefix(f'{INSIDE}/')}.yaml"
    if path.startswith(f"{INSIDE}/") and file.is_file():
        return _inner_values(file), LOCAL
    return None


def _experts() -> dict[str, Any]:
    files = {"settings": ("algo", {"vote", "pool"}), "predictors": ("predictor", {"torch"})}
    content: dict[str, Any] = {"defaults": []}
    for key, (group, excluded) in files.items():
        names = [name for name in choices_of(group, [conf_directory()]) if name not in excluded]
        names += variants() if group == "algo" else []
        content["defaults"] += [{f"/{group}@{key}.{name}": name} for name in names]
        content[key] = {name: {"_partial_": True} for name in names}
    return content


def _inner_values(file: Path) -> dict[str, Any]:
    values = yaml.load(file.read_bytes(), FAST_LOADER) or {}
    oracle = {"oracle": values["oracle"]} if "oracle" in values else {}
    return {**values.get("algo", {}), **values.get("data", {}), **oracle}


def _defaults(algorithm: str) -> list[dict[str, str]]:
    """The defaults list of the files in conf/tuned for the learners inside an algorithm."""
    algorithms = [*choices_of("algo", [conf_directory()]), *variants()]
    if algorithm in BASES:
        places = [(place, CHOICE.format(f"algo@algo.{place}")) for place in BASES[algorithm]]
    else:
        places = [(f"settings.{name}", name) for name in algorithms]
    return [
        {f"optional /{INSIDE}/{group}@algo.{place}": f"{choice}_{FOR[group]}"}
        for group in FOR
        for place, choice in places
        if algorithm in BASES or choice in _algorithms_in(group, algorithms)
    ]


def _algorithms_in(group: str, algorithms: list[str]) -> set[str]:
    """The algorithms with a file in a group of conf/tuned."""
    return {
        max((name for name in algorithms if file.startswith(f"{name}_")), key=len)
        for file in choices_of(TUNED + group, [conf_directory()])
    }
