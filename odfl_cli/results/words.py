"""The names of algorithms, keys, columns and values in figures and, without formulas, in text."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from odfl_cli.core.reading import FAST_LOADER
from odfl_cli.core.text import format_value

ABBREVIATIONS = ("df", "pf", "ogd", "ftpl", "rls", "ons", "vaw", "igt", "omd", "ucb")
_WORDS = yaml.load(Path(__file__).with_name("words.yaml").read_bytes(), FAST_LOADER)
ALGORITHMS: Mapping[str, Mapping[str, Any]] = _WORDS["algorithms"]
COLUMNS: Mapping[str, tuple[str, str]] = _WORDS["columns"]
KEYS: Mapping[str, tuple[str, str]] = _WORDS["keys"]
REFERENCES = ("uniform", "frozen", "clairvoyant")
"""Policies that do not learn: lower and upper limits for those that do."""

NAIVE = ("forecast", "yesterday", "last_week", "rolling_mean", "always")
"""Rules of thumb that a learner should beat on recorded rounds."""

UNICODE = {"alpha": "α", "beta": "β", "gamma": "γ", "eta": "η", "rho": "ρ", "sigma": "σ",
           "theta": "θ", "varepsilon": "ε", "Theta": "Θ", "star": "*"}  # fmt: skip
LONGEST = 24  # characters of a value
FORMULA = re.compile(r"(?<!\\)\$(.*?)(?<!\\)\$")


def display_name(algorithm: str) -> str:
    """DF-OGD for df_ogd, Rolling mean for rolling_mean."""
    first, *others = algorithm.split("_")
    known = ALGORITHMS.get(algorithm, {}).get("name")
    if known or first not in ABBREVIATIONS:
        return str(known or algorithm.replace("_", " ").capitalize())
    words = [word.upper() if word in ABBREVIATIONS else word.capitalize() for word in others]
    return "-".join([first.upper(), *words])


def label(name: str, varying: Mapping[str, Any], longest: int = LONGEST) -> str:
    """The name of a curve in a legend: DF-OGD, γ = 0.5."""
    settings = [f"{symbol(key)} = {shorten_value(v, longest)}" for key, v in varying.items()]
    return ", ".join(filter(None, [escape(name), *settings]))


def symbol(key: str) -> str:
    """The paper's symbol for a key, or the key."""
    owner, _, name = key.rpartition(" ")  # for a gap: the algorithm with this key
    return f"{escape(owner)} {KEYS[name][1] if name in KEYS else escape(name)}".strip()


def key_label(key: str) -> str:
    """A key in words, with the paper's symbol."""
    return "  ".join(KEYS[key]) if key in KEYS else escape(key)


def column_words(column: str) -> str:
    """A column in words."""
    known = COLUMNS.get(column)
    return known[0] if known else escape(re.sub("^avg_", "average ", column).replace("_", " "))


def column_label(column: str, final: bool = False) -> str:
    """A column in words, with its formula on a second line; after the last round t is T."""
    words, formula = column_words(column), COLUMNS.get(column, ("", ""))[1]
    if final:
        formula = formula.replace("t^{-1}", "T^{-1}").replace(r"\leq t", r"\leq T")
        formula = formula.replace("R_t", "R_T").replace(r"\,/\,t$", r"\,/\,T$")
        words = f"final {words}"
    return f"{words}\n{formula}".rstrip()


def shorten_value(value: object, longest: int = LONGEST) -> str:
    """A configuration value as text, short enough for a legend."""
    text = f"{value:g}" if isinstance(value, float) else format_value(value)
    return escape(text if len(text) <= longest else f"{text[: longest - 1]}…")


def escape(text: str) -> str:
    """Text with dollar signs escaped, so that matplotlib does not read it as a formula."""
    return text.replace("$", r"\$")


def to_unicode(text: str) -> str:
    """Text of a figure as plain text: γ for the formula of a gamma, without escapes."""
    plain = FORMULA.sub(lambda found: _formula_to_unicode(found[1]), text)
    return " ".join(plain.replace(r"\$", "$").split())


def _formula_to_unicode(formula: str) -> str:
    words = re.sub(r"\\([A-Za-z]+)", lambda found: UNICODE.get(found[1], found[1]), formula)
    return words.replace(r"\|", "‖").translate(str.maketrans("", "", "{}^"))
