"""A sample of the cases of `make fuzz`, the same in every run."""

from itertools import islice
from pathlib import Path

import pytest

from fuzz.cases import Case, file_cases, key_cases, rounds_cases
from fuzz.judge import judge

SHARES = ((key_cases, 60), (file_cases, 200), (rounds_cases, 40))


def sample() -> list[Case]:
    """Evenly spread over the cases of each kind."""
    chosen = []
    for cases, count in SHARES:
        everything = list(cases())
        chosen += islice(everything, 0, None, max(1, len(everything) // count))
    return chosen


@pytest.mark.parametrize("case", sample(), ids=lambda case: "-".join(map(ascii, case))[:60])
def test_no_case_breaks_a_promise(case: Case, tmp_path: Path) -> None:
    assert judge(case, tmp_path) == []
