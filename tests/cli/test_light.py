"""What a verb does not need, it does not import: help and reading start at once."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.synthetic_runs import write_run

SCRIPT = """
import sys, json
from contextlib import redirect_stdout, suppress
from io import StringIO
from odfl_cli.cli import main
words, heavy = map(json.loads, sys.argv[1:])
for line in words:
    with redirect_stdout(StringIO()) as told, suppress(SystemExit):
        main(line)
    if "--help" in line and line[0] != "--help":
        assert "examples:" in told.getvalue() and f"odfl {line[0]} " in told.getvalue(), line
    found = set(heavy) & set(sys.modules)
    assert not found, f"{line} imported {found}"
"""
HEAVY = ["torch", "hydra", "numba", "pandas", "seaborn", "matplotlib", "omegaconf"]
VERBS = ("list", "show", "best", "export", "plot", "report", "completion")


@pytest.mark.parametrize(
    ("lines", "heavy"),
    [
        ([["--help"]], [*HEAVY, "numpy", "pydantic"]),
        ([*([verb, "--help"] for verb in VERBS), ["list", "."], ["best", "."]], HEAVY),
        pytest.param(
            [["plot", ".", "--y", "avg_cost", "--out", "x.png"]],
            ["torch", "hydra", "numba", "seaborn"],
            marks=pytest.mark.thorough,
        ),
    ],
    ids=["help", "reading", "drawing"],
)  # fmt: skip
def test_nothing_heavy_is_imported(
    tmp_path: Path, lines: list[list[str]], heavy: list[str]
) -> None:
    write_run(tmp_path / "a")
    command = [sys.executable, "-c", SCRIPT, json.dumps(lines), json.dumps(heavy)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
