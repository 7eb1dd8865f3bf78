"""Cores are divided among jobs, and a job takes what it is allotted."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odfl_cli.core import cores
from odfl_cli.core.errors import UserError


def with_cores(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(cores.os, "sched_getaffinity", lambda _: set(range(count)), raising=False)


@given(count=st.integers(1, 256), workers=st.integers(-300, 300))
def test_jobs_never_ask_for_more_threads_than_cores(count: int, workers: int) -> None:
    """Unless the user asks for more jobs than cores, which get one thread each."""
    with pytest.MonkeyPatch.context() as patch:
        with_cores(patch, count)
        threads = cores.threads_per_job(workers)
        jobs = max(1, workers if workers >= 0 else count + 1 + workers)  # joblib's own reading
        assert threads >= 1
        assert threads == 1 or jobs * threads <= count
        assert jobs * (threads + 1) > count  # no core is left that could have been given to all


@given(count=st.integers(1, 256), threads=st.integers(1, 300))
def test_jobs_at_once_fill_the_cores(count: int, threads: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        with_cores(patch, count)
        jobs = cores.jobs_at_once(threads)
        assert jobs == 1 or jobs * threads <= count
        assert (jobs + 1) * threads > count


def test_a_job_takes_what_it_is_allotted(monkeypatch: pytest.MonkeyPatch) -> None:
    with_cores(monkeypatch, 6)
    monkeypatch.delenv(cores.VARIABLE, raising=False)
    assert cores.allotted_threads() == 6
    monkeypatch.setenv(cores.VARIABLE, "2")
    assert cores.allotted_threads() == 2


@pytest.mark.parametrize("value", ["0", "-1", "many", "1.5"])
def test_what_is_no_number_of_threads_is_refused(monkeypatch, value: str) -> None:
    monkeypatch.setenv(cores.VARIABLE, value)
    with pytest.raises(UserError, match=f"ODFL_THREADS={value}: should be a number of threads"):
        cores.allotted_threads()


@given(count=st.integers(0, 20), threads=st.integers(1, 4))
def test_calls_on_threads_return_in_order_in_the_callers_context(count: int, threads: int) -> None:
    with np.errstate(over="raise"):
        seen = cores.on_threads(lambda number: (number, np.geterr()["over"]), count, threads)
    assert seen == [(number, "raise") for number in range(count)]


def test_a_limit_holds_within_its_block_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    with_cores(monkeypatch, 6)
    with cores.at_most(2):
        assert cores.allotted_threads() == 2
        with cores.at_most(None):
            assert cores.allotted_threads() == 2
    assert cores.allotted_threads() == 6
