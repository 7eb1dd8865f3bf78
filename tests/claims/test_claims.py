"""The paper's experiments, measured. Seeds are the defaults, 0, 1, …; nothing was chosen on them."""

from functools import cache

import numpy as np
import pytest
from support.problems import composed_job

from odfl_cli.core.statistics import mean_ci95
from odfl_cli.runs.simulate import Simulation, simulate


def final(column: str, *overrides: str) -> np.ndarray:
    """The last value of a column for every seed."""
    return simulate_job(*overrides).table[column][:, -1]


@cache
def simulate_job(*overrides: str) -> Simulation:
    return simulate(composed_job(*overrides))


@pytest.mark.thorough
@pytest.mark.parametrize("algorithm", ["df_ogd", "df_ftpl"])
def test_eighty_items_decision_focused_wins_with_a_worse_prediction(algorithm: str) -> None:
    setting = ("experiment=high_dimension", "seeds=5")
    assert final("avg_cost", f"algo={algorithm}", *setting).mean() <= 0.46
    baseline = final("avg_mse", "algo=pf_ogd", *setting)
    assert (final("avg_mse", f"algo={algorithm}", *setting) > baseline).all()


@pytest.mark.thorough
@pytest.mark.parametrize("algorithm", ["pf_ogd", "spo", "spo_printed"])
def test_eighty_items_baselines_stay_behind(algorithm: str) -> None:
    cost = final("avg_cost", f"algo={algorithm}", "experiment=high_dimension", "seeds=5")
    assert cost.mean() >= 0.55


def gap(*setting: str) -> np.ndarray:
    """PF-OGD − DF-OGD, paired by seed."""
    return final("avg_cost", "algo=pf_ogd", *setting) - final("avg_cost", "algo=df_ogd", *setting)


@pytest.mark.slow
def test_five_items_both_decision_focused_algorithms_are_ahead() -> None:
    setting = ("experiment=main", "seeds=500")
    baseline = final("avg_cost", "algo=pf_ogd", *setting)
    for algorithm in ("df_ogd", "df_ftpl"):
        mean, ci95 = mean_ci95(baseline - final("avg_cost", f"algo={algorithm}", *setting))
        assert mean - ci95 > 0, (algorithm, mean, ci95)


def misspecified_gap(gamma: float, seeds: int) -> np.ndarray:
    return gap("experiment=misspecification", f"data.gamma={gamma}", f"seeds={seeds}")


@pytest.mark.thorough
def test_misspecification_prediction_focused_is_ahead_at_three_quarters() -> None:
    mean, ci95 = mean_ci95(misspecified_gap(0.75, seeds=100))
    assert mean + ci95 < 0, (mean, ci95)


@pytest.mark.slow
def test_misspecification_the_gap_rises_towards_one() -> None:
    mean, ci95 = mean_ci95(misspecified_gap(1, 300) - misspecified_gap(0.75, 300))
    assert mean - ci95 > 0, (mean, ci95)
