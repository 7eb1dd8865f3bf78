"""Text for people: tables, means with their intervals, sizes, ages, suggestions, lines on stderr."""

import difflib
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypedDict

PIPED_WIDTH = 100
ELASTIC_MINIMUM = 12
UNITS = (("d", 86400), ("h", 3600), ("m", 60), ("s", 1))


def printable(text: str) -> str:
    """The text with control characters, escape sequences and lone surrogates written out."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def tell(line: str) -> None:
    """One line on stderr."""
    print(f"odfl: {printable(line)}", file=sys.stderr, flush=True)


def table(rows: Iterable[Sequence[str]], elastic: int | None = None) -> str:
    """Aligned columns; the elastic one is cut so that a line fits the screen, or 100 columns."""
    cells = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    if elastic is not None:
        others = sum(widths) - widths[elastic] + 2 * (len(widths) - 1)
        room = max(ELASTIC_MINIMUM, _screen_width() - others)
        widths[elastic] = min(widths[elastic], room)
    return "\n".join(
        "  ".join(_cut(cell, width).ljust(width) for cell, width in zip(row, widths, strict=True))
        .rstrip()
        for row in cells
    )  # fmt: skip


def did_you_mean(word: str, known: Iterable[str], most: int = 1, cutoff: float = 0.6) -> str:
    """`did you mean X?` where a known word is near, otherwise `there are X, Y, …`."""
    words = list(known)
    near = difflib.get_close_matches(word, words, most, cutoff)
    return f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(words)}"


class Interval(TypedDict):
    """A mean over seeds and the half-width of its 95% interval; a single seed has none."""

    mean: float
    ci95: float | None


def interval(values: Iterable[float]) -> Interval:
    """Of one value per seed."""
    import numpy as np  # `odfl --help` has no need of it

    from odfl_cli.core.statistics import mean_ci95

    mean, ci95 = mean_ci95(np.array(list(values), dtype=float))
    return {"mean": float(mean), "ci95": None if np.isnan(ci95) else float(ci95)}


def plus_minus(mean: float, ci95: float | None, sign: str = "") -> str:
    """A mean with its interval, if it has one."""
    return f"{mean:{sign}.4f}" + ("" if ci95 is None else f" ± {ci95:.4f}")


def size(count: float) -> str:
    """Bytes in the unit that leaves at most four digits."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def age(seconds: float) -> str:
    """Whole days, hours, minutes or seconds."""
    for unit, length in UNITS:
        if seconds >= length:
            return f"{seconds // length:.0f} {unit}"
    return "0 s"


def assignments(settings: Mapping[str, Any]) -> str:
    """`key=value key=value`, as typed on a command line."""
    return " ".join(f"{key}={shown(value)}" for key, value in settings.items()) or "-"


def shown(value: Any) -> str:
    """A value as a user would type it."""
    words = {None: "null", True: "true", False: "false"}
    return words[value] if value is None or isinstance(value, bool) else str(value)


def _cut(cell: str, width: int) -> str:
    return cell if len(cell) <= width else cell[: width - 1] + "…"


def _screen_width() -> int:
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else PIPED_WIDTH
