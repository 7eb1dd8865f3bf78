"""Worker processes that run tasks side by side."""

import os
import signal
import subprocess
import sys
import textwrap

import pytest
from support.processes import LIMIT

from odfl_cli.core.processes import side_by_side


def test_a_process_that_is_killed_loses_its_own_task_alone(capfd) -> None:
    def task(number: int) -> float:
        if number == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        if number == 2:
            raise ValueError("of this task")
        return 10.0 * number

    assert sorted(side_by_side(5, 2, task)) == [(0, 0.0), (3, 30.0), (4, 40.0)]
    assert "of this task" in capfd.readouterr().err


@pytest.mark.thorough
def test_copies_of_a_process_that_used_threads_of_torch_can_use_torch() -> None:
    script = """
        import torch
        from odfl_cli.core.processes import side_by_side

        def product(number):
            ones = torch.ones(64, 32, 32, dtype=torch.float64)
            return float(torch.bmm(ones, ones)[0, 0, 0]) + number

        torch.set_num_threads(2)
        product(0)
        print(sorted(side_by_side(2, 2, product)))
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.stdout == "[(0, 32.0), (1, 33.0)]\n", done.stderr
