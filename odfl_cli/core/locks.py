"""One writer per directory, by a lock that the kernel drops when its holder dies.

flock works between the processes of one machine, and between machines on file systems that support
it (NFS 4, Lustre with -o flock). The file names its holder for people; only the kernel decides.
A file of this name that odfl did not write is refused and left as it is.
"""

import fcntl
import os
import re
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from odfl_cli.core.errors import UserError
from odfl_cli.core.files import check_writable_in_place, open_regular, read_regular

LOCK = ".lock"
PATIENCE = 0.5
"""Seconds before a wait is reported: a process that only inspects holds the lock for an instant."""
POLL = 0.02
LOOKS = 5
"""At a lock before it is refused: its holder may be writing its name at this instant."""
LARGEST = 512
OURS = re.compile(rb"(?:odfl lock: )?(?P<holder>\S+ \d+)\n|")
"""The content of a lock: who took it last, up to 0.2.0 without a mark; or nothing yet."""


@contextmanager
def locked(directory: Path, tell: Callable[[str], None] = lambda holder: None) -> Iterator[None]:
    """Waits for the directory's lock and holds it; a long wait calls `tell` once with the holder."""
    begun, reported = time.monotonic(), False
    while (handle := _try(directory)) is None:
        if not reported and time.monotonic() - begun > PATIENCE:
            tell(holder(directory))
            reported = True
        time.sleep(POLL)
    try:
        os.truncate(handle, 0)
        os.write(handle, f"odfl lock: {socket.gethostname()} {os.getpid()}\n".encode())
        yield
    finally:
        os.close(handle)


class Starting:
    """A lock while the first files of an attempt are written, so that nobody removes them.

    Taken and given up by different functions, with Hydra between them. Who holds the lock for
    longer than `PATIENCE` works there, and keeps others out as well.
    """

    _handle: int | None = None

    def hold(self, directory: Path) -> None:
        """Makes the directory and takes its lock, unless another holds it; gives up any before."""
        self.release()
        end = time.monotonic() + PATIENCE
        while self._handle is None and time.monotonic() < end:
            directory.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):  # removed since
                self._handle = _try(directory)
            if self._handle is None:
                time.sleep(POLL)
            else:  # what is written from now on is later, by whatever clock the disk has
                os.utime(self._handle, (time.time() - 1,) * 2)

    def release(self) -> None:
        """Gives the lock up, if it is held."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


starting = Starting()
"""Of this process, which starts one job at a time."""


def is_locked(directory: Path) -> bool:
    """Whether a living process holds the lock."""
    try:
        handle = open_regular(directory / LOCK)
    except (OSError, UserError):
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    finally:
        os.close(handle)


def holder(directory: Path) -> str:
    """Who took the lock last: "host pid", or "another process"."""
    try:
        found = OURS.fullmatch(read_regular(directory / LOCK, LARGEST))
    except (OSError, UserError):
        found = None
    return found["holder"].decode(errors="replace") if found and found[0] else "another process"


def has_lock(directory: Path) -> bool:
    """Whether odfl has worked in the directory: there is a lock, and it says who took it."""
    return holder(directory) != "another process"


def check_lock(directory: Path) -> None:
    """Refuses a file in the lock's place that odfl did not write."""
    path = directory / LOCK
    check_writable_in_place(path)
    for _ in range(LOOKS):
        try:
            content = read_regular(path, LARGEST)
        except FileNotFoundError:
            return
        if OURS.fullmatch(content):
            return
        time.sleep(POLL)
    raise UserError(f"{path}: it is not a lock of odfl; move it, or choose another directory")


def _try(directory: Path) -> int | None:
    """An open, locked file; nothing when another holds it."""
    check_lock(directory)
    handle = open_regular(directory / LOCK, os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        at_path = os.stat(directory / LOCK, follow_symlinks=False)
        if os.path.samestat(os.fstat(handle), at_path) and _is_ours(handle):
            return handle
    except (BlockingIOError, FileNotFoundError):  # held, or removed with its directory
        pass
    os.close(handle)
    return None


def _is_ours(handle: int) -> bool:
    """The same check of the open file, which may be another one than was checked before."""
    content = os.pread(handle, LARGEST + 1, 0)
    return os.fstat(handle).st_nlink == 1 and OURS.fullmatch(content) is not None
