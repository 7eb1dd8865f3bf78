"""Means, intervals, pairs and groups against scipy and closed forms."""

import numpy as np
import pytest
from scipy import stats
from support.synthetic_runs import harmonic, write_run

from odfl_cli.core.errors import UserError
from odfl_cli.plotting.request import Request
from odfl_cli.plotting.sheets import sheets
from odfl_cli.results.aggregation import curves, sweep, tabulate
from odfl_cli.results.gaps import Gap
from odfl_cli.results.grouping import Group, differing_keys, group_runs
from odfl_cli.results.tables import Run, read_runs

LEVELS = {0: 0.5, 1: 0.6, 2: 0.8, 3: 0.55}


def read(directory) -> list[Run]:
    def refuse(line: str) -> None:
        raise AssertionError(line)

    return read_runs([directory], refuse)


def group_of(directory) -> list[Group]:
    return group_runs(read(directory))


def half_width(values) -> float:
    """Half the width of scipy's interval."""
    low, high = stats.t.interval(0.95, len(values) - 1, np.mean(values), stats.sem(values))
    return (high - low) / 2


def test_curves_are_means_with_students_interval(tmp_path):
    write_run(tmp_path / "run", levels=LEVELS, rounds=50)
    (line,) = curves(group_of(tmp_path), "avg_cost")
    levels = np.array(list(LEVELS.values()))
    t = line.points["x"].to_numpy()
    assert t[0] == 1
    assert t[-1] == 50
    expected = [levels.mean() + harmonic(rounds) / rounds for rounds in t]
    np.testing.assert_allclose(line.points["mean"], expected)
    np.testing.assert_allclose(line.points["ci95"], half_width(levels))
    assert (line.points["seeds"] == 4).all()


def test_one_seed_has_no_interval(tmp_path):
    write_run(tmp_path / "run", levels={5: 0.5})
    (line,) = curves(group_of(tmp_path), "avg_mse")
    np.testing.assert_allclose(line.points["mean"], 1.0)
    assert line.points["ci95"].isna().all()


def test_runs_that_differ_in_seeds_only_are_pooled_and_no_seed_counts_twice(tmp_path):
    write_run(tmp_path / "a", levels={0: 0.5, 1: 0.6})
    write_run(tmp_path / "b", levels={1: 0.6, 2: 0.8}, thin=3)
    (group,) = group_of(tmp_path)
    assert len(group.seeds) == 3
    (line,) = curves([group], "avg_mse")
    np.testing.assert_allclose(line.points["mean"], 2 * np.mean([0.5, 0.6, 0.8]))
    assert set(np.diff(line.points["x"])) <= {21, 15}  # rounds that both logged: every 3rd and 7th


def test_a_pair_counts_common_seeds_only(tmp_path):
    write_run(tmp_path / "pf", algo="pf_ogd", levels={0: 0.9, 1: 0.7, 2: 0.85, 9: 100.0})
    write_run(tmp_path / "df", algo="df_ogd", levels={8: -100.0, 2: 0.6, 1: 0.65, 0: 0.5})
    (line,) = Gap("algo", "pf_ogd", "df_ogd").lines(group_of(tmp_path), "avg_cost")
    differences = [0.4, 0.05, 0.25]
    point = line.points.iloc[0]
    assert point["seeds"] == 3
    assert point["mean"] == pytest.approx(np.mean(differences))
    assert point["ci95"] == pytest.approx(half_width(differences))


def test_a_pair_without_common_seeds_is_refused(tmp_path):
    write_run(tmp_path / "pf", algo="pf_ogd", levels={0: 0.9})
    write_run(tmp_path / "df", algo="df_ogd", levels={1: 0.9})
    with pytest.raises(UserError, match="no seed in common"):
        Gap("algo", "pf_ogd", "df_ogd").lines(group_of(tmp_path), "avg_cost")


def test_gaps_pair_runs_with_the_same_settings(tmp_path):
    for gamma in (0.0, 0.5, 1.0):
        for algo, level in (("pf_ogd", 1.0), ("df_ogd", 1.0 - gamma**2)):
            write_run(
                tmp_path / f"{algo}{gamma}",
                algo=algo,
                levels={0: level, 1: level + 1},
                config={"data.gamma": gamma},
            )
    (line,) = Gap("algo", "pf_ogd", "df_ogd").lines(
        group_of(tmp_path), "avg_cost", key="data.gamma"
    )
    assert line.varying == {}
    assert line.points["x"].tolist() == [0.0, 0.5, 1.0]
    np.testing.assert_allclose(line.points["mean"], [0.0, 0.25, 1.0], atol=1e-12)
    rows = Gap("algo", "pf_ogd", "df_ogd").lines(group_of(tmp_path), "avg_cost")
    assert sorted(row.varying["data.gamma"] for row in rows) == [0.0, 0.5, 1.0]


def test_an_algorithms_own_sweep_is_paired_with_every_run_of_the_other(tmp_path):
    write_run(tmp_path / "pf", algo="pf_ogd", levels={0: 1.0}, config={"algo.eta": 0.1})
    for c_alpha in (1, 2):
        config = {"algo.c_alpha": c_alpha, "algo.eta": 7}
        write_run(tmp_path / f"df{c_alpha}", levels={0: 1.0 - c_alpha}, config=config)
    (line,) = Gap("algo", "pf_ogd", "df_ogd").lines(
        group_of(tmp_path), "avg_cost", key="algo.c_alpha"
    )
    assert line.points["x"].tolist() == [1, 2]
    np.testing.assert_allclose(line.points["mean"], [1.0, 2.0])


