"""Ctrl-C at any moment of the command is one line, or silence while the package is imported."""

import signal

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
