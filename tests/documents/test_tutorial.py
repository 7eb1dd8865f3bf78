"""The tutorial runs, and shows what it showed when it was written."""

import pytest
import tutorial


@pytest.mark.thorough
@pytest.mark.filterwarnings(
    "ignore"
)  # of the notebook's machinery; the cells run in a process of their own
def test_the_tutorial_runs_and_gives_the_stored_results() -> None:
    stored = tutorial.results(tutorial.read())
    assert len(stored) > 5
    assert tutorial.results(tutorial.execute(tutorial.read())) == stored


def test_the_tutorial_is_small_and_has_no_failure() -> None:
    assert tutorial.PATH.stat().st_size < 250_000
    outputs = [output for cell in tutorial.read().cells for output in cell.get("outputs", ())]
    assert {one.output_type for one in outputs} <= {"execute_result", "display_data", "stream"}
