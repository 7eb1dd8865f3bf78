"""What makes thousands of calls affordable and leaves what they do as it is."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock


@contextmanager
def quickly() -> Iterator[None]:
    """A figure is a file without a picture."""
    with mock.patch("matplotlib.figure.Figure.savefig", _save):
        yield


def _save(figure: Any, target: Any, **_: Any) -> None:
    content = b"a figure"
    target.write(content) if hasattr(target, "write") else Path(target).write_bytes(content)
