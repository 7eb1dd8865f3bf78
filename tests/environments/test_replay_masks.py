"""Rounds that do not offer every item."""

from pathlib import Path

import numpy as np
import pytest

from odfl_cli.core.errors import UserError
from odfl_cli.environments.base import Rounds
from odfl_cli.environments.replay.environment import Replay
from odfl_cli.environments.replay.tables import Columns

MASKED = """day,item,x,y,cost
1,a,1,2,5
1,c,3,4,6
2,b,5,6,7
2,a,7,8,
2,c,9,10,8
3,a,11,12,9
3,b,13,14,10
3,c,15,16,11
"""


def masked(tmp_path: Path, **settings) -> Replay:
    file = tmp_path / "masked.csv"
    file.write_text(MASKED)
    return Replay(file=str(file), columns=Columns(round="day"), on_missing="mask", **settings)


def test_items_that_are_absent_or_incomplete_are_not_offered(tmp_path):
    """Items in the order in which they appear: a, c, b."""
    environment = masked(tmp_path, intercept=True)
    X, costs = environment.rounds((0,), 0, 3)
    assert not environment.offers_all
    assert environment.feature_names == ("x", "y", "intercept")
    np.testing.assert_array_equal(costs[0], [[5, 6, 0], [0, 8, 7], [9, 11, 10]])
    nothing = np.isnan(X[0]).all(-1)
    np.testing.assert_array_equal(nothing, [[0, 0, 1], [1, 0, 0], [0, 0, 0]])
    np.testing.assert_array_equal(X[0, 1, 1:], [[9, 10, 1], [5, 6, 1]])


def test_an_npz_file_marks_with_nan_what_is_not_offered(tmp_path):
    X, costs = masked(tmp_path).rounds((0,), 0, 3)
    c = np.where(np.isnan(X[0, ..., 0]), np.nan, costs[0])
    np.savez(tmp_path / "masked.npz", X=X[0], c=c)
    again = Replay(file=str(tmp_path / "masked.npz"), on_missing="mask").rounds((0,), 0, 3)
    np.testing.assert_array_equal(again.X, X)
    np.testing.assert_array_equal(again.costs, costs)


def test_what_is_not_offered_scales_no_feature(tmp_path):
    """The mean and deviation of x in round 3, by hand, are those of 1, 3, 9, 5."""
    X = masked(tmp_path, standardise=True).rounds((0,), 0, 3).X[0, ..., 0]
    seen = np.array([1.0, 3.0, 9.0, 5.0])
    np.testing.assert_allclose(X[2], (np.array([11, 15, 13]) - seen.mean()) / seen.std())
    np.testing.assert_allclose(X[1], [np.nan, 7.0, 3.0])  # 1 and 3: mean 2, deviation 1
    np.testing.assert_array_equal(X[0], [0.0, 0.0, np.nan])


def test_a_mask_changes_nothing_where_everything_is_offered(exported):
    one, other = (
        Replay(file=str(exported / "rounds.csv"), group="seed", standardise=True, on_missing=kind)
        for kind in ("refuse", "mask")
    )
    assert other.offers_all
    for name in Rounds._fields:
        before, after = (getattr(e.rounds((0, 1), 0, 40), name) for e in (one, other))
        np.testing.assert_array_equal(after, before)


def test_a_mask_needs_names_of_items(tmp_path):
    file = tmp_path / "masked.csv"
    file.write_text(MASKED)
    unnamed = Columns(round="day", item=None)
    with pytest.raises(UserError, match=r"data.on_missing=mask: data.columns.item has to name"):
        Replay(file=str(file), columns=unnamed, on_missing="mask")
