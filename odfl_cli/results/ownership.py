"""Which files of a run directory odfl wrote: its records carry a mark and list the others.

summary.json and failed.json carry the version of odfl, the files of Hydra name odfl's classes, the
lock says that it is one. A directory without any of these marks is not a run.
"""

import os
import re
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from odfl_cli import __version__
from odfl_cli.core.errors import UserError
from odfl_cli.core.files import (
    TEMPORARY,
    check_writable_in_place,
    open_below,
    read_regular,
    write_json,
)
from odfl_cli.core.locks import check_lock, has_lock
from odfl_cli.core.reading import UnreadableError, read_json
from odfl_cli.results.summary import FAILURE, SUMMARY, seed_file, versions_of

LOG, HYDRA = "run.log", ".hydra"
HYDRA_FILES = ("overrides.yaml", "config.yaml", "hydra.yaml")
UNLISTED = ".odfl-unlisted.json"
"""Lists the files of an attempt, while summary.json does not list them yet."""
SEED_FILE = re.compile(r"seed-[0-9]+\.(csv|safetensors)")
KEYS = {SUMMARY: {"choices", "config"}, FAILURE: {"error"}, UNLISTED: {"files"}}
CLASS_OF_ODFL = re.compile(rb"_target_: ['\"]?odfl")


def is_run(directory: Path) -> bool:
    """Whether odfl made this directory for a run: its own records say so."""
    with suppress(OSError, UserError), open_below(directory) as place:
        return _is_run(place)
    return False


def check_place(directory: Path, seeds: Iterable[int] = (), hydra: str | None = HYDRA) -> None:
    """Refuses a directory where a run would write through a link or over files of others.

    `hydra` is the name of Hydra's folder in it; None where there will be none.
    """
    if directory.is_symlink():
        raise UserError(f"{directory}: it is a link; name the directory that it points to")
    if not directory.is_dir():
        return
    hydras = _hydra_files(directory, hydra)
    for path in (directory / LOG, *hydras):
        check_writable_in_place(path)
    check_lock(directory)
    names = (LOG, SUMMARY, FAILURE, *map(seed_file, seeds))
    ours = [*(directory / name for name in names), *hydras]
    there = next((path for path in ours if path.is_file() and path.stat().st_size), None)
    if there and not (is_run(directory) or has_lock(directory) or _names_odfl(hydras)):
        raise UserError(f"{there}: odfl did not write it; choose another directory")


def check_sweep_place(sweep: Path, *files: Path) -> None:
    """Refuses places where a sweep would write through a link or over files of others.

    `files` are those that a sweeper of Hydra's writes.
    """
    for directory in (sweep, sweep / "submitit"):
        if directory.is_symlink():
            raise UserError(f"{directory}: it is a link; choose another name with sweep=")
    check_lock(sweep)
    for path in files:
        check_writable_in_place(path)
        if path.is_file() and path.stat().st_size and not _names_odfl([path]):
            raise UserError(f"{path}: odfl did not write it; choose another directory")


def note_unlisted(directory: Path, names: Iterable[str]) -> None:
    """Records the CSVs that are about to be written, for the case that the process is killed."""
    content = {"versions": {"odfl": __version__}, "files": sorted(names)}
    write_json(directory / UNLISTED, content, durable=False)


def remove_leftovers(directory: Path) -> None:
    """Removes what a killed process left half written; the caller holds the directory's lock."""
    with open_below(directory) as place:
        listed = _seed_files(place, SUMMARY)
        _remove(place, _temporaries(place))
        _remove(place, _seed_files(place, UNLISTED) - listed)
        _remove(place, [UNLISTED] if _record(place, UNLISTED) else [])


def remove_run(place: int) -> None:
    """Removes all that odfl wrote into the open directory but the lock; the marks last."""
    if not _is_run(place):
        return
    _remove(place, _temporaries(place))
    _remove(place, _seed_files(place, UNLISTED) | _seed_files(place, SUMMARY))
    _remove(place, [LOG])
    _remove(place, [name for name in KEYS if _record(place, name)])
    with suppress(FileNotFoundError, UserError), open_below(place, HYDRA) as folder:
        if _is_hydra(folder):
            _remove(folder, HYDRA_FILES)
    with suppress(OSError):  # a link, or not empty
        os.rmdir(HYDRA, dir_fd=place)


def _hydra_files(directory: Path, hydra: str | None) -> list[Path]:
    """Those that Hydra will write; its folder may not be a link."""
    if hydra is None:
        return []
    with suppress(FileNotFoundError), open_below(directory, hydra):
        return [directory / hydra / name for name in HYDRA_FILES]
    return []


def _is_run(place: int) -> bool:
    if _record(place, SUMMARY) or _record(place, FAILURE):
        return True
    with suppress(OSError, UserError), open_below(place, HYDRA) as folder:
        return _is_hydra(folder)
    return False


def _record(place: int, name: str) -> dict[str, Any]:
    """A JSON object with the mark; empty where there is none, or it is not odfl's."""
    try:
        content = read_json(name, dir_fd=place)
    except (FileNotFoundError, UnreadableError):
        return {}
    return content if versions_of(content) and content.keys() >= KEYS[name] else {}


def _seed_files(place: int, record: str) -> set[str]:
    """The files of seeds that a record lists."""
    files = _record(place, record).get("files")
    names = files if isinstance(files, list | dict) else ()
    return {name for name in names if isinstance(name, str) and SEED_FILE.fullmatch(name)}


def _temporaries(place: int) -> list[str]:
    """Files of a run that were not written to their end."""
    found = [match for name in os.listdir(place) if (match := TEMPORARY.fullmatch(name))]
    return [m[0] for m in found if m["name"] in KEYS or SEED_FILE.fullmatch(m["name"])]


def _remove(place: int, names: Iterable[str]) -> None:
    """Removes the regular files among the names."""
    for name in names:
        with suppress(FileNotFoundError):
            if stat.S_ISREG(os.stat(name, dir_fd=place, follow_symlinks=False).st_mode):
                os.unlink(name, dir_fd=place)


def _is_hydra(folder: int) -> bool:
    """Whether the configuration in the open folder names a class of odfl."""
    return _names_odfl(HYDRA_FILES, folder)


def _names_odfl(files: Iterable[Path | str], dir_fd: int | None = None) -> bool:
    for file in files:
        with suppress(OSError, UserError):
            if CLASS_OF_ODFL.search(read_regular(file, dir_fd=dir_fd)):
                return True
    return False
