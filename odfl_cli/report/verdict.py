"""The verdict in words: the leader, its lead, and the algorithms not distinguishable from it."""

import math
from collections import Counter
from collections.abc import Sequence

from odfl_cli.core.statistics import count_for, student_quantile
from odfl_cli.core.text import plus_minus, printable, two_digits
from odfl_cli.results.leaderboard import Entry, is_decided
from odfl_cli.results.words import display_name

ERROR = 0.05  # of a verdict by until=decided
MOST_SEEDS = 10_000
LONGEST = 200  # characters of a text


def clean(text: object) -> str:
    """Text with control characters and direction marks escaped, at most 200 characters long."""
    shown = printable(str(text))
    return shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 1]}…"


def describe(entries: Sequence[Entry], what: str) -> list[str]:
    """Sentences on the learners of one comparison, the best first; `what` is the quantity, less is better."""
    if not entries:
        return ["Only reference policies were run: there is nothing to compare."]
    leader, *others = entries
    name = _name(leader)
    tried = "" if leader.tried == 1 else f" (the best of its {leader.tried} settings)"
    mean = two_digits(None)(leader.figure["mean"])
    opening = f"{name}{tried} has the lowest {what}, {mean}"
    if not others:
        return [f"{opening}, and is the only algorithm here."]
    decided = [one for one in others if one.behind and is_decided(one.behind[1])]
    undecided = [
        _describe_undecided(one) for one in others if one.behind and not is_decided(one.behind[1])
    ]
    unpaired = [_name(one) for one in others if not one.behind]
    sentences = [f"{opening}."]
    if len(decided) == 1:
        sentences.append(f"{name} is ahead of {_name(decided[0])} by {_apart(decided[0])}.")
    elif decided:
        whom = f"{'all' if decided == others else f'{len(decided)} of'} {len(others)} others"
        nearest = f"{_name(decided[0])}, is {_apart(decided[0])}"
        sentences.append(f"{name} is ahead of {whom}; its lead over the nearest, {nearest}.")
    if undecided:
        sentences.append(f"Not distinguishable from {name}: {'; '.join(undecided)}.")
    if unpaired:
        sentences.append(f"No seed in common with {', '.join(unpaired)}.")
    return sentences


def leader_of(entries: Sequence[Entry]) -> str | None:
    """The algorithm whose lead over every other one is decided; None if there is none."""
    alone = all(one.behind and is_decided(one.behind[1]) for one in entries[1:])
    return _name(entries[0]) if len(entries) > 1 and alone else None


def headline(leaders: Sequence[str | None]) -> str:
    """One sentence on several comparisons, given the leader of each."""
    counts = Counter(leader for leader in leaders if leader is not None)
    total = f"{len(leaders)} comparisons"
    if not counts:
        return f"In none of the {total} is one algorithm clearly ahead of all others."
    parts = [f"{name} in {count}" for name, count in counts.most_common()]
    undecided = len(leaders) - counts.total()
    rest = f"; no algorithm in {undecided}" if undecided else ""
    return f"Of {total}, clearly ahead of all others: {', '.join(parts)}{rest}."


def _describe_undecided(rival: Entry) -> str:
    """The rival, its difference, and the number of seeds that until=decided would need."""
    seeds, gap = rival.behind or (0, {"mean": math.nan, "ci95": None})
    if gap["ci95"] is None:
        apart = two_digits(None)(gap["mean"])
        return f"{_name(rival)}, {apart} apart on one seed, which has no interval"
    if gap["mean"] == 0:
        return f"{_name(rival)}, equal on average"
    deviation = gap["ci95"] * math.sqrt(seeds) / student_quantile(seeds - 1)
    count = count_for(abs(gap["mean"]), deviation, ERROR)
    needed = f"about {count:,}" if count <= MOST_SEEDS else f"more than {MOST_SEEDS:,}"
    return f"{_name(rival)}, {_apart(rival, ' apart')} (until=decided needs {needed} seeds)"


def _apart(rival: Entry, word: str = "") -> str:
    """0.10 ± 0.04 over 3 seeds."""
    seeds, gap = rival.behind or (0, {"mean": math.nan, "ci95": None})
    shown = plus_minus(**gap, number=two_digits(gap["ci95"]))
    return f"{shown}{word} over {'1 seed' if seeds == 1 else f'{seeds} seeds'}"


def _name(entry: Entry) -> str:
    return clean(display_name(entry.run.algorithm))
