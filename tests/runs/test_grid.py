"""The jobs of a grid as `odfl run -m` checks them are those that Hydra will run."""

import pytest
from hydra import initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.types import RunMode

from odfl_cli.config.directory import conf_directory
from odfl_cli.config.identity import register_resolvers, resolved
from odfl_cli.runs.sweep.grid import compose_cells, grid_cells


@pytest.mark.parametrize(
    "overrides",
    [
        ["data.gamma=0,0.5,1", "seeds=[1,2],3"],
        ["algo=df_ogd,df_ftpl,pf_ogd", "oracle.lr=0.1,0.2"],
        ["polytope=simplex,knapsack", "algo=df_ogd,pf_ogd", "data.items=4,5"],
        ["experiment=main", "data.items=3,4", "hydra.sweeper.params.algo='uniform,spo'"],
        ["experiment=main,misspecification", "seeds=2"],
        ["+data.extra=1,2", "data.gamma=0,1"],
        ["++data.gamma=0.25,0.75", "theta_radius=1,2"],
        ["data={gamma:0.1},{rho:0.2}", "seeds=1,2"],
        ["~theta_radius", "data.gamma=0,1"],
        ["data.clip=true,false", "regularizer=entropy,quadratic", "algo.c_alpha=1,null"],
    ],
)
def test_every_cell_is_what_hydra_composes(overrides):
    register_resolvers()
    with initialize_config_dir(str(conf_directory()), version_base="1.3"):
        loader = GlobalHydra.instance().config_loader()
        hydra = GlobalHydra.instance().hydra
        assert hydra is not None
        master = hydra.compose_config("config", overrides, run_mode=RunMode.MULTIRUN)
        jobs = list(compose_cells(master, grid_cells(master)))
        assert len({tuple(job.overrides) for job in jobs}) == len(jobs) >= 2
        for job in jobs:
            expected = loader.load_sweep_config(master, job.overrides)
            assert resolved(job.config) == resolved(expected)
            assert job.config.hydra.sweep.subdir == expected.hydra.sweep.subdir
            assert job.config.hydra.runtime.choices == expected.hydra.runtime.choices
