"""The files of conf/ merged once per choice of groups, for hundreds of calls in one process."""

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

from hydra._internal import config_loader_impl
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.config_repository import ConfigRepository
from hydra._internal.defaults_list import DefaultsList, Overrides
from hydra.core.override_parser import overrides_parser
from omegaconf import base

CONF = Path(__file__).resolve().parents[2] / "conf"
_lists: dict[tuple[Any, ...], DefaultsList] = {}
_merges: dict[tuple[Any, ...], bytes] = {}
_packaged: dict[tuple[Any, ...], bytes] = {}
_files: dict[str, Any] = {}
_create = config_loader_impl.create_defaults_list
_merge = ConfigLoaderImpl._compose_config_from_defaults_list
_package = ConfigLoaderImpl._load_single_config
_load = ConfigRepository.load_config
_parsed = cache(base.parse)
_functions = cache(overrides_parser.create_functions)


@contextmanager
def merged_once() -> Iterator[None]:
    """Hydra remembers what it made of files of conf/; those of the user's it reads every time.

    Overrides of values are parsed, judged and applied every time, and a choice that is refused is
    refused anew.
    """
    with (
        mock.patch.object(config_loader_impl, "create_defaults_list", _defaults),
        mock.patch.object(ConfigLoaderImpl, "_compose_config_from_defaults_list", _merged),
        mock.patch.object(ConfigLoaderImpl, "_load_single_config", _in_package),
        mock.patch.object(ConfigRepository, "load_config", _loaded),
        mock.patch.object(ConfigRepository, "__deepcopy__", _copied, create=True),
        mock.patch.object(base, "parse", _parsed),  # of an interpolation; it is resolved anew
        mock.patch.object(overrides_parser, "create_functions", _functions),
    ):
        yield


def _defaults(repo: Any, config_name: Any, overrides_list: list[Any], **options: Any) -> Any:
    if not _is_own(repo):
        return _create(repo, config_name, overrides_list, **options)
    own = Overrides(repo=repo, overrides_list=overrides_list)
    choices = tuple(o.input_line for o in overrides_list if o not in own.config_overrides)
    key = (config_name, choices, *sorted(options.items()))
    if key not in _lists:
        _lists[key] = _create(repo, config_name, overrides_list, **options)
    kept = _lists[key]
    own.known_choices = kept.overrides.known_choices
    return DefaultsList(
        defaults=kept.defaults,
        config_overrides=own.config_overrides,
        defaults_tree=kept.defaults_tree,
        overrides=own,
    )


def _merged(loader: Any, defaults: list[Any], repo: Any) -> Any:
    """Hydra's own files and config.yaml, which nearly all have, are merged ahead of the others."""
    files = tuple((one.config_path, one.package) for one in defaults)
    if files in _merges and _is_own(repo, *defaults):
        return pickle.loads(_merges[files])
    first = [one.primary for one in defaults].index(True) + 1
    if first < len(defaults) and _is_own(repo, *defaults[:first]):
        ahead = SimpleNamespace(config=_merged(loader, defaults[:first], repo))
        merged = _merge(loader, [ahead, *defaults[first:]], repo)
    else:
        merged = _merge(loader, defaults, repo)
    if _is_own(repo, *defaults):
        _merges[files] = pickle.dumps(merged)
    return merged


def _in_package(loader: Any, default: Any, repo: Any) -> Any:
    if isinstance(default, SimpleNamespace):
        return default
    if not _is_own(repo, default):
        return _package(loader, default, repo)
    file = (default.config_path, default.package, default.primary)
    if file not in _packaged:
        _packaged[file] = pickle.dumps(_package(loader, default, repo))
    return pickle.loads(_packaged[file])


def _loaded(repo: Any, config_path: str) -> Any:
    if not _is_own(repo):
        return _load(repo, config_path)
    if config_path not in _files:
        _files[config_path] = _load(repo, config_path)
    return copy(_files[config_path])  # its configuration is merged in a copy, see _in_package


def _copied(repo: Any, _memo: Any) -> Any:
    """Hydra copies a repository to give it other sources, and all stored presets with it."""
    return copy(repo)


def _is_own(repo: Any, *defaults: Any) -> bool:
    """Whether these files, or with none given all, can only come from conf/ of this repository."""
    places = {one.path: one for one in repo.get_sources() if one.scheme() == "file"}
    conf, users = places.pop(str(CONF), None), list(places.values())
    files = [one.config_path for one in defaults]
    taken = any(folder.is_config(file) for folder in users for file in files) if files else users
    return conf is not None and not taken
