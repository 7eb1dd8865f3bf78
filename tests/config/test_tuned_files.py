"""Constants that were chosen, and the searches in the folders `tune` that they come from."""

import re
from pathlib import Path

import feedback_tune
import pandas as pd
import pytest
import yaml

from odfl_cli.config.directory import choices_of, conf_directory, variants
from odfl_cli.core.reading import flatten

FACTS = {
    "last_week_stocks": "A week has five trading days",
    "last_week_emissions": "A week has 56 rounds",
    "rolling_mean_emissions": "A day has eight rounds",
    "yesterday_emissions": "A day has eight rounds",
    "forecast_emissions": "The published forecast",
    "forecast_prices": "The mean of the last seven days",
    "always_prices": "Printed by python -m reproduce.grid_prices",
    "df_ftpl_emissions": "Not a constant",
}
"""Not chosen by a search."""
OWN = Path(feedback_tune.__file__).with_name("conf")
TUNED = sorted(path for conf in (conf_directory(), OWN) for path in conf.glob("tuned/*/*.yaml"))


@pytest.mark.parametrize("path", TUNED, ids=lambda path: path.stem)
def test_every_tuned_constant_is_in_the_grid_of_the_search_that_its_file_names(path: Path) -> None:
    text = path.read_text()
    if path.stem in FACTS:
        assert FACTS[path.stem] in text
        return
    algorithms = [*choices_of("algo", [conf_directory()]), *variants()]
    algo = max((name for name in algorithms if path.stem.startswith(f"{name}_")), key=len)
    search = re.findall(r"^#.*tune=(\w+)", text, re.MULTILINE)[0]
    searched = (path.parents[2] / "tune" / f"{search}.yaml").read_text()
    grid = flatten(yaml.safe_load(searched)["grids"][algo])
    for key, value in flatten(yaml.safe_load(text)).items():
        assert value in grid[key], f"{key}={value}"
        if isinstance(value, float):
            inside = min(grid[key]) < value < max(grid[key])
            assert inside or "at the edge" in searched, f"{key}={value}"


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
