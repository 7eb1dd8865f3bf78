"""Ctrl-C at any moment of the command is one line; this module is imported first of all."""

import os
import signal
import sys

_noted: list[int] = []


def main_begins() -> None:
    """From here on an interrupt is an exception, which `main` reports; before, a silent end."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, _interrupt)


def was_interrupted() -> bool:
    """Whether there was a Ctrl-C: libraries may make another exception of it as they are imported."""
    return bool(_noted)


def _interrupt(number: int, frame: object) -> None:
    _noted.append(number)
    raise KeyboardInterrupt


_is_command = os.path.basename(sys.argv[0]) in ("odfl", "-m")  # "-m" while python looks for it
if _is_command and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
