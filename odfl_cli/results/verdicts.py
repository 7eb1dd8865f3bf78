"""What a sweep decided and chose: verdict.json of `until=decided`, tuned.json of `tune=`.

verdict.json:

    {"column": "avg_cost", "margin": 0.001, "error": 0.05, "most": 2000,
     "pairs": [{"problem": "data.gamma=0", "first": "df_ogd", "second": "pf_ogd",
                "runs": ["df_ogd-…", "pf_ogd-…"], "difference": −0.0021, "interval": [−0.004, −0.0002],
                "seeds": "0-249", "verdict": "less"}]}

`difference` is the mean of first − second over `seeds`. All intervals of a file hold together, and
however many seeds were looked at, with probability 1 − error. The verdict is *less* (the first has
less of the column), *more*, *equal* (within the margin) or *undecided* after `most` seeds.
tuned.json names the constants chosen for every job, and those that lie at the edge of their grid.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from odfl_cli.core.errors import UserError
from odfl_cli.core.files import write_json
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


@dataclass(frozen=True)
class Verdict:
    """The verdict on one pair of runs."""

    problem: str  # the swept keys that are not the algorithm's, as typed
    first: str
    second: str
    runs: Sequence[str]  # the names of their directories
    difference: float
    interval: Sequence[float]
    seeds: str
    verdict: Literal["less", "more", "equal", "undecided"]


@dataclass(frozen=True)
class Verdicts:
    """What a sweep has decided."""

    column: str
    margin: float
    error: float
    most: int
    pairs: Sequence[Verdict]

    @property
    def sentences(self) -> list[str]:
        """One for every pair: who has less, by how much, on which seeds."""
        return [self._sentence(pair) for pair in self.pairs]

    def _sentence(self, pair: Verdict) -> str:
        first, second = map(display_name, (pair.first, pair.second))
        what = to_unicode(column_words(self.column))
        words = WORDS[pair.verdict].format(first, second, what, self.margin)
        low, high = pair.interval
        number = f"{pair.difference:.3g} in [{low:.3g}, {high:.3g}]".replace("-", "−")
        problem = f"{pair.problem}: " if pair.problem else ""
        return f"{problem}{words}: {number}, seeds {pair.seeds}."

    def write(self, sweep: Path) -> None:
        """Writes verdict.json into the sweep's directory."""
        write_json(sweep / VERDICT, asdict(self))


def read_verdicts(sweep: Path) -> Verdicts | None:
    """The verdicts of a sweep's directory; None where it has none. A UserError of one line."""
    content = _read(sweep / VERDICT, SHAPE)
    if content is None:
        return None
    pairs = tuple(Verdict(**{key: pair[key] for key in PAIR}) for pair in content["pairs"])
    if any(len(pair.interval) != 2 or pair.verdict not in WORDS for pair in pairs):
        raise UserError(f"{sweep / VERDICT}: it is not what odfl writes")
    return Verdicts(**{key: content[key] for key in SHAPE} | {"pairs": pairs})


def verdicts_in(paths: Iterable[Path]) -> list[str]:
    """What the sweeps at the paths have decided, in sentences."""
    sweeps = [sweep for path in paths for sweep in sweeps_in(path)]
    found = [verdicts for sweep in sweeps if (verdicts := read_verdicts(sweep))]
    return [sentence for verdicts in found for sentence in verdicts.sentences]


def choices_in(paths: Iterable[Path]) -> list[str]:
    """The constants that `tune=` chose for the jobs of the sweeps at the paths, in sentences."""
    sentences = []
    for sweep in (sweep for path in paths for sweep in sweeps_in(path)):
        content = _read(sweep / TUNED, CHOICES) or {"jobs": ()}
        for job in content["jobs"]:
            edge = f", with {' and '.join(job['edge'])} at the edge of the grid" * bool(job["edge"])
            basis = f"by {content['objective']} on seeds {content['seeds']}"
            sentences.append(f"{job['job']}: {assignments(job['chosen'])}, {basis}{edge}.")
    return sentences


def _read(path: Path, shape: Any) -> Any:
    """A record of a sweep; None where there is none."""
    try:
        content = read_json(path)
    except FileNotFoundError:
        return None
    except UnreadableError as error:
        raise UserError(f"{path}: {error}") from None
    if not fits(content, shape):
        raise UserError(f"{path}: it is not what odfl writes")
    return content
