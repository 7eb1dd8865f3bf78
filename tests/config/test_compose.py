"""Launchers and sweepers that have to be installed first."""

import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from support.commands import REPOSITORY, odfl
from support.problems import composed

from odfl_cli.config.command_line import CommandLine
from odfl_cli.config.compose import EXTRAS, is_sweep, require_extras
from odfl_cli.config.generated import generate
from odfl_cli.core.errors import UserError


@pytest.mark.parametrize("choice", EXTRAS)
def test_a_missing_one_is_named_with_its_extra(
    choice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    package, extra = EXTRAS[choice]
    monkeypatch.setitem(sys.modules, package, None)  # which Python takes for not installed
    with pytest.raises(UserError) as refused:
        require_extras(composed(choice, hydra=True))
    assert (
        str(refused.value)
        == f"{choice}: not installed; pip install -e '.[{extra}]' in odfl's clone brings it"
    )


def test_a_sweep_with_a_missing_one_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    choice = "hydra/launcher=joblib"
    package, extra = EXTRAS[choice]
    monkeypatch.setitem(sys.modules, package, None)
    done = odfl("run", "-m", "algo=uniform,pf_ogd", "horizon=smoke", choice, cwd=tmp_path)
    assert done.returncode == 2
    assert (
        done.stderr
        == f"odfl: {choice}: not installed; pip install -e '.[{extra}]' in odfl's clone brings it\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_every_extra_it_names_exists() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    assert {extra for _, extra in EXTRAS.values()} <= project["optional-dependencies"].keys()


def test_every_preset_is_known_and_composes() -> None:
    presets = [
        f"hydra/{path.parent.name}={path.stem}"
        for group in ("launcher", "sweeper")
        for path in (REPOSITORY / "conf" / "hydra" / group).glob("*.yaml")
    ]
    assert sorted(presets) == sorted([*EXTRAS, "hydra/launcher=odfl", "hydra/sweeper=odfl"])
    for preset in presets:
        group, choice = preset.removeprefix("hydra/").split("=")
        hydra = composed(preset, hydra=True).hydra
        assert hydra.runtime.choices[f"hydra/{group}"] == choice
        assert hydra[group]._target_.startswith("hydra_plugins.")
        if group == "launcher" and choice != "odfl":  # which divides the cores as it goes
            assert int(hydra.job.env_set.ODFL_THREADS) >= 1


def test_derived_configurations_are_made_by_name_and_no_others() -> None:
    experts, _ = generate("experts/all")
    assert {"/algo@settings.rls": "rls"} in experts["defaults"]
    for file in (REPOSITORY / "conf/tuned/algo_oracle").glob("*.yaml"):
        values, package = generate(f"tuned/inside/algo_oracle/{file.stem}")
        assert package is None
        assert values["oracle"] == yaml.safe_load(file.read_text())["oracle"]
    assert [generate(path) for path in ("experts", "experts/rls", "tuned/inside/rls", "algo")] == [
        None
    ] * 4


def test_values_set_after_composing_are_what_hydra_composes():
    """The short way of the tests, against the long one."""
    words = ("algo=df_ftpl", "oracle=adam", "data.items=9", "seeds=[4,5]", "kappa=0.1")
    words += ("polytope.dimension=${data.items}", "data.theta_star_norm=null", "oracle.lr=1e-3")
    short, long = composed(*words), composed(*words, hydra=True)
    for key in set(long) - {"hydra", "sweep"}:  # a sweep is named by all overrides
        assert short[key] == long[key]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["experiment=main"], True),
        (["algo=df_ogd"], False),
        (["experiment=null"], False),
        (["experiment=main", "--cfg", "job"], False),
        (["experiment=main", "hydra.mode=RUN"], False),
    ],
)
def test_an_experiment_that_is_a_sweep_needs_no_flag(words: list[str], expected: bool) -> None:
    line = CommandLine(words)
    assert (line.leaves_mode_open() and is_sweep(line)) == expected


def test_an_experiment_of_the_users_is_read_too(tmp_path: Path) -> None:
    (tmp_path / "experiment").mkdir()
    (tmp_path / "experiment" / "mine.yaml").write_text(
        "# @package _global_\ndefaults: [main]\nseeds: 3\n"
    )
    words = ["experiment=mine", "--config-dir", str(tmp_path)]
    assert is_sweep(CommandLine(words))
