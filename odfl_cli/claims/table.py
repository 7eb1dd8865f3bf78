"""The verdicts as a table for readers and as JSON for programs."""

import json
import math
from typing import NamedTuple

from odfl_cli.claims.verdict import Estimate, Rule, Verdict
from odfl_cli.core.text import plus_minus

HEADINGS = ("claim", "where", "measured", "claimed", "n", "verdict")


class Row(NamedTuple):
    """One judged claim."""

    name: str
    text: str
    where: str
    estimate: Estimate
    rule: Rule

    @property
    def verdict(self) -> Verdict:
        """What the measurement says."""
        return self.rule.judge(self.estimate)


def as_json(rows: list[Row]) -> str:
    """A list of objects; numbers at full length, null for what could not be measured."""
    content = [
        {
            "name": row.name,
            "claim": row.text,
            "where": row.where,
            "value": _finite(row.estimate.value),
            "ci95": _finite(row.estimate.ci95),
            "count": row.estimate.size,
            "claimed": {"side": row.rule.side, "limit": row.rule.limit},
            "verdict": row.verdict,
        }
        for row in rows
    ]
    return json.dumps(content, indent=2, allow_nan=False)


def as_markdown(rows: list[Row]) -> str:
    """A table that reads well in a terminal too."""
    cells = [HEADINGS, *(_cells(row) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [f"| {' | '.join(map(str.ljust, row, widths))} |" for row in cells]
    rule = f"|{'|'.join('-' * (width + 2) for width in widths)}|"
    return "\n".join([lines[0], rule, *lines[1:]])


def _cells(row: Row) -> tuple[str, ...]:
    value, ci95, count = row.estimate
    measured = plus_minus(value, ci95, _short)
    return row.text, row.where, measured, str(row.rule), str(count), row.verdict


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _short(value: float) -> str:
    """Four decimals, or three digits of what is large or tiny; a dash for none."""
    if math.isnan(value):
        return "–"
    plain = f"{value:.4f}" if 1e-3 <= abs(value) < 1e3 or value == 0 else f"{value:.2g}"
    return plain.replace("-", "−")
