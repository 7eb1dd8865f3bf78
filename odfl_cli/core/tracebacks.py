"""What to show of an exception that nobody expected."""

import os
import sysconfig
import traceback
from pathlib import Path

PACKAGE = str(Path(__file__).resolve().parents[1])
INSTALLED = tuple({sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")})


FULL = "ODFL_FULL_ERROR"
"""Set to 1 where a user asked for whole tracebacks; HYDRA_FULL_ERROR is always set for Hydra."""


def account(error: Exception) -> str:
    """The frames in a user's own files; without any, those outside Hydra. Then the error."""
    if os.environ.get(FULL) == "1":
        return "".join(traceback.format_exception(error)).rstrip()
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if _is_users(frame.filename)]
    shown = own or [frame for frame in frames if "/hydra/" not in Path(frame.filename).as_posix()]
    return "".join(
        [
            "Traceback (shortened; HYDRA_FULL_ERROR=1 shows all of it):\n",
            *traceback.format_list(shown),
            *traceback.format_exception_only(error),
        ]
    ).rstrip()


def _is_users(file: str) -> bool:
    return not file.startswith(("<", PACKAGE, *INSTALLED))
