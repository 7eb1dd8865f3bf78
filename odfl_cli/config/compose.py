"""The configuration of `odfl run …` without its command line."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.errors import HydraException
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from odfl_cli.config.directory import conf_directory
from odfl_cli.config.explain import explain, misuse
from odfl_cli.config.identity import register_resolvers
from odfl_cli.core.errors import UserError


def compose_job(overrides: Iterable[str]) -> DictConfig:
    """One job's configuration with Hydra's own, or a UserError that says which override is wrong."""
    given = list(overrides)
    with hydra_for(given):
        return compose("config", overrides=given, return_hydra_config=True)


@contextmanager
def hydra_for(overrides: list[str]) -> Iterator[None]:
    """Hydra as it is set up for `odfl run`; what it refuses of the overrides is a UserError."""
    register_resolvers()
    if mistake := misuse(overrides):
        raise UserError(mistake)
    surrounding = GlobalHydra.instance().hydra  # of an application that we are called from
    GlobalHydra.instance().clear()
    try:
        with initialize_config_dir(str(conf_directory()), version_base="1.3"):
            yield
    except (HydraException, OmegaConfBaseException) as error:
        raise UserError(explain(error, overrides)) from error
    finally:
        GlobalHydra.instance().hydra = surrounding
