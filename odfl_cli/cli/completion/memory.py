"""Answers to questions about the configuration, kept until one of its files changes."""

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from odfl_cli import __version__
from odfl_cli.core.files import is_own, make_private, user_cache, write_json


class Memory:
    """Answers about the configuration files in some folders, in one file of the user's cache.

    It holds what was asked since a file was last added, removed or changed, in whatever folder.
    """

    def __init__(self, folders: list[Path]) -> None:
        self._stamp = _stamp(folders)
        place = user_cache()
        self._file = place / "odfl" / "completion" / "answers.json" if place else None

    def recall(self, question: str, ask: Callable[[str], list[str]]) -> list[str]:
        """The answer as it was given before; else `ask(question)`, which is kept."""
        if self._file is None or not make_private(self._file.parent):
            return ask(question)
        answers = self._answers(self._file)
        if question not in answers and (words := ask(question)):
            answers[question] = words
            with suppress(OSError):  # a full disk
                content = {"stamp": self._stamp, "answers": answers}
                write_json(self._file, content, durable=False)
        return answers.get(question, [])

    def _answers(self, file: Path) -> dict[str, Any]:
        try:
            content = json.loads(file.read_text()) if is_own(file) else {}
            return dict(content["answers"]) if content["stamp"] == self._stamp else {}
        except (OSError, ValueError, KeyError, TypeError):  # none yet, or damaged
            return {}


def _stamp(folders: list[Path]) -> str:
    """Changes with the names, lengths and times of the files, and with the version of odfl."""
    found = []
    for path in (path for folder in folders for path in sorted(folder.absolute().rglob("*.yaml"))):
        with suppress(OSError):  # a link to nowhere, such as the locks of some editors
            status = path.stat()
            found.append((str(path), status.st_size, status.st_mtime_ns))
    return hashlib.sha256(repr((__version__, found)).encode()).hexdigest()
