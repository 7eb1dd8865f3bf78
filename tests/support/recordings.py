"""Files of rounds to replay."""

from pathlib import Path

DATA = ("data.items=4", "data.features=3", "horizon.rounds=40", "seeds=3")
"""The data of the fixture `exported`."""


def write(path: Path, text: str) -> str:
    """Writes a file and returns its name."""
    path.write_text(text)
    return str(path)
