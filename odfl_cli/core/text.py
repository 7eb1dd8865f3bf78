"""Text formatting: tables, means with intervals, sizes, ages, suggestions, lines on stderr."""

import difflib
import itertools
import math
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

INDENT = 4
MOST_NAMED = 30  # the most names listed in a message about an unknown one
LONGEST = 1000  # the most characters of a message
UNITS = (("d", 86400), ("h", 3600), ("m", 60), ("s", 1))


def printable(text: str) -> str:
    """The text with control characters, escape sequences and lone surrogates written out."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def shorten(text: str) -> str:
    """The text with at most 80 characters of a value, word or list, cut in the middle beyond LONGEST.

    A path keeps its end, which is its name.
    """
    text = re.sub(r"^([^\s=]+=[^:/\[{]{80})[^:/]+(?=: )", r"\1…", text)
    text = re.sub(r"((?<!\w)'[^'/]{80})[^'/]+(?=')", r"\1…", text)
    text = re.sub(r"([\[{][^\]}]{80})[^\]}]+", r"\1…", text)
    text = re.sub(r"([^\s/]{80})[^\s/]+?([:;,]?)(?=[\s/]|$)", r"\1…\2", text)
    half = LONGEST // 2 - 2
    return text if len(text) <= LONGEST else f"{text[:half]} … {text[-half:]}"


def tell(line: str) -> None:
    """Prints one line on stderr."""
    print(f"odfl: {shorten(printable(line))}", file=sys.stderr, flush=True)


def table(rows: Iterable[Sequence[str]], elastic: int | None = None) -> str:
    """Aligned columns. On a terminal, lines fit its width: the elastic column is wrapped between
    words, and if that is not enough the last columns continue below, indented.
    """
    cells = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    bands = [slice(0, len(widths))]
    if sys.stdout.isatty():
        screen = shutil.get_terminal_size().columns
        if elastic is not None:
            room = screen - (sum(widths) - widths[elastic] + 2 * (len(widths) - 1))
            longest = max(len(word) for row in cells for word in row[elastic].split() or [""])
            widths[elastic] = min(widths[elastic], max(longest, room))
        widths = [min(width, max(1, screen - INDENT)) for width in widths]
        bands = _bands(widths, screen)
    return "\n".join(
        (" " * INDENT * (band.start > 0) + "  ".join(map(str.ljust, line, widths[band]))).rstrip()
        for row in cells
        for band in bands
        for line in _fold(row[band], widths[band])
    )


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; the first row is its heading."""
    heading, *body = rows
    lines = [heading, ["---"] * len(heading), *body]
    return "\n".join(f"| {' | '.join(map(printable, line))} |" for line in lines)


def latex(rows: Sequence[Sequence[str]], apart: int = 0) -> str:
    """A booktabs tabular; the first row is its heading, and a rule separates the last `apart` rows."""
    heading, *body = [" & ".join(map(_latex_cell, row)) + r" \\" for row in rows]
    if 0 < apart < len(body):
        body.insert(len(body) - apart, r"\midrule")
    columns = "l" + "r" * (len(rows[0]) - 1)
    return "\n".join(
        [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", heading, r"\midrule", *body,
         r"\bottomrule", r"\end{tabular}"]
    )  # fmt: skip


def nearest(word: str, known: Iterable[str], most: int = 1, cutoff: float = 0.6) -> list[str]:
    """The known words closest to a word; a dotted key may be typed without its group."""
    words = {name.lower(): name for name in known}
    ends: dict[str, str] = {}
    for name in words.values():
        ends.setdefault(name.lower().rpartition(".")[2], name)
    typed = word.lower()
    if typed in ends:
        return [ends[typed]]
    last = typed.rpartition(".")[2]
    near = difflib.get_close_matches(typed, words, most, cutoff)
    near_ends = [end for end in ends if last and end.endswith(f"_{last}")][:most]
    near_ends = near_ends or difflib.get_close_matches(last, ends, most, cutoff)
    return [words[name] for name in near] or [ends[name] for name in near_ends]


