"""A sample of the cases of `make fuzz`, the same in every run."""

import random
from pathlib import Path

import pytest

from fuzz.cases import Case, file_cases, key_cases, rounds_cases
from fuzz.judge import judge

SHARES = ((key_cases, 60), (file_cases, 200), (rounds_cases, 40))


def sample() -> list[Case]:
    """Drawn from the cases of each kind, so that no verb or kind of damage is favoured."""
    return [
        case for cases, count in SHARES for case in random.Random(0).sample(list(cases()), count)
    ]


@pytest.mark.parametrize("case", sample(), ids=lambda case: "-".join(map(ascii, case))[:60])
def test_no_case_breaks_a_promise(case: Case, tmp_path: Path) -> None:
    assert judge(case, tmp_path) == []
