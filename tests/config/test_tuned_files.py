"""The constants of conf/tuned, and the searches of conf/tune that they come from."""

from pathlib import Path

import pytest
import yaml

from odfl_cli.config.directory import choices_of, conf_directory, variants
from odfl_cli.core.reading import flatten

SEARCHES = {"flights_carrier": "flights_airport", "log_barrier": "regularizers", "quadratic": "regularizers",
            "knapsack_polynomial": "knapsack", "shortest_path_polynomial": "shortest_path"}  # fmt: skip
CHOSEN = [
    path
    for path in sorted(conf_directory().glob("tuned/*/*.yaml"))
    if "# Chosen on" in path.read_text()
]


@pytest.mark.parametrize("path", CHOSEN, ids=lambda path: path.stem)
def test_every_chosen_constant_is_in_the_grid_of_its_search(path: Path) -> None:
    algorithms = [*choices_of("algo", [conf_directory()]), *variants()]
    algo = max((name for name in algorithms if path.stem.startswith(f"{name}_")), key=len)
    problem = path.stem.removeprefix(f"{algo}_")
    search = conf_directory() / "tune" / f"{SEARCHES.get(problem, problem)}.yaml"
    grid = flatten(yaml.safe_load(search.read_text())["grids"][algo])
    for key, value in flatten(yaml.safe_load(path.read_text())).items():
        assert value in grid[key], f"{key}={value}"
