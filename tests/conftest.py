"""Settings and fixtures that every test shares."""

from collections.abc import Iterator

import pytest
from hypothesis import settings
from support.processes import Start, starting

# Reproducible, and never a failure because a machine was slow.
settings.register_profile("odfl", deadline=None, derandomize=True, max_examples=40, database=None)
settings.load_profile("odfl")


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts a command without waiting for it; whatever still runs after the test is killed."""
    with starting() as start:
        yield start
