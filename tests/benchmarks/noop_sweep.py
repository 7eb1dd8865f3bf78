"""A Hydra application with the groups of `odfl run` whose jobs do nothing."""

import sys

import hydra
from omegaconf import DictConfig

from odfl_cli.config.identity import register_resolvers


def task(config: DictConfig) -> float:
    """Nothing."""
    return 0.0


if __name__ == "__main__":
    register_resolvers()
    conf = sys.argv.pop(1)
    hydra.main(version_base="1.3", config_path=conf, config_name="config")(task)()
