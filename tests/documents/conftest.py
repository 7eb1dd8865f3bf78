"""A folder with what the guides write."""

import sys
from pathlib import Path

import pytest
from support.documents import FILES, PARTS


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with all files of the guides, where Python looks for modules too."""
    for name, content in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in [Path(part).stem for part in PARTS]:
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path
