"""Other people's files beside an outputs folder."""

from pathlib import Path

import pytest
from support.finished_runs import write_failed


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    """A tree beside the outputs folder: other people's files and a run of odfl."""
    tree = tmp_path / "canary"
    tree.mkdir()
    for name in ("precious", "config.yaml", "hydra.yaml", "overrides.yaml", "run.log"):
        (tree / name).write_text(f"{name}: years of work\n")
    write_failed(tree / "victim")
    return tree


@pytest.fixture
def outputs(tmp_path: Path) -> Path:
    folder = tmp_path / "outputs"
    folder.mkdir()
    return folder
