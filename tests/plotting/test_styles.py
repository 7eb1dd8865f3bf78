"""Views, names and line styles of figures."""

import numpy as np
import pandas as pd
import pytest

from odfl_cli.plotting.canvas import fold_names, legend_columns
from odfl_cli.plotting.curves import off_scale, view
from odfl_cli.plotting.points import is_swept_in_ratios
from odfl_cli.plotting.style import LINE_STYLES, apply_styles, line_styles, variant
from odfl_cli.results.aggregation import Line
from odfl_cli.results.words import display_name


def line(algorithm: str, level: float, varying=None) -> Line:
    """A curve that settles at a level after a wild first round."""
    t = np.arange(1, 1001)
    mean = level + np.where(t < 10, 50.0, 0.01 * t / 1000)
    return Line(algorithm, varying or {}, pd.DataFrame({"x": t, "mean": mean, "ci95": 5.0 / t}))


def test_the_view_leaves_out_the_first_rounds_and_keeps_the_rest():
    low, high = view([line("df_ogd", 0.60), line("pf_ogd", 0.63)])
    assert 0.5 < low < 0.60
    assert 0.64 < high < 0.75


def test_a_far_reference_is_off_scale_and_a_near_one_is_not():
    near, far = line("uniform", 0.64), line("clairvoyant", 0.1)
    lines = [line("df_ogd", 0.60), line("pf_ogd", 0.63), near, far]
    assert off_scale(near, view(lines)) is None
    assert off_scale(far, view(lines)) == pytest.approx(0.11)
    assert view(lines)[0] > 0.5


def test_every_algorithm_has_a_style_of_its_own():
    unlisted = [f"new_{number}" for number in range(16)]
    styles = line_styles([*unlisted, "df_ogd"])
    drawn = [(style.colour, style.dashes) for style in styles.values()]
    assert len(set(drawn)) == len(drawn) == len(LINE_STYLES) + 16
    assert styles["df_ogd"] == LINE_STYLES["df_ogd"]


def test_a_new_algorithm_never_looks_like_another_one():
    """It differs from the listed ones in the figure and from nineteen other new ones."""
    listed = ["rls", "policy_gradient", "hedge", "ogd"]  # brown, pink and sky
    new = [f"mine_{number}" for number in range(4)]
    styles = line_styles([*listed, *new])
    for name in new:
        assert styles[name].colour not in {styles[other].colour for other in listed}
    many = line_styles([f"new_{number}" for number in range(40)])
    looks = {(style.colour, style.dashes, style.marker) for style in many.values()}
    assert len(looks) == len(many)


def test_the_style_of_a_new_algorithm_is_the_same_in_every_figure():
    alone, beside = line_styles(["mine"]), line_styles(["another", "df_ogd", "mine"])
    assert alone["mine"] == beside["mine"]


@pytest.mark.parametrize(
    ("algorithm", "name"),
    [("df_ogd", "DF-OGD"), ("df_ftpl", "DF-FTPL"), ("spo", "SPO+"), ("rolling_mean", "Rolling mean"),
     ("df_new_rule", "DF-New-Rule"), ("mine", "Mine")],
)  # fmt: skip
def test_names_follow_from_the_choice(algorithm, name):
    assert display_name(algorithm) == name


def test_curves_of_one_algorithm_share_the_line_style_and_differ_in_lightness():
    variants = [variant(LINE_STYLES["df_ogd"], place, 4) for place in range(4)]
    assert len({style.dashes for style in variants}) == 1
    brightness = [sum(style.colour) for style in variants]
    assert brightness == sorted(set(brightness))
    assert variant(LINE_STYLES["df_ogd"], 0, 1) == LINE_STYLES["df_ogd"]


def test_the_legend_reads_like_the_paper_with_references_last():
    lines = [line("uniform", 1), line("mine", 1), line("df_ogd", 1, {"data.gamma": 0.5})]
    lines.append(line("df_ogd", 1, {"data.gamma": 0.25}))
    names = [one.name for one in apply_styles(lines, line_styles([one.algorithm for one in lines]))]
    gamma = r"DF-OGD, $\gamma$ = "
    assert names == [f"{gamma}0.25", f"{gamma}0.5", "Mine", "Uniform"]


def test_long_names_get_fewer_columns():
    assert legend_columns(["DF-OGD"] * 4, 6.9) == 4
    assert legend_columns(["x" * 100] * 4, 6.9) == 1
    assert legend_columns(["DF-OGD"] * 40, 6.9) < 10


def test_axes_of_keys_swept_in_ratios():
    assert all(map(is_swept_in_ratios, ([0.1, 1, 10], [1, 2, 4, 8], [1, 3, 10, 30], [1, 100])))
    assert not any(map(is_swept_in_ratios, ([0, 0.5, 1], [1, 2, 3], [5, 10], [0, 10, 100], [7])))


def test_long_names_are_folded_to_the_width():
    (name,) = fold_names([", ".join(f"data.key_{i} = {i}" for i in range(20))], 3.4)
    assert max(map(len, name.split("\n"))) * 0.062 <= 3.4
    assert fold_names(["DF-OGD"], 3.4) == ["DF-OGD"]
