"""What a finished run says about the assumptions of the theorems."""

from collections.abc import Mapping

import numpy as np

ROUNDING = 1e-12


def broken_assumptions(notes: Mapping[str, np.ndarray], t: np.ndarray | None = None) -> list[str]:
    """One line per assumption of Theorem 2 that the notes [S, rounds] contradict.

    `t` are the rounds they were taken at: 1, 2, … if nothing is said.
    """
    if "path_length" not in notes:
        return []
    rounds = np.arange(1, notes["path_length"].shape[-1] + 1) if t is None else t
    sequences = {
        "(1 + P_t)/t": (1 + notes["path_length"]) / rounds,
        "η_t": notes["eta"],
    }
    lines = (_rises(name, values, rounds) for name, values in sequences.items())
    return [line for line in lines if line]


def _rises(name: str, values: np.ndarray, rounds: np.ndarray) -> str | None:
    """Where a sequence that should be non-increasing rises."""
    rising = np.diff(values, axis=-1) > ROUNDING * np.abs(values[..., :-1])
    if not rising.any():
        return None
    seeds = int(rising.any(-1).sum())
    first = int(rounds[1:][rising.any(0)][0])
    return (
        f"{name} should be non-increasing (Theorem 2) and rises in {rising.mean():.0%} of the "
        f"steps, first up to round {first}, for {seeds} of {len(rising)} seeds: the results are "
        "right, but the theorem does not cover them"
    )
