"""A Hydra config source for the configurations that odfl derives from other files of conf/.

Hydra looks for plugins in the namespace package hydra_plugins. Entries of its ConfigStore
would be copied for every choice and listed in every completion; a source is queried by name.
"""

from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.object_type import ObjectType
from hydra.plugins.config_source import ConfigLoadError, ConfigResult, ConfigSource
from hydra.plugins.search_path_plugin import SearchPathPlugin
from omegaconf import OmegaConf


class GeneratedConfigs(ConfigSource):
    """`odfl://`: the results of `odfl_cli.config.generated.generate`."""

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
        return []  # users do not choose from them


class GeneratedSearchPath(SearchPathPlugin):
    """Adds the source to applications that read the conf/ of odfl."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        from odfl_cli.config.directory import conf_directory

        places = (str(item.path) for item in search_path.get_path())
        if any(place.removeprefix("file://") == str(conf_directory()) for place in places):
            search_path.append("odfl", "odfl://")
