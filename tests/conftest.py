"""Settings and fixtures that every test shares."""

import gc
import os
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings
from support.processes import Start, starting

os.environ.setdefault("OMP_NUM_THREADS", "1")  # tests run side by side; read as torch is imported

# Reproducible, and never a failure because a machine was slow.
settings.register_profile("odfl", deadline=None, derandomize=True, max_examples=10, database=None)
settings.register_profile("thorough", settings.get_profile("odfl"), max_examples=40)
settings.load_profile("odfl")


def pytest_collection_finish() -> None:
    """Freezes imported objects and collects less often: composing makes many small objects, few of them in cycles."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


@pytest.fixture(autouse=True)
def environment_restored() -> Iterator[None]:
    """A command called in this process says in its environment how errors are shown."""
    before = os.environ.copy()
    yield
    if os.environ != before:  # which few tests cause; every variable is set anew
        os.environ.clear()
        os.environ.update(before)


@pytest.fixture
def unrendered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures are laid out but not rendered: for tests of what is drawn, not of pictures."""
    drawn = set()

    def draw_once(figure: Any, *_: Any, **__: Any) -> None:
        if figure not in drawn:  # the second format of the same figure
            drawn.add(figure)
            figure.draw_without_rendering()

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", draw_once)


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts a command without waiting for it; whatever still runs after the test is killed."""
    with starting() as start:
        yield start