def test_a_sweep_draws_one_line_per_algorithm_and_other_difference(tmp_path):
    for algo in ("df_ogd", "pf_ogd"):
        for items in (5, 80):
            for gamma in (1, 0.5, 0):
                config = {"data.gamma": gamma, "data.items": items}
                levels = {seed: gamma + items + seed for seed in range(4)}
                write_run(tmp_path / f"{algo}{items}{gamma}", algo, levels, 10, config=config)
    lines = sweep(group_of(tmp_path), "data.gamma", "avg_mse")
    assert len(lines) == 4
    for line in lines:
        assert line.points["x"].tolist() == [0, 0.5, 1]
        expected = 2 * (line.points["x"] + line.varying["data.items"] + 1.5)
        np.testing.assert_allclose(line.points["mean"], expected)
        np.testing.assert_allclose(line.points["ci95"], half_width([0, 2, 4, 6]))


def test_words_and_null_can_be_swept(tmp_path):
    for norm in (None, 3.0, [1, 2]):
        config = {"data.theta_star_norm": norm}
        write_run(tmp_path / str(norm), levels={0: 1.0}, config=config)
    (line,) = sweep(group_of(tmp_path), "data.theta_star_norm", "avg_mse")
    assert line.points["x"].tolist() == [3.0, "[1, 2]", "null"]


def test_an_algorithms_own_keys_differ_only_within_the_algorithm(tmp_path):
    settings = {"df_ogd": {"algo.c_alpha": 1.0, "oracle.lr": 0.01}, "df_ftpl": {"oracle.lr": 0.1}}
    for algo, config in settings.items():
        write_run(tmp_path / algo, algo, config=config)
    assert differing_keys(read(tmp_path)) == []
    write_run(tmp_path / "again", "df_ogd", config={"algo.c_alpha": 3.0, "oracle.lr": 0.01})
    assert differing_keys(read(tmp_path)) == ["algo.c_alpha"]
    varying = {group.algorithm: group.varying for group in group_of(tmp_path)}
    assert varying["df_ftpl"] == {}
    assert varying["df_ogd"].keys() == {"algo.c_alpha"}


def test_a_setting_that_two_algorithms_do_not_share_counts(tmp_path):
    write_run(tmp_path / "a", "df_ogd", config={"data.gamma": 0.0})
    write_run(tmp_path / "b", "pf_ogd", config={"data.gamma": 1.0})
    assert differing_keys(read(tmp_path)) == ["data.gamma"]


def test_bookkeeping_and_interpolated_copies_are_not_told(tmp_path):
    for place, items in enumerate((5, 80)):
        bookkeeping = {
            "sweep": f"s{place}",
            "outputs": f"o{place}",
            "seeds": place,
            "horizon.rows": 5,
        }
        config = {"data.items": items, "polytope.dimension": items} | bookkeeping
        write_run(tmp_path / str(items), config=config, choices={"experiment": f"e{place}"})
    assert differing_keys(read(tmp_path)) == ["data.items"]


def test_engines_give_the_same_numbers_and_are_pooled(tmp_path):
    for seed, engine in enumerate(("torch", "compiled")):
        config = {"engine._target_": f"package.{engine}", f"engine.{engine}_threads": seed}
        write_run(tmp_path / engine, levels={seed: 0.5}, config=config, choices={"engine": engine})
    (group,) = group_of(tmp_path)
    assert len(group.seeds) == 2


def test_another_component_counts_by_the_name_of_its_choice(tmp_path):
    write_run(tmp_path / "a", config={"data.gamma": 0.0})
    config = {"data._target_": "mine.Warehouse", "data.gamma": 0.3, "data.path": "x.csv"}
    write_run(tmp_path / "b", config=config, choices={"data": "warehouse"})
    assert [group.varying for group in group_of(tmp_path)] == [
        {"data": "sin4"},
        {"data": "warehouse"},
    ]


def test_runs_of_different_length_are_told_apart(tmp_path):
    write_run(tmp_path / "short", rounds=20)
    write_run(tmp_path / "long", rounds=90)
    lines = curves(group_of(tmp_path), "avg_cost")
    assert {line.varying["horizon.rounds"]: line.points["x"].max() for line in lines} == {
        20: 20,
        90: 90,
    }


def test_tables_have_a_row_per_point(tmp_path):
    write_run(tmp_path / "a", config={"data.gamma": 0.0})
    write_run(tmp_path / "b", config={"data.gamma": 1.0})
    lines = curves(group_of(tmp_path), "avg_cost")
    table = tabulate(lines, x="t")
    assert list(table) == ["algorithm", "data.gamma", "t", "seeds", "mean", "ci95"]
    assert len(table) == sum(len(line.points) for line in lines)


def test_runs_without_the_key_are_left_out_aloud(tmp_path, capsys):
    for value in (1.0, 2.0):
        write_run(tmp_path / f"a{value}", "df_ogd", config={"algo.c_alpha": value})
    write_run(tmp_path / "b", "pf_ogd")
    (sheet,) = sheets(read(tmp_path), Request(x=("algo.c_alpha",)))
    assert set(sheet.numbers["algorithm"]) == {"df_ogd"}
    assert "left out runs of pf_ogd" in capsys.readouterr().err
