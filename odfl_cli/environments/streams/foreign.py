"""Seven problems by other authors. The constants of adaptive steps were chosen on their groups 5 to 9.

Three are drawn by PyEPO's generators, four are tables inside packages. Seeds 0 to 4 are for reports;
5 to 9 have other draws, or other rows of the table, for choosing settings.
"""

from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd

from odfl_cli.environments.replay.batches import Batch
from odfl_cli.environments.streams.source import Source, package_files

GROUPS = 10
REPORTED = 5
INSTALL = "pip install -e '.[examples]' in odfl's clone"
Rows = tuple[np.ndarray, np.ndarray]  # features [N, d, p] and costs [N, d]


def share_features(x: np.ndarray, costs: np.ndarray) -> Rows:
    """The features x [N, p] of a round for every item, with a last one that is always 1."""
    x = np.column_stack([x, np.ones(len(x))])
    return np.repeat(x[:, None, :], costs.shape[1], axis=1), costs


def name_costs(labels: np.ndarray) -> np.ndarray:
    """Costs [N, labels]: 0 for the right label, 1 for any other."""
    return 1.0 - (labels[:, None] == np.unique(labels)).astype(float)


def generate(module: str, sign: float, sizes: dict, group: int) -> Rows:
    """A thousand rounds by a generator of PyEPO, polynomial of degree 4 in five features."""
    seed = group if group < REPORTED else 1000 + group
    *_, x, c = import_module(module).genData(1000, 5, deg=4, seed=seed, **sizes)
    return share_features(x, sign * c.astype(float))


def choose_rows(X: np.ndarray, costs: np.ndarray, count: int, group: int) -> Rows:
    """`count` rows in random order, in several passes: odd rows for reports, even ones for choices."""
    rows, rng = np.arange(len(X))[int(group < REPORTED) :: 2], np.random.default_rng(group)
    passes = [rng.permutation(rows) for _ in range(-(-count // len(rows)))]
    chosen = np.concatenate(passes)[:count]
    return X[chosen], costs[chosen]


def diabetes(_: Path, group: int) -> Rows:
    """Five patients per round; the cost is the progression of the chosen one's disease."""
    X, y = import_module("sklearn.datasets").load_diabetes(return_X_y=True)
    X, y = choose_rows(X, y, 5 * 500, group)
    return X.reshape(500, 5, -1), y.reshape(500, 5)


def read_segments(path: Path) -> Rows:
    """Image patches to assign to one of seven kinds of surface."""
    table = pd.read_csv(path)
    return share_features(
        table.drop(columns="category").to_numpy(float), name_costs(table["category"].to_numpy())
    )


def read_modes(path: Path) -> Rows:
    """Travellers to assign to one of four modes: times, costs, and indicators of three modes."""
    table = pd.read_csv(path, sep=";")
    X = table[["ttme", "invc", "invt", "gc"]].to_numpy(float).reshape(-1, 4, 4)
    means = np.broadcast_to(np.eye(4)[:, :3], (len(X), 4, 3))
    costs = 1.0 - table["choice"].to_numpy(float).reshape(-1, 4)
    return np.concatenate([X, means], axis=-1), costs


def read_weather(path: Path) -> Rows:
    """Days in Seattle: predict one of five kinds of weather tomorrow from measurements today."""
    table = pd.read_csv(path)
    x = table[["precipitation", "temp_max", "temp_min", "wind"]].to_numpy(float)
    return share_features(x[:-1], name_costs(table["weather"].to_numpy()[1:]))


def source(
    package: str, file: str, rows: Callable[[Path, int], Rows], features: tuple[str, ...]
) -> Source:
    """A source whose groups are made by `rows` from a file inside a package."""

    def batches(paths: tuple[Path, ...]) -> Iterator[Batch]:
        for group in range(GROUPS):
            X, costs = rows(paths[0], group)
            yield Batch(str(group), np.concatenate([X, costs[..., None]], axis=-1))

    return Source(partial(package_files, package, file, INSTALL), features, batches)


def table(
    package: str, file: str, read: Callable[[Path], Rows], rounds: int, features: tuple[str, ...]
) -> Source:
    """A source with `rounds` rows of a table in every group."""
    rows = lambda path, group: choose_rows(*read(path), rounds, group)  # noqa: E731
    return source(package, file, rows, features)


def pyepo_source(problem: str, sign: float, **sizes: object) -> Source:
    """A source drawn by a generator of PyEPO."""
    rows = partial(generate, f"pyepo.data.{problem}", sign, sizes)
    names = (*(f"x{i}" for i in range(5)), "intercept")
    return source("pyepo", f"data/{problem}.py", lambda _, group: rows(group), names)


PATIENTS = ("age", "sex", "bmi", "bp", "s1", "s2", "s3", "s4", "s5", "s6")
PATCH = (*(f"x{i}" for i in range(18)), "intercept")
DAYS = ("precipitation", "temp_max", "temp_min", "wind", "intercept")
MODES = ("ttme", "invc", "invt", "gc", "air", "train", "bus")
SOURCES = {
    "pyepo_path": pyepo_source("shortestpath", 1.0, grid=(5, 5), noise_width=0.5),
    "pyepo_knapsack": pyepo_source("knapsack", -1.0, num_items=16, noise_width=0.5),
    "pyepo_portfolio": pyepo_source("portfolio", -1.0, num_assets=20),
    "diabetes": source("sklearn", "datasets/data/diabetes_target.csv.gz", diabetes, PATIENTS),
    "segments": table("river", "datasets/segment.csv.zip", read_segments, 1000, PATCH),
    "modechoice": table(
        "statsmodels", "datasets/modechoice/modechoice.csv", read_modes, 500, MODES
    ),
    "weather": table("vega_datasets", "_data/seattle-weather.csv", read_weather, 700, DAYS),
}
