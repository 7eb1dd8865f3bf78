"""Packages import their parts on first use."""

import subprocess
import sys

import pytest

import odfl_cli.algorithms

LOADED = """
import sys
from odfl_cli.algorithms import DFOGD
print(DFOGD.__name__, *(name for name in sys.modules if name.startswith("odfl_cli.algorithms.")))
"""


def test_a_name_brings_its_own_module_and_no_sibling():
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True)
    name, *modules = done.stdout.split()
    assert name == "DFOGD", done.stderr
    assert "odfl_cli.algorithms.df_ogd" in modules
    assert "odfl_cli.algorithms.hedge" not in modules


def test_a_name_that_is_not_exported_is_refused():
    with pytest.raises(AttributeError, match="no attribute 'Nope'"):
        odfl_cli.algorithms.Nope  # noqa: B018
