"""Names for the page: as in the figures, in plain text instead of formulas."""

import re
from collections.abc import Mapping
from typing import Any

from odfl_cli.core.text import format_value
from odfl_cli.plotting.words import COLUMNS, KEYS
from odfl_cli.results.names import display_name

GREEK = {"alpha": "α", "beta": "β", "gamma": "γ", "eta": "η", "rho": "ρ", "sigma": "σ",
         "theta": "θ", "varepsilon": "ε", "Theta": "Θ", "star": "*"}  # fmt: skip
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
LONGEST = 200


def clean(text: object) -> str:
    """Text without control characters and direction marks, at most 200 characters long."""
    shown = CONTROL.sub("�", str(text))
    return shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 1]}…"


def symbol(key: str) -> str:
    """The paper's symbol of a key, or the key."""
    formula = KEYS[key][1] if key in KEYS else clean(key)
    named = re.sub(r"\\([A-Za-z]+)", lambda found: GREEK.get(found[1], found[1]), formula)
    return named.replace(r"\|", "‖").translate(str.maketrans("", "", "${}^"))


def key_words(key: str) -> str:
    """A key in words with its symbol, or the key."""
    return f"{plain(KEYS[key][0])} {symbol(key)}" if key in KEYS else clean(key)


def plain(text: str) -> str:
    """Words without the marks of a formula."""
    return re.sub(r"\\([A-Za-z]+)", lambda found: GREEK.get(found[1], ""), text).replace("$", "")


def column_words(column: str) -> str:
    """A column in words."""
    return COLUMNS[column][0] if column in COLUMNS else clean(column.replace("_", " "))


def average_words(column: str) -> str:
    """The average of a column that accumulates, in words that differ from those of the sum."""
    words = COLUMNS.get(f"avg_{column}", ("",))[0]
    return words if words not in ("", column_words(column)) else f"average {column_words(column)}"


def algorithm_name(algorithm: str) -> str:
    """DF-OGD for df_ogd."""
    return clean(display_name(algorithm))


def settings_label(settings: Mapping[str, Any]) -> str:
    """γ = 0.5, K = 80."""
    return ", ".join(f"{symbol(key)} = {value_text(value)}" for key, value in settings.items())


def value_text(value: Any) -> str:
    """A value of the configuration."""
    return f"{value:g}" if isinstance(value, float) else clean(format_value(value))
