"""The table of which algorithm takes which set is true of every pair, by running it."""

import numpy as np
import pandas as pd
import pytest
from sets import DATA, choices, job_config, takes, write_files
from support.samples import some_of

from odfl_cli.core.errors import UserError
from odfl_cli.runs.build import build
from odfl_cli.runs.simulate import simulate

TABLE = pd.read_csv(DATA / "sets.csv")
PAIRS = list(TABLE.itertuples(index=False, name=None))


def test_the_table_has_every_pair():
    assert {pair[:2] for pair in PAIRS} == {
        (algo, polytope) for algo in choices("algo") for polytope in choices("polytope")
    }


@pytest.mark.parametrize(("algo", "polytope", "taken"), some_of(PAIRS, 3))
def test_what_the_table_says_of_a_pair(algo, polytope, taken, tmp_path_factory):
    folder = tmp_path_factory.getbasetemp() / "sets"
    folder.mkdir(exist_ok=True)
    write_files(folder)
    assert takes(algo, polytope, folder) == taken
    config = job_config(algo, polytope, folder)
    if not taken:
        with pytest.raises(UserError, match="choose"):
            build(config)
        return
    table = simulate(build(config)).table
    assert np.isfinite(table["cost"]).all()
    assert (table["cost"] >= table["best_cost"] - 1e-9).all()
