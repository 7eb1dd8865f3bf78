"""The jobs of a grid as `odfl run -m` checks them are those that Hydra will run."""

import pytest
from hydra import initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.types import RunMode
from support.samples import some_of

from odfl_cli.config.compose import prepare_hydra
from odfl_cli.config.directory import conf_directory
from odfl_cli.config.identity import resolve
from odfl_cli.runs.sweep.grid import Compositions, grid_cells


@pytest.mark.parametrize(
    "overrides",
    some_of(
        [
            ["data.gamma=0,0.5", "theta_radius=1,2"],
            ["algo=df_ogd,df_ftpl", "oracle.lr=0.1,0.2"],
            ["polytope=simplex,knapsack", "algo=df_ogd,pf_ogd", "data.items=4"],
            ["experiment=main", "data.items=3", "hydra.sweeper.params.algo='uniform,spo'"],
            ["experiment=main,misspecification", "seeds=2"],
            ["+data.extra=1,2", "data.gamma=0,1"],
            ["++data.gamma=0.25,0.75", "theta_radius=1,2"],
            ["data={gamma:0.1},{rho:0.2}", "seeds=[1],[2]"],
            ["~theta_radius", "data.gamma=0,1"],
            ["data.clip=true,false", "regularizer=quadratic", "algo.c_alpha=1,null"],
        ],
        1,
    ),
)
def test_every_cell_is_what_hydra_composes(overrides):
    prepare_hydra()
    with initialize_config_dir(str(conf_directory()), version_base="1.3"):
        loader = GlobalHydra.instance().config_loader()
        hydra = GlobalHydra.instance().hydra
        assert hydra is not None
        master = hydra.compose_config("config", overrides, run_mode=RunMode.MULTIRUN)
        cells, compositions = grid_cells(master), Compositions(master)
        assert len(set(cells)) == len(cells) >= 2
        for cell in cells:
            config = compositions.compose(cell)
            expected = loader.load_sweep_config(master, list(cell))
            assert resolve(config) == resolve(expected)
            assert config.hydra == expected.hydra
            assert config.hydra.sweep.subdir == expected.hydra.sweep.subdir


def test_an_axis_of_an_experiment_that_is_typed_anew_counts_once():
    prepare_hydra()
    typed = ["experiment=misspecification", "data.gamma=0,1", "algo=df_ogd,spo", "most_jobs=4"]
    with initialize_config_dir(str(conf_directory()), version_base="1.3"):
        hydra = GlobalHydra.instance().hydra
        assert hydra is not None
        master = hydra.compose_config("config", typed, run_mode=RunMode.MULTIRUN)
        assert len(grid_cells(master)) == 4
