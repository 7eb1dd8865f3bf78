"""Several sweeps side by side: one row per algorithm, one column per sweep."""

from odfl_cli.core.text import plus_minus
from odfl_cli.results.ranking import Candidate


def league(sweeps: dict[str, list[Candidate]]) -> str:
    """A Markdown table of means with intervals; each sweep's best is bold.

    Of an algorithm that a sweep has with several settings, its best one counts. Rows are in the
    order of the mean rank over the sweeps that have the algorithm.
    """
    best = {name: _best_of_each(ranked) for name, ranked in sweeps.items()}
    algorithms = {algorithm for ranked in best.values() for algorithm in ranked}
    rows = [["algorithm", *best], ["---"] * (1 + len(best))]
    for algorithm in sorted(algorithms, key=lambda name: (_mean_rank(name, best), name)):
        cells = [_cell(algorithm, ranked) for ranked in best.values()]
        rows.append([f"`{algorithm}`", *cells])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _best_of_each(ranked: list[Candidate]) -> dict[str, Candidate]:
    """Algorithm → its best candidate, in the order of the ranking."""
    best: dict[str, Candidate] = {}
    for candidate in ranked:
        best.setdefault(candidate.entry.algorithm, candidate)
    return best


def _mean_rank(algorithm: str, sweeps: dict[str, dict[str, Candidate]]) -> float:
    places = [
        list(ranked).index(algorithm) / len(ranked)
        for ranked in sweeps.values()
        if algorithm in ranked
    ]
    return sum(places) / len(places)


def _cell(algorithm: str, ranked: dict[str, Candidate]) -> str:
    if algorithm not in ranked:
        return ""
    figure = plus_minus(**ranked[algorithm].figure).replace("-", "−")
    return f"**{figure}**" if algorithm == next(iter(ranked)) else figure
