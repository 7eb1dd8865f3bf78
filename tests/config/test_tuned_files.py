"""Constants that were chosen, and the searches of conf/tune that they come from."""

import re
from pathlib import Path

import feedback_tune
import pandas as pd
import pytest
import yaml

from odfl_cli.config.directory import choices_of, conf_directory, variants
from odfl_cli.core.reading import flatten

FACTS = {"last_week_stocks": "A week has five trading days"}
"""Not chosen, so that there is no search."""
TUNED = sorted(conf_directory().glob("tuned/*/*.yaml"))


@pytest.mark.parametrize("path", TUNED, ids=lambda path: path.stem)
def test_every_tuned_constant_is_in_the_grid_of_the_search_that_its_file_names(path: Path) -> None:
    text = path.read_text()
    if path.stem in FACTS:
        assert FACTS[path.stem] in text
        return
    algorithms = [*choices_of("algo", [conf_directory()]), *variants()]
    algo = max((name for name in algorithms if path.stem.startswith(f"{name}_")), key=len)
    search = re.findall(r"^#.*tune=(\w+)", text, re.MULTILINE)[0]
    tune = yaml.safe_load((path.parents[2] / "tune" / f"{search}.yaml").read_text())
    grid = flatten(tune["grids"][algo])
    for key, value in flatten(yaml.safe_load(text)).items():
        assert value in grid[key], f"{key}={value}"


def test_constants_of_learners_for_feedback_are_the_winners_of_their_search() -> None:
    tried = pd.read_csv(feedback_tune.FILE)
    grids = feedback_tune.read_search()["grids"]
    rows = set(tried[["problem", "algo", "constants"]].itertuples(index=False, name=None))
    assert rows == {
        (problem, algo, constants)
        for problem in feedback_tune.PROBLEMS
        for algo, grid in grids.items()
        for constants in feedback_tune.candidates(grid)
    }
    for algo, constants in feedback_tune.winners(tried).items():
        chosen = flatten(
            {"algo": yaml.safe_load((conf_directory() / "algo" / f"{algo}.yaml").read_text())}
        )
        assert constants == " ".join(f"{key}={chosen[key]}" for key in flatten(grids[algo]))
