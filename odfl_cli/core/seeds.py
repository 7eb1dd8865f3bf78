"""Seeds as text: `20` counts them from 0, `1000-1019` and `[0-9,20]` name them."""

import re
from collections.abc import Iterable, Sequence

from odfl_cli.core.errors import UserError

LARGEST, MOST = 2**32 - 1, 1_000_000
PART = re.compile(r"(\d{1,10})(?:\s*[-–]\s*(\d{1,10}))?")


def parse_seeds(seeds: str | int | Iterable[int], key: str = "seeds") -> tuple[int, ...]:
    """The seeds of a text, a count or a list; raises a UserError that names the key for anything else."""
    if not isinstance(seeds, str | int):
        return parse_seeds(str(list(seeds)), key)
    text = str(seeds).strip()
    if text.isdecimal():
        text = f"0-{int(text) - 1}"
    found: list[int] = []
    for part in text.removeprefix("[").removesuffix("]").split(","):
        match = PART.fullmatch(part.strip())
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if not first <= last <= LARGEST or len(found) + last - first >= MOST:
            raise UserError(f"{key} {seeds}: should be a count, or seeds as in 1000-1019 or 0-9,20")
        found += range(first, last + 1)
    if len(set(found)) < len(found):
        raise UserError(f"{key} {text}: no seed may appear twice")
    return tuple(found)


def format_seeds(seeds: Iterable[int]) -> str:
    """`0-9,20`, in ascending order."""
    spans: list[list[int]] = []
    for seed in sorted(seeds):
        if spans and seed == spans[-1][-1] + 1:
            spans[-1].append(seed)
        else:
            spans.append([seed])
    return ",".join(f"{s[0]}-{s[-1]}" if len(s) > 1 else str(s[0]) for s in spans)


def seeds_word(seeds: Sequence[int]) -> str:
    """`seeds=3` for 0, 1, 2; otherwise the seeds themselves, as in `seeds=1000-1019`."""
    if list(seeds) == list(range(len(seeds))):
        return f"seeds={len(seeds)}"
    text = format_seeds(seeds)
    return f"seeds={text}" if re.fullmatch(r"\d+-\d+", text) else f"seeds=[{text}]"
