"""The HTML file: a template, escaped text, and scripts and styles allowed by their hashes."""

import base64
import hashlib
from html import escape
from importlib.resources import files
from string import Template

from odfl_cli import __version__
from odfl_cli.report.content import Document
from odfl_cli.report.numbers import pack_json

MARK = '<meta name="generator" content="odfl '
"""Every page has this tag, by which an existing file is recognised."""
SCRIPTS = (
    "format.js", "data.js", "state.js", "axes.js", "chart.js", "download.js", "leaderboard.js",
    "curves.js", "decisions.js", "theory.js", "sweeps.js", "runs.js", "main.js",
)  # fmt: skip
FEW_VERDICTS = 8


def page(document: Document) -> str:
    """The content of the HTML file."""
    scripts, style = [_asset(name) for name in SCRIPTS], _asset("style.css")
    policy = (  # only these scripts and this style; no request, no form, no other base
        f"default-src 'none'; script-src {' '.join(map(_hash, scripts))}; "
        f"style-src {_hash(style)}; base-uri 'none'; form-action 'none'"
    )
    return Template(_asset("page.html")).substitute(
        policy=policy,
        mark=f'{MARK}{escape(__version__)}">',
        title=escape(document.title),
        style=style,
        verdict=_verdict(document)
        + _list("Verdicts of until=decided", document.decided)
        + _list("Constants chosen by tune=", document.chosen),
        content=pack_json(document.content),
        numbers=document.arrays.pack(),
        scripts="\n".join(f"<script>{script}</script>" for script in scripts),
    )


def _list(heading: str, sentences: list[str]) -> str:
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    return f"\n<h3>{heading}</h3>\n<ul>{items}</ul>" if items else ""


def _verdict(document: Document) -> str:
    """The verdict in plain HTML, readable without scripts."""
    comparisons = [
        f"<h3>{escape(name)}</h3>\n<p>{escape(' '.join(sentences))}</p>"
        for name, sentences in document.verdicts
    ]
    if not comparisons:
        return "<p>No run has results that can be read.</p>"
    if len(comparisons) == 1:
        return f'<p class="lead">{escape(" ".join(document.verdicts[0][1]))}</p>'
    opened = " open" if len(comparisons) <= FEW_VERDICTS else ""
    return (
        f'<p class="lead">{escape(document.headline)}</p>\n'
        f"<details{opened}><summary>Each comparison</summary>{''.join(comparisons)}</details>"
    )


def _asset(name: str) -> str:
    return (files("odfl_cli.report") / "assets" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def is_report(content: bytes) -> bool:
    """True if the content is a report of odfl; the policy before the mark is long."""
    return MARK.encode() in content[:4096]
