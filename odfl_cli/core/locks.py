"""Locks on directories, released by the kernel when the process ends.

flock works between the processes of one machine, and between machines on file systems that support
it (NFS 4, Lustre with -o flock). The lock file names its holder for information only.
A file of this name that odfl did not write is left as it is and raises an error.
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
LARGEST = 512
OURS = re.compile(rb"(?:odfl lock: )?(?P<holder>\S+ \d+)\n|")
"""The content of a lock file: its last holder (without a prefix up to 0.2.0), or nothing."""


@contextmanager
def locked(directory: Path, tell: Callable[[str], None] = lambda holder: None) -> Iterator[None]:
    """Waits for the directory's lock and holds it; calls `tell` once with the holder if the wait is long."""
    begun, reported = time.monotonic(), False
    while (handle := _try(directory)) is None:
        if not reported and time.monotonic() - begun > PATIENCE:
            tell(holder(directory) or "another process")
            reported = True
        time.sleep(POLL)
    try:
        os.truncate(handle, 0)
        os.write(handle, f"odfl lock: {socket.gethostname()} {os.getpid()}\n".encode())
        yield
    finally:
        os.close(handle)


def is_locked(directory: Path) -> bool:
    """True if a living process holds the lock."""
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


def holder(directory: Path) -> str | None:
    """The last holder of the lock, "host pid"; None if there is none."""
    with suppress(OSError, UserError):
        found = OURS.fullmatch(read_regular(directory / LOCK, LARGEST))
        return found["holder"].decode(errors="replace") if found and found[0] else None
    return None


def check_lock(directory: Path) -> None:
    """Raises if odfl did not write the file at the lock's path."""
    path = directory / LOCK
    check_writable_in_place(path)
    try:
        content = read_regular(path, LARGEST)
    except FileNotFoundError:
        return
    if not OURS.fullmatch(content):
        raise UserError(f"{path}: it is not a lock of odfl; move it, or choose another directory")


def _try(directory: Path) -> int | None:
    """The descriptor of the locked file; None while another process holds it."""
    handle = open_regular(directory / LOCK, os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        at_path = os.stat(directory / LOCK, follow_symlinks=False)
        if os.path.samestat(os.fstat(handle), at_path):
            check_lock(directory)
            return handle
    except (BlockingIOError, FileNotFoundError):  # held, or removed with its directory
        pass
    except UserError:
        os.close(handle)
        raise
    os.close(handle)
    return None
