"""Where the configuration lives: inside an installed wheel, or at the top of the repository."""

from pathlib import Path


def conf_directory() -> Path:
    """The first of odfl_cli/conf and odfl_cli/../conf that holds config.yaml."""
    package = Path(__file__).resolve().parent
    for candidate in (package / "conf", package.parent / "conf"):
        if (candidate / "config.yaml").is_file():
            return candidate
    raise FileNotFoundError(f"the installation lacks its conf/ folder beside {package}")
