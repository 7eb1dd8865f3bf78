"""Which of the runs an option of `odfl plot` speaks of."""

import difflib

from odfl_cli.core.errors import UserError
from odfl_cli.results.tables import Run, Warn


def runs_with(runs: list[Run], key: str, warn: Warn) -> list[Run]:
    """The runs that have a key; `warn` hears of the algorithms left out."""
    check_key(runs, key)
    for name in sorted({run.algorithm for run in runs if key not in run.settings}):
        warn(f"--x: left out runs of {name} that have no key {key}")
    return [run for run in runs if key in run.settings]


def runs_of(runs: list[Run], algorithms: tuple[str, str]) -> list[Run]:
    """The runs of two algorithms, both of which must be there."""
    found = sorted({run.algorithm for run in runs})
    for name in algorithms:
        if name not in found:
            raise UserError(f"--gap: no run of {name!r}; the algorithms found: {', '.join(found)}")
    return [run for run in runs if run.algorithm in algorithms]


def check_key(runs: list[Run], key: str) -> None:
    """Refuses a key that no run has, and names the nearest one."""
    known = {name for run in runs for name in run.settings if not name.endswith("_target_")}
    if key not in known:
        raise UserError(f"--x: no run has the key {key!r}{_nearest(key, sorted(known))}")


def _nearest(key: str, known: list[str]) -> str:
    # A key is often typed without its group: gamma for data.gamma.
    same_end = [name for name in known if name.rpartition(".")[2] == key]
    near = same_end or difflib.get_close_matches(key, known, n=1)
    return f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(known)}"