def did_you_mean(word: str, known: Iterable[str], most: int = 1, cutoff: float = 0.6) -> str:
    """`did you mean X? there are X, Y, …`, or only the second part if none is close."""
    words = list(known)
    near = nearest(word, words, most, cutoff)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    more = ", …" if len(words) > MOST_NAMED else ""
    return f"{hint}there are {', '.join(words[:MOST_NAMED])}{more}"


def plus_minus(
    mean: float, ci95: float | None, number: Callable[[float], str] = "{:.4f}".format
) -> str:
    """A mean with its interval, if it has one."""
    return number(mean) + ("" if ci95 is None or ci95 != ci95 else f" ± {number(ci95)}")


def two_digits(ci95: float | None) -> Callable[[float], str]:
    """A formatter with as many decimals as two digits of the interval need; four digits without one."""

    def number(value: float) -> str:
        if not ci95 or math.isnan(ci95):
            text = f"{value:.4g}"
        elif ci95 < 1e-6:
            text = f"{value:.1e}"
        else:
            decimals = max(0, 1 - math.floor(math.log10(ci95)))
            text = f"{round(value, decimals) + 0.0:.{decimals}f}"  # never −0.0
        return text.replace("-", "−")

    return number


def relative(path: Path) -> str:
    """The path relative to the current directory, if it lies below it."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def size(count: float) -> str:
    """A number of bytes in the unit that leaves at most four digits."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def age(seconds: float) -> str:
    """A time in whole days, hours, minutes or seconds."""
    for unit, length in UNITS:
        if seconds >= length:
            return f"{seconds // length:.0f} {unit}"
    return "0 s"


def assignments(settings: Mapping[str, Any]) -> str:
    """`key=value key=value`, as typed on a command line."""
    return " ".join(f"{key}={format_value(value)}" for key, value in settings.items()) or "-"


def format_value(value: Any) -> str:
    """A value as a user would type it."""
    words = {None: "null", True: "true", False: "false"}
    return words[value] if value is None or isinstance(value, bool) else str(value)


def _latex_cell(text: str) -> str:
    """The cell in LaTeX: formulas unchanged, special characters escaped, **bold** and † translated."""
    parts = re.split(r"((?<!\\)\$.*?(?<!\\)\$)", printable(text))
    return "".join(part if place % 2 else _latex_text(part) for place, part in enumerate(parts))


def _latex_text(text: str) -> str:
    plain = text.replace(r"\$", "$").replace("\\", r"\textbackslash ")
    escaped = re.sub(r"([&%$#_{}])", r"\\\1", plain)
    signs = re.sub("[−-](?=[0-9])", "$-$", escaped).replace("±", r"$\pm$")
    for letter, command in {" †": r"$^\dagger$", "δ": r"$\delta$"}.items():
        signs = signs.replace(letter, command)
    return re.sub(r"\*\*(.*)\*\*", r"\\textbf{\1}", signs)


def _bands(widths: Sequence[int], screen: int) -> list[slice]:
    """Groups of neighbouring columns that fit on a line; all groups but the first are indented."""
    bands, start, used = [], 0, widths[0]
    for column, width in enumerate(widths[1:], start=1):
        used += 2 + width
        if used > screen:
            bands.append(slice(start, column))
            start, used = column, INDENT + width
    return [*bands, slice(start, len(widths))]


def _fold(row: Sequence[str], widths: Sequence[int]) -> Iterable[tuple[str, ...]]:
    """The lines of a row: a cell that is too wide continues on the next line."""
    cells = [
        [cell] if len(cell) <= width else textwrap.wrap(cell, width, break_on_hyphens=False)
        for cell, width in zip(row, widths, strict=True)
    ]
    return itertools.zip_longest(*cells, fillvalue="")
