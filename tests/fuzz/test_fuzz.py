"""A sample of the cases of `make fuzz`, the same in every run."""

import random
from pathlib import Path
from typing import Any

import pytest
from support.samples import marked

from fuzz.cases import (
    Case,
    column_cases,
    file_cases,
    group_cases,
    hydra_cases,
    key_cases,
    rounds_cases,
    state_cases,
    sweep_cases,
    target_cases,
    way_cases,
)
from fuzz.judge import judge

SHARES = (
    (key_cases, 60), (file_cases, 150), (rounds_cases, 30), (target_cases, 24), (hydra_cases, 24),
    (group_cases, 24), (column_cases, 24), (way_cases, 24),
    (sweep_cases, 24), (state_cases, 12),
)  # fmt: skip
"""A twelfth in `make test`, the others in `make test-thorough`."""


def sample() -> list[Any]:
    """Drawn from the cases of each kind, so that no verb or kind of damage is favoured."""
    drawn = [random.Random(0).sample(list(cases()), count) for cases, count in SHARES]
    first = {case for part in drawn for case in part[: len(part) // 12]}
    return marked([case for part in drawn for case in part], first.__contains__)


@pytest.mark.parametrize("case", sample(), ids=lambda case: "-".join(map(ascii, case))[:60])
def test_no_case_breaks_a_promise(case: Case, tmp_path: Path) -> None:
    assert judge(case, tmp_path) == []
