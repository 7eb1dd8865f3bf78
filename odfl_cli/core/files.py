"""Atomic writing, and reading that follows no links."""

import errno
import fcntl
import json
import os
import re
import secrets
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from odfl_cli.core.errors import UserError

TEMPORARY = re.compile(r"\.odfl-[0-9a-f]{8}-(?P<name>.+)\.part")
"""The name of a file while it is written."""
LARGEST = 1 << 26  # bytes of the largest record that is read
ENDS = 1 << 16  # bytes at either end of a file that tell who wrote it
NOT_REGULAR = (errno.ELOOP, errno.ENXIO, errno.EISDIR, errno.ENOTDIR, errno.ENODEV)
"""Error numbers for a link, a FIFO, a directory or a device opened as a file."""


class NotRegularError(UserError):
    """The path is a link or not a regular file."""


@contextmanager
def atomic(path: Path, mode: str = "w", durable: bool = True) -> Iterator[IO[Any]]:
    """Opens a new file (mode "w" or "wb") that gets its name only when it is complete.

    `durable` flushes it to the disk first, which is slow; otherwise a power failure may damage it.
    """
    temporary = path.with_name(f".odfl-{secrets.token_hex(4)}-{path.name}.part")
    try:
        with open(temporary, mode.replace("w", "x"), newline=None if "b" in mode else "") as file:
            hold(file.fileno())
            yield file
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextmanager
def explain_write_errors(path: Path) -> Iterator[None]:
    """Turns an OSError while writing `path` into a UserError; removes leftovers of killed processes."""
    try:
        if path.parent.is_dir():
            named = map(TEMPORARY.fullmatch, os.listdir(path.parent))
            remove_abandoned(path.parent / m[0] for m in named if m and m["name"] == path.name)
        yield
    except OSError as error:
        raise UserError(f"{path}: cannot write there ({error.strerror})") from error


def hold(descriptor: int) -> None:
    """Marks an open file as in use by a living process."""
    with suppress(OSError):  # a file system without locks, where nothing is removed either
        fcntl.flock(descriptor, fcntl.LOCK_SH)


def remove_abandoned(files: Iterable[Path]) -> None:
    """Removes the files that no living process holds."""
    for file in files:
        with suppress(OSError, UserError), os.fdopen(open_regular(file)) as found:
            fcntl.flock(found, fcntl.LOCK_EX | fcntl.LOCK_NB)
            file.unlink()


def write_json(path: Path, content: Any, durable: bool = True) -> None:
    """Writes a JSON file atomically."""
    with atomic(path, durable=durable) as file:
        file.write(json.dumps(content, indent=2) + "\n")


def open_regular(path: Path | str, flags: int = os.O_RDONLY) -> int:
    """Opens a regular file and returns its descriptor; never blocks on a FIFO and follows no link."""
    try:
        safe = flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        descriptor = os.open(path, safe, 0o666)
    except OSError as error:
        if error.errno in NOT_REGULAR:
            raise NotRegularError(f"{path}: it is a link or not a regular file") from None
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotRegularError(f"{path}: it is not a regular file")
    return descriptor


def read_regular(path: Path | str, largest: int = LARGEST) -> bytes:
    """The content of a regular file; raises a UserError beyond `largest` bytes."""
    with os.fdopen(open_regular(path), "rb") as file:
        length = os.fstat(file.fileno()).st_size  # read allocates as much as it is asked for
        content = file.read(min(length, largest) + 1)
    if len(content) > largest:
        raise UserError(f"{path}: it has more than {largest} bytes")
    return content


def check_writable_in_place(path: Path) -> None:
    """Raises for a link, a hard link or a device: writing there would change another file."""
    try:
        found = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
        raise NotRegularError(f"{path}: it is a link or not a regular file; nothing is written")


def check_replaceable(path: Path, is_ours: Callable[[bytes], bool], force: bool = False) -> None:
    """Raises if the target is not a regular file, or if odfl did not write it, unless `force`.

    `is_ours` is called with the first and last `ENDS` bytes; an empty file may be replaced.
    """
    if not os.path.lexists(path):
        return
    try:
        with explain_write_errors(path), os.fdopen(open_regular(path), "rb") as file:
            length = os.fstat(file.fileno()).st_size
            content = file.read(ENDS)
            file.seek(max(len(content), length - ENDS))
            content += file.read(ENDS)
    except NotRegularError:
        raise UserError(
            f"{path}: it is a link or not a regular file; choose another name"
        ) from None
    if content and not force and not is_ours(content):
        raise UserError(f"{path}: it exists and odfl did not write it; --force replaces it")


def make_private(directory: Path) -> bool:
    """Makes a directory that only this user can enter; returns whether it exists and is writable."""
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = directory.lstat()
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077


def user_cache() -> Path | None:
    """The user's folder for caches; None where there is no home directory."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) if os.path.isabs(base) else None


def make_writable(*directories: Path) -> None:
    """Makes the directories; raises a UserError, and leaves none behind, if one cannot be written."""
    places = {place for one in directories for place in (one, *one.parents)}
    missing = [place for place in places if not os.path.lexists(place)]
    try:
        for directory in directories:
            directory.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=directory):
                pass
    except OSError as error:
        for folder in sorted(filter(os.path.isdir, missing), reverse=True):  # the inner ones first
            with suppress(OSError):
                folder.rmdir()
        raise UserError(
            f"{directory}: cannot write there ({error.strerror}), see outputs="
        ) from error
