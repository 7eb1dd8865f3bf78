"""The smallest Hydra application: its jobs compose only their number and do nothing."""

import hydra
from omegaconf import DictConfig


@hydra.main(version_base="1.3", config_path=None)
def main(config: DictConfig) -> None:
    """Nothing."""


if __name__ == "__main__":
    main()
