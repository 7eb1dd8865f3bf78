"""Recognises run directories and the files in them that odfl wrote.

summary.json and failed.json have the version of odfl, Hydra's files name classes of odfl, and the
lock has a prefix. A directory without any of these is not a run.
"""

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from odfl_cli.core.errors import UserError
from odfl_cli.core.files import TEMPORARY, check_writable_in_place, read_regular
from odfl_cli.core.locks import check_lock, holder
from odfl_cli.core.reading import UnreadableError, read_json
from odfl_cli.results.summary import FAILURE, SUMMARY, seed_file, versions_of

LOG, HYDRA = "run.log", ".hydra"
HYDRA_FILES = ("overrides.yaml", "config.yaml", "hydra.yaml")
SEED_FILE = re.compile(r"seed-[0-9]+\.(csv|state\.safetensors)")
KEYS = {SUMMARY: {"choices", "config"}, FAILURE: {"error"}}
CLASS_OF_ODFL = re.compile(rb"_target_: ['\"]?odfl")


def is_run(directory: Path) -> bool:
    """True if odfl made this directory for a run, by its records or Hydra's files."""
    has_record = _record(directory, SUMMARY) or _record(directory, FAILURE)
    return bool(has_record) or _names_odfl(hydra_files(directory))


def hydra_files(directory: Path, folder: str = HYDRA) -> list[Path]:
    """The files that Hydra writes; none if its folder is a link, which odfl never makes."""
    if (directory / folder).is_symlink():
        return []
    return [directory / folder / name for name in HYDRA_FILES]


def check_place(directory: Path, seeds: Iterable[int] = (), hydra: str | None = HYDRA) -> None:
    """Raises if a run would write through a link or replace files of others; `hydra` is Hydra's folder, or None."""
    if hydra and (directory / hydra).exists() and not (directory / hydra).is_dir():
        raise UserError(f"{directory / hydra}: it is in the way of Hydra's folder")
    if not directory.is_dir() and not directory.is_symlink():
        return
    _refuse_link(directory, "name the directory that it points to")
    if hydra:
        _refuse_link(directory / hydra, "nothing is written")
    hydras = hydra_files(directory, hydra) if hydra else []
    for path in (directory / LOG, *hydras):
        check_writable_in_place(path)
    check_lock(directory)
    if is_run(directory) or holder(directory) or _names_odfl(hydras):
        return
    names = (LOG, SUMMARY, FAILURE, *map(seed_file, seeds))
    for path in (*(directory / name for name in names), *hydras):
        _refuse_content(path)


def check_sweep_place(sweep: Path, *files: Path) -> None:
    """Raises if a sweep, or Hydra's sweeper in `files`, would write through a link or replace others' files."""
    for directory in (sweep, sweep / "submitit"):
        _refuse_link(directory, "choose another name with sweep=")
    check_lock(sweep)
    for path in files:
        check_writable_in_place(path)
        if not _names_odfl([path]):
            _refuse_content(path)


def remove_leftovers(directory: Path) -> None:
    """Removes unfinished files of killed processes; the caller holds the directory's lock."""
    for found in filter(None, map(TEMPORARY.fullmatch, os.listdir(directory))):
        path = directory / found[0]
        is_ours = found["name"] in KEYS or SEED_FILE.fullmatch(found["name"])
        if is_ours and path.is_file() and not path.is_symlink():
            path.unlink()


def _refuse_link(path: Path, advice: str) -> None:
    if path.is_symlink():
        raise UserError(f"{path}: it is a link; {advice}")


def _refuse_content(path: Path) -> None:
    if path.is_file() and path.stat().st_size:
        raise UserError(f"{path}: odfl did not write it; choose another directory")


def _record(directory: Path, name: str) -> dict[str, Any]:
    """A record of odfl; empty if there is none or odfl did not write it."""
    with suppress(FileNotFoundError, UnreadableError):
        content = read_json(directory / name)
        return content if versions_of(content) and content.keys() >= KEYS[name] else {}
    return {}


def _names_odfl(files: Iterable[Path]) -> bool:
    """True if one of the configuration files names a class of odfl."""
    for file in files:
        with suppress(OSError, UserError):
            if CLASS_OF_ODFL.search(read_regular(file)):
                return True
    return False
