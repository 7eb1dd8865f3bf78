"""How good the oracle's answers were, and what they cost, at some of the evaluation rounds."""

from typing import Any

import numpy as np

from odfl_cli.algorithms import Algorithm
from odfl_cli.environments import Rounds
from odfl_cli.metrics.theory.oracle_report import COLUMNS, oracle_report

SHARE = "oracle_share"  # seconds: they differ from run to run, so they are no column
VALUES = tuple(name for name in COLUMNS if name != SHARE)


def asks_an_oracle(algorithm: Algorithm) -> bool:
    """Whether there are answers to examine."""
    return type(algorithm).oracle_call is not Algorithm.oracle_call


class OracleNotes:
    """Asks the oracle again at about `count` of the rounds t [E]."""

    def __init__(self, algorithm: Algorithm, t: np.ndarray, seeds: int, count: int) -> None:
        self._algorithm, self._t = algorithm, t
        places = np.unique(np.linspace(0, len(t) - 1, count).round().astype(int))
        self._examined = set(t[places].tolist()) if count else set()
        self._values = {name: np.full((seeds, len(t)), np.nan) for name in VALUES}
        self._shares: list[float] = []

    def watch(self, t: int, state: Any, rounds: Rounds, draws: dict[str, np.ndarray]) -> None:
        """The state that decides round t, which is the first of `rounds`, and that round's draws."""
        if t not in self._examined:
            return
        drawn = {name: values[:, 0] for name, values in draws.items()}
        report = oracle_report(self._algorithm, state, rounds.X[:, 0], rounds.costs[:, 0], drawn)
        for name, values in report.items():
            if name == SHARE:
                self._shares.append(float(values.mean()))
            else:
                self._values[name][:, self._t.searchsorted(t)] = values

    def columns(self) -> dict[str, np.ndarray]:
        """oracle_before, oracle_after and xi, [S, E]; none where nothing was to be examined."""
        return self._values if self._examined else {}

    def report(self) -> dict[str, Any]:
        """The oracle's share of the seconds of a round, for summary.json."""
        return {"oracle_share": round(float(np.mean(self._shares)), 3)} if self._shares else {}
