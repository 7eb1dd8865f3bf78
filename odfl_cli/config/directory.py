"""Where the configuration lives: inside an installed wheel, or at the top of the repository."""

from pathlib import Path


def conf_directory() -> Path:
    """The first of odfl_cli/conf and odfl_cli/../conf that holds config.yaml."""
    package = Path(__file__).resolve().parents[1]
    for candidate in (package / "conf", package.parent / "conf"):
        if (candidate / "config.yaml").is_file():
            return candidate
    raise FileNotFoundError(f"the installation lacks its conf/ folder beside {package}")


def is_tuning(group: str) -> bool:
    """Whether a group tunes one choice for another (oracle_for, algo_for): not for users."""
    return group.rpartition("/")[2].endswith("_for")


def group_listing(directories: list[Path]) -> str:
    """`group: choice, choice, …`, a line for every group that a user chooses from."""
    choices: dict[str, set[str]] = {}
    for directory in directories:
        for path in directory.rglob("*.yaml"):
            group = path.parent.relative_to(directory).as_posix()
            choices.setdefault(group, set()).add(path.stem)
    shown = [g for g in sorted(choices) if g != "." and not is_tuning(g) and "hydra" not in g]
    return "\n".join(f"{group}: {', '.join(sorted(choices[group]))}" for group in shown)
