"""One writer per directory, by a lock that the kernel drops when its holder dies.

flock holds between the processes of one machine, and between machines on file systems that pass it
on (NFS 4, Lustre with -o flock). The file says who holds it, for people; only the kernel decides.
"""

import fcntl
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

LOCK = ".lock"
PATIENCE = 0.5
"""Seconds before a wait is worth telling: who only looks holds the lock for an instant."""
POLL = 0.02


@contextmanager
def locked(directory: Path, tell: Callable[[str], None] = lambda holder: None) -> Iterator[None]:
    """Waits for the directory's lock and holds it; `tell` hears once who is being waited for."""
    begun, told = time.monotonic(), False
    while (handle := _try(directory)) is None:
        if not told and time.monotonic() - begun > PATIENCE:
            tell(holder(directory))
            told = True
        time.sleep(POLL)
    try:
        os.truncate(handle, 0)
        os.write(handle, f"{socket.gethostname()} {os.getpid()}\n".encode())
        yield
    finally:
        os.close(handle)


def is_locked(directory: Path) -> bool:
    """Whether a living process holds the lock."""
    try:
        handle = os.open(directory / LOCK, os.O_RDONLY)
    except OSError:
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
        return (directory / LOCK).read_text().strip() or "another process"
    except (OSError, UnicodeDecodeError):
        return "another process"


def _try(directory: Path) -> int | None:
    """An open, locked file; nothing when another holds it."""
    handle = os.open(directory / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(handle).st_ino == os.stat(directory / LOCK).st_ino:
            return handle
    except (BlockingIOError, FileNotFoundError):  # held, or removed with its directory
        pass
    os.close(handle)
    return None
