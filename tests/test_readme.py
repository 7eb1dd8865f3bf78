"""What the README shows is what happens."""

import json
import re
from pathlib import Path

import yaml
from commands import REPOSITORY, odfl, run_directories

README = (REPOSITORY / "README.md").read_text()
FILES = dict(re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```", README, re.S))


def test_the_example_algorithm_runs_from_the_readme_alone(tmp_path: Path) -> None:
    for name, content in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    (command,) = re.findall(r"^odfl (run --config-dir .*)$", README, re.M)
    done = odfl(*command.split(), "horizon=smoke", "seeds=2", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (directory,) = run_directories(tmp_path)
    summary = json.loads((directory / "summary.json").read_text())
    assert summary["choices"]["algo"] == "mine"
    assert summary["config"]["algo"]["rate"] == 0.005
    assert summary["engine"] == "torch"


def test_every_choice_and_group_is_in_the_table() -> None:
    table = README.split("## Configuration")[1].split("### Files")[0]
    conf = REPOSITORY / "conf"
    for choice in conf.glob("*/**/*.yaml"):
        group = choice.parent.relative_to(conf).as_posix()
        if not group.endswith("_for"):
            assert f"`{group}`" in table
            assert f"`{choice.stem}`" in table


def test_every_key_it_names_exists() -> None:
    table = README.split("## Configuration")[1].split("### Files")[0]
    for group, key in re.findall(r"`(\w+)\.(\w+)`", table):
        files = (REPOSITORY / "conf" / group).glob("*.yaml")
        assert any(key in yaml.safe_load(file.read_text()) for file in files), f"{group}.{key}"


def test_every_picture_it_shows_exists() -> None:
    pictures = re.findall(r"!\[.*?\]\((\S+)\)", README)
    assert pictures
    for picture in pictures:
        assert (REPOSITORY / picture).read_bytes().startswith(b"\x89PNG")
