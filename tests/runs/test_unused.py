"""Settings that an algorithm does not read."""

import pytest
from support.problems import composed_job

from odfl_cli.runs.prepare import _unused


@pytest.mark.parametrize("algo", ["spo", "ogd", "rls", "rival", "hedge", "restart"])
@pytest.mark.parametrize("radius", ["1", "auto"])
def test_an_oracle_that_is_not_called_is_remarked(algo, radius):
    job = composed_job(f"algo={algo}", f"theta_radius={radius}", "oracle.failure=0.5")
    (line,) = _unused(job, ["data.items=5", "oracle.failure=0.5"])
    assert line.startswith("oracle.failure=0.5: without effect")
    assert _unused(job, ["data.items=5"]) == []


@pytest.mark.parametrize("algo", ["df_ogd", "df_ftpl", "pool", "vote", "guard", "ftpl_a"])
@pytest.mark.parametrize("radius", ["1", "auto"])
def test_an_oracle_that_is_called_is_not(algo, radius):
    job = composed_job(f"algo={algo}", f"theta_radius={radius}", "oracle.failure=0.5")
    assert _unused(job, ["oracle.failure=0.5"]) == []
