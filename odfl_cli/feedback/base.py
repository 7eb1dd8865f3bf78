"""Full, semi-bandit and bandit feedback, immediate or delayed."""

from functools import lru_cache
from typing import Annotated, Literal, NamedTuple

import numpy as np
from pydantic import Field

from odfl_cli.core.arrays import Array, array_namespace, dot
from odfl_cli.core.settings import Integer, settings
from odfl_cli.core.streams import Draw, draw

Kind = Literal["full", "semi_bandit", "bandit"]


class Seen(NamedTuple):
    """The feedback of one round for S seeds."""

    X: Array  # [S, d, p]
    costs: Array  # NaN where they are not seen, [S, d]
    paid: Array  # ⟨c, w⟩, [S]
    w: Array  # what was played, [S, d]
    memo: Array  # what the algorithm kept of its decision, [S, k]
    t: int  # the round that it is of, from 1
    kind: Kind = "full"
    late: int = 0  # rounds after which it is seen


@settings
class Feedback:
    """`kind`: all costs, those of the items with w_i ≠ 0, or ⟨c, w⟩ alone.

    They arrive `delay` rounds late. `delay_law` uniform draws the delay of a round from 0, …, 2·delay,
    geometric from a law with this mean, cut at ten times it; all seeds have the same delays.
    """

    kind: Kind = "full"
    delay: Annotated[Integer, Field(ge=0)] = 0
    delay_law: Literal["constant", "uniform", "geometric"] = "constant"

    @property
    def is_plain(self) -> bool:
        """True if all costs are seen immediately, as in the paper."""
        return self.kind == "full" and not self.delay

    @property
    def longest(self) -> int:
        """The longest delay."""
        return self.delay * {"constant": 1, "uniform": 2, "geometric": 10}[self.delay_law]

    def arrivals(self, t: int) -> list[int]:
        """The rounds s ≤ t, from 1, whose costs arrive after round t has been played."""
        first = max(1, t - self.longest)
        if self.delay_law == "constant" or not self.delay:
            return [t - self.delay] if t > self.delay else []
        return [s for s in range(first, t + 1) if s + self._delay_of(s) == t]

    def _delay_of(self, s: int) -> int:
        u = _uniform(s)
        if self.delay_law == "uniform":
            return int(u * (2 * self.delay + 1))
        late = int(np.log1p(-u) / np.log(self.delay / (1 + self.delay)))
        return min(late, self.longest)

    def show(self, X: Array, costs: Array, w: Array, memo: Array, t: int) -> Seen:
        """The feedback of a round with these costs in which w was played."""
        xp, paid = array_namespace(X), dot(costs, w)
        hidden = xp.full_like(costs, xp.nan)
        if self.kind != "full":
            costs = xp.where(w != 0, costs, hidden) if self.kind == "semi_bandit" else hidden
        return Seen(X, costs, paid, w, memo, t, self.kind)


FULL = Feedback()


@lru_cache(maxsize=4096)
def _uniform(s: int) -> float:
    """The draw behind the delay of round s, the same for all seeds."""
    return float(draw((0,), "feedback/delay", Draw("uniform"), s - 1, s)[0, 0])
