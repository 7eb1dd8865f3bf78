"""Compositions that learners share: many start with the same words."""

from collections.abc import Iterable
from functools import cache

import pytest
from omegaconf import DictConfig

from odfl_cli.config.compose import compose_job

_composed = cache(compose_job)


@pytest.fixture(autouse=True)
def shared_compositions(monkeypatch: pytest.MonkeyPatch) -> None:
    def compose_once(overrides: Iterable[str]) -> DictConfig:
        return _composed(tuple(overrides)).copy()

    monkeypatch.setattr("odfl_cli.runs.in_memory.compose_job", compose_once)
