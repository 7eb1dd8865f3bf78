"""What makes thousands of calls affordable and leaves what they do as it is."""

import copy
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from hydra._internal import config_loader_impl
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.defaults_list import DefaultsList, Overrides

_lists: dict[tuple[str, ...], Any] = {}
_composed: dict[tuple[Any, ...], Any] = {}
_create = config_loader_impl.create_defaults_list
_compose = ConfigLoaderImpl._compose_config_from_defaults_list


@contextmanager
def quickly() -> Iterator[None]:
    """Files of conf/ are merged once per choice of groups; a figure is a file without a picture.

    Overrides of values are parsed and applied every time, and figures are laid out.
    """
    with ExitStack() as stack:
        stack.enter_context(
            mock.patch.object(config_loader_impl, "create_defaults_list", _defaults)
        )
        stack.enter_context(
            mock.patch.object(ConfigLoaderImpl, "_compose_config_from_defaults_list", _merged)
        )
        stack.enter_context(mock.patch("matplotlib.figure.Figure.savefig", _save))
        yield


def _defaults(repo: Any, config_name: Any, overrides_list: list[Any], **options: Any) -> Any:
    own = Overrides(repo=repo, overrides_list=overrides_list)
    choices = tuple(o.input_line for o in overrides_list if o not in own.config_overrides)
    if choices not in _lists:
        _lists[choices] = _create(repo, config_name, overrides_list, **options)
    kept = _lists[choices]
    own.known_choices = kept.overrides.known_choices
    return DefaultsList(
        defaults=kept.defaults,
        config_overrides=own.config_overrides,
        defaults_tree=kept.defaults_tree,
        overrides=own,
    )


def _merged(loader: Any, defaults: list[Any], repo: Any) -> Any:
    files = tuple((one.config_path, one.package) for one in defaults)
    if files not in _composed:
        _composed[files] = _compose(loader, defaults, repo)
    return copy.deepcopy(_composed[files])


def _save(figure: Any, target: Any, **_: Any) -> None:
    content = b"a figure"
    target.write(content) if hasattr(target, "write") else Path(target).write_bytes(content)
