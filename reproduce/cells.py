"""Measured values as text: means with intervals, differences, Markdown tables."""

import csv
import html
import io
import math

import numpy as np
import pandas as pd

from odfl_cli.core import text
from odfl_cli.core.statistics import mean_ci95, paired_differences

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>
body {{ font: 14px/1.5 system-ui, sans-serif; margin: 2rem; }}
table {{ border-collapse: collapse; }}
td, th {{ border-bottom: 1px solid #ccc; padding: .3rem .6rem; text-align: left; vertical-align: top; }}
th {{ position: sticky; top: 0; background: #fff; }}
</style></head><body><h1>{title}</h1>
<table><thead>{head}</thead><tbody>
{body}
</tbody></table></body></html>
"""


def gap(first: pd.Series, second: pd.Series) -> tuple[str, str]:
    """The mean of first − second, paired by seed, and the verdict of its interval."""
    differences = np.array(list(paired_differences(first, second).values()))
    mean, ci95 = (float(value) for value in mean_ci95(differences))
    sign = "positive" if mean > 0 else "negative"
    return plus_minus(mean, ci95), sign if abs(mean) > ci95 else "not distinguishable from 0"


def estimate(values: pd.Series) -> str:
    """The mean of one value per seed and its 95% interval; a dash if nothing was measured."""
    mean, ci95 = mean_ci95(values.to_numpy(float))
    return plus_minus(float(mean), float(ci95))


def plus_minus(mean: float, ci95: float = math.nan) -> str:
    """A mean with two digits of its interval, or with four digits if there is none."""
    if math.isnan(mean):
        return "–"
    return text.plus_minus(mean, ci95 or math.nan, text.two_digits(ci95))


def table(rows: list[list[str]]) -> str:
    """A Markdown table; the first row is its head."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])


def rows_of(markdown: str) -> list[list[str]]:
    """The rows of a table, the head first, without the markup of emphasis and code."""
    lines = [line.replace("`", "") for line in markdown.splitlines() if line.startswith("|")]
    rows = [[cell.strip().strip("*") for cell in line[1:-1].split(" | ")] for line in lines]
    return [rows[0], *rows[2:]]


def as_csv(rows: list[list[str]]) -> str:
    """Rows of text as a CSV file."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def as_html(rows: list[list[str]], title: str) -> str:
    """Rows of text as a self-contained page."""
    cell = lambda text, tag: f"<{tag}>{html.escape(text)}</{tag}>"  # noqa: E731
    head, *body = (
        "<tr>" + "".join(cell(text, "td" if place else "th") for text in row) + "</tr>"
        for place, row in enumerate(rows)
    )
    return PAGE.format(title=html.escape(title), head=head, body="\n".join(body))
