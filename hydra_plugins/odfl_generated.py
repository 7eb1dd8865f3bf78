"""Configurations that odfl derives from other files of conf/, as a source of Hydra's.

Hydra looks for plugins in the namespace package hydra_plugins. What is stored in its ConfigStore
would be copied for every choice and listed on every completion; a source is asked by name.
"""

from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.object_type import ObjectType
from hydra.plugins.config_source import ConfigLoadError, ConfigResult, ConfigSource
from hydra.plugins.search_path_plugin import SearchPathPlugin
from omegaconf import OmegaConf


class GeneratedConfigs(ConfigSource):
    """`odfl://`: what `odfl_cli.config.generated.generate` returns for a path."""

    @staticmethod
    def scheme() -> str:
        return "odfl"

    def load_config(self, config_path: str) -> ConfigResult:
        from odfl_cli.config.generated import generate

        found = generate(config_path.removesuffix(".yaml"))
        if found is None:
            raise ConfigLoadError(f"{config_path}: there is no such configuration")
        content, package = found
        return ConfigResult(
            self.provider, "odfl://", OmegaConf.create(content), {"package": package}
        )

    def available(self) -> bool:
        return True

    def is_group(self, config_path: str) -> bool:
        return False

    def is_config(self, config_path: str) -> bool:
        from odfl_cli.config.generated import generate

        return generate(config_path.removesuffix(".yaml")) is not None

    def list(self, config_path: str, results_filter: ObjectType | None) -> list[str]:
        return []  # nobody chooses from them


class GeneratedSearchPath(SearchPathPlugin):
    """Adds the source to applications that read the conf/ of odfl, and to no others."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        from odfl_cli.config.directory import conf_directory

        places = (str(item.path) for item in search_path.get_path())
        if any(place.removeprefix("file://") == str(conf_directory()) for place in places):
            search_path.append("odfl", "odfl://")
