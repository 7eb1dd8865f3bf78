"""The verdicts as a table for readers and as JSON for programs."""

import json
import math
from typing import Any

from odfl_cli.core.text import markdown, plus_minus
from reproduce.claims.claim import Estimate, Row

HEADINGS = ("claim", "where", "measured", "realised", "claimed", "controls", "n", "verdict")


def as_json(rows: list[Row]) -> str:
    """A list of objects; numbers at full length, null if not measurable."""
    return json.dumps([_object(row) for row in rows], indent=2, allow_nan=False)


def as_markdown(rows: list[Row]) -> str:
    """A Markdown table with aligned columns."""
    cells = [HEADINGS, *map(_cells, rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return markdown([list(map(str.ljust, row, widths)) for row in cells])


def _object(row: Row) -> dict[str, Any]:
    claim = row.claim
    return {
        "name": claim.name,
        "claim": claim.text,
        "where": claim.where,
        **_numbers(row.estimate),
        "count": row.estimate.size,
        "p_value": _finite(row.p_value),
        "realised": _numbers(row.realised) if row.realised else None,
        "claimed": {"side": claim.rule.side, "limit": claim.rule.limit},
        "controls": {
            name: {**_numbers(estimate), "verdict": claim.rule.judge(estimate)}
            for name, estimate in row.controls.items()
        },
        "verdict": row.verdict,
    }


def _numbers(estimate: Estimate) -> dict[str, float | None]:
    return {"value": _finite(estimate.value), "ci95": _finite(estimate.ci95)}


def _cells(row: Row) -> tuple[str, ...]:
    controls = "; ".join(f"{name} {_format_estimate(one)}" for name, one in row.controls.items())
    realised = _format_estimate(row.realised) if row.realised else ""
    measured = _format_estimate(row.estimate), realised, str(row.claim.rule), controls
    return row.claim.text, row.claim.where, *measured, str(row.estimate.size), row.verdict


def _format_estimate(estimate: Estimate) -> str:
    return plus_minus(estimate.value, estimate.ci95, _short)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _short(value: float) -> str:
    """Four decimals, or three digits for large and tiny numbers; a dash for none."""
    if math.isnan(value):
        return "–"
    plain = f"{value:.4f}" if 1e-3 <= abs(value) < 1e3 or value == 0 else f"{value:.2g}"
    return plain.replace("-", "−")
