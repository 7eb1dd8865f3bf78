"""What tests of kernels share."""

from pathlib import Path

import pytest
from support.kernels import load


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with the small kernel in it."""
    cache = tmp_path_factory.mktemp("good")
    with pytest.MonkeyPatch.context() as monkeypatch:
        load(cache, monkeypatch)
    return cache
