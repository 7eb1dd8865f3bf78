"""Errors, their messages and their exit codes."""

import os
import sys
import sysconfig
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from odfl_cli.core.text import shorten, tell

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130
"""Exit codes: a run that failed, input refused before anything was written, Ctrl-C."""
FULL = "ODFL_FULL_ERROR"
"""Set to 1 if the user asks for whole tracebacks; HYDRA_FULL_ERROR is always set for Hydra."""
TORCH_HINT = "only torch modules and engine=torch do; the README says how to install it"
PACKAGE = str(Path(__file__).resolve().parents[1])
STANDARD_LIBRARY = sysconfig.get_path("stdlib")


class UserError(Exception):
    """A mistake in the input: shown as one line, without a traceback."""

    def __str__(self) -> str:
        return shorten(super().__str__())


class RowError(UserError):
    """One row of a batch of decisions could not be computed; `row` is its index of `rows`."""

    def __init__(self, row: int, rows: int, message: str) -> None:
        super().__init__(message)
        self.row, self.rows = row, rows


class RoundError(UserError):
    """A round of a block could not be played; the indices count from 0 within the block."""

    def __init__(self, round_index: int, seed_index: int, message: str) -> None:
        super().__init__(message)
        self.round_index, self.seed_index = round_index, seed_index


def message(error: BaseException) -> str:
    """The error's message in one line; for other errors than UserError it begins with the class."""
    kind, text = type(error).__name__, " ".join(str(error).split())
    if isinstance(error, MemoryError):
        return f"out of memory ({text}); fewer seeds or oracle.history=window take less"
    if isinstance(error, UserError):
        return text or kind
    return f"{kind}: {text}" if text else kind


@contextmanager
def without_exits() -> Iterator[None]:
    """Turns a SystemExit raised by a component into a UserError."""
    try:
        yield
    except SystemExit as error:
        raise UserError(f"a part ended the program, {message(error)}") from error


@contextmanager
def refuse_missing_torch() -> Iterator[None]:
    """Turns the failed import of torch into a UserError."""
    try:
        yield
    except Exception as error:
        if not (failure := _find_torch_failure(error)):
            raise
        reason = " ".join(str(failure).split())
        raise UserError(
            f"torch cannot be imported ({reason}), and this run needs it; {TORCH_HINT}"
        ) from error


def report(error: BaseException, user_error: int = BAD_INPUT) -> int:
    """Prints the error on stderr and returns the exit code, which is `user_error` for a UserError."""
    if isinstance(error, BrokenPipeError):  # `odfl … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    if isinstance(error, KeyboardInterrupt):
        tell("interrupted; unfinished runs left no results")
        return INTERRUPTED
    refused = isinstance(error, UserError | MemoryError)
    if os.environ.get(FULL) == "1" or not (refused or isinstance(error, OSError)):
        print(short_traceback(error), file=sys.stderr)
    elif isinstance(error, OSError):
        tell(f"{error.filename or 'writing failed'}: {error.strerror or error}")
    else:
        tell(message(error))
    return user_error if refused else FAILED


def _find_torch_failure(error: BaseException | None) -> BaseException | None:
    """The first error in the chain of causes which says that torch is missing or fails to import."""
    while error is not None:
        if isinstance(error, ModuleNotFoundError) and error.name == "torch":
            return error
        frames = traceback.extract_tb(error.__traceback__)
        places = [(*Path(frame.filename).parts[-2:], frame.name) for frame in frames]
        if (
            isinstance(error, ImportError | OSError)
            and ("torch", "__init__.py", "<module>") in places
        ):
            return error
        error = error.__cause__ or error.__context__
    return None


def short_traceback(error: BaseException) -> str:
    """The traceback with the frames in the user's own files only, or those outside Hydra if there are none."""
    if os.environ.get(FULL) == "1":
        return "".join(traceback.format_exception(error)).rstrip()
    frames = traceback.extract_tb(error.__traceback__)
    users = [frame for frame in frames if is_users_file(frame.filename)]
    shown = users or [frame for frame in frames if "/hydra/" not in Path(frame.filename).as_posix()]
    return "".join(
        [
            "Traceback (shortened; HYDRA_FULL_ERROR=1 shows all of it):\n",
            *traceback.format_list(shown),
            *traceback.format_exception_only(error),
        ]
    ).rstrip()


def is_foreign(error: BaseException, below: int) -> bool:
    """True if no frame after the first `below` is in odfl's or the user's code."""
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)[below:]]
    return not any(file.startswith(PACKAGE) or is_users_file(file) for file in files)


def is_users_file(file: str) -> bool:
    """True if a module's file belongs neither to this package nor to an installed one."""
    if file.startswith(("<", PACKAGE, STANDARD_LIBRARY)):
        return False
    return not {"site-packages", "dist-packages"}.intersection(Path(file).parts)
