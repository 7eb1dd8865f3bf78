"""The records of a sweep's decisions: verdict.json of `until=decided`, tuned.json of `tune=`.

verdict.json:

    {"column": "avg_cost", "margin": 0.001, "error": 0.05, "most": 2000,
     "pairs": [{"problem": "data.gamma=0", "first": "df_ogd", "second": "pf_ogd",
                "runs": ["df_ogd-…", "pf_ogd-…"], "difference": −0.0021, "interval": [−0.004, −0.0002],
                "seeds": "0-249", "verdict": "less"}]}

`difference` is the mean of first − second over `seeds`. All intervals of a file are valid together
and for any number of seeds with probability 1 − error. The verdict is *less* (the first has
less of the column), *more*, *equal* (within the margin) or *undecided* after `most` seeds; then `more`
estimates how many more it needs.
tuned.json names the constants chosen for every job, and those that lie at the edge of their grid.
"""

from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any

from odfl_cli.core.errors import UserError
from odfl_cli.core.reading import UnreadableError, read_json
from odfl_cli.core.text import assignments
from odfl_cli.results.finding import sweeps_in
from odfl_cli.results.summary import fits
from odfl_cli.results.words import column_words, display_name, to_unicode

VERDICT, TUNED = "verdict.json", "tuned.json"
PAIR = {"problem": str, "first": str, "second": str, "runs": [str], "difference": float,
        "interval": [float], "seeds": str, "verdict": str}  # fmt: skip
SHAPE = {"column": str, "margin": float, "error": float, "most": int, "pairs": [PAIR]}
CHOICES = {"objective": str, "seeds": str,
           "jobs": [{"job": str, "chosen": {str: str}, "edge": [str]}]}  # fmt: skip
WORDS = {
    "less": "{0} has less {2} than {1}",
    "more": "{0} has more {2} than {1}",
    "equal": "{0} and {1} have the same {2} within {3:g}",
    "undecided": "{0} and {1} are undecided in {2}",
}
LOOKED = (
    "The number of seeds depends on the results: judge by these intervals, not by a ± elsewhere."
)
Verdicts = dict[str, Any]  # the content of verdict.json


def sentences(verdicts: Verdicts) -> list[str]:
    """One sentence per pair: the verdict, the difference, the seeds, and how many more it needs."""
    what = to_unicode(column_words(verdicts["column"]))
    found = []
    for pair in verdicts["pairs"]:
        first, second = (_name(pair[side]) for side in ("first", "second"))
        words = WORDS[pair["verdict"]].format(first, second, what, verdicts["margin"])
        low, high = pair["interval"]
        number = f"{pair['difference']:.3g} in [{low:.3g}, {high:.3g}]".replace("-", "−")
        problem = f"{pair['problem']}: " if pair["problem"] else ""
        more = f"; about {pair['more']:,} more would decide it" if pair.get("more") else ""
        found.append(f"{problem}{words}: {number}, seeds {pair['seeds']}{more}.")
    return found


def _name(contender: str) -> str:
    """`DF-OGD algo.c_eta=0.1` for `df_ogd algo.c_eta=0.1`."""
    algorithm, _, settings = contender.partition(" ")
    return f"{display_name(algorithm)} {settings}".rstrip()


def read_verdicts(sweep: Path) -> Verdicts | None:
    """The verdicts of a sweep's directory; None if it has none. Raises a UserError if unreadable."""
    content: Verdicts | None = _read(sweep / VERDICT, SHAPE)
    for pair in content["pairs"] if content else ():
        if len(pair["interval"]) != 2 or pair["verdict"] not in WORDS:
            raise UserError(f"{sweep / VERDICT}: it is not what odfl writes")
    return content


def verdicts_in(paths: Iterable[Path]) -> list[str]:
    """The verdicts of the sweeps at the paths, in sentences, and how far other intervals count."""
    sweeps = [sweep for path in paths for sweep in sweeps_in(path)]
    found = [verdicts for sweep in sweeps if (verdicts := read_verdicts(sweep))]
    return [*chain(*map(sentences, found)), *([LOOKED] if found else [])]


def choices_in(paths: Iterable[Path]) -> list[str]:
    """The constants that `tune=` chose for the jobs of the sweeps at the paths, in sentences."""
    found = []
    for sweep in (sweep for path in paths for sweep in sweeps_in(path)):
        content = _read(sweep / TUNED, CHOICES) or {"jobs": ()}
        for job in content["jobs"]:
            edge = f", with {' and '.join(job['edge'])} at the edge of the grid" * bool(job["edge"])
            basis = f"by {content['objective']} on seeds {content['seeds']}"
            found.append(f"{job['job']}: {assignments(job['chosen'])}, {basis}{edge}.")
    return found


def _read(path: Path, shape: Any) -> Any:
    """A record of a sweep; None if there is none."""
    try:
        content = read_json(path)
    except FileNotFoundError:
        return None
    except UnreadableError as error:
        raise UserError(f"{path}: {error}") from None
    if not fits(content, shape):
        raise UserError(f"{path}: it is not what odfl writes")
    return content
