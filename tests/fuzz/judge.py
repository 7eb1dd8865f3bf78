"""Runs a case in a folder of its own and says what is wrong with the result."""

import atexit
import hashlib
import os
import random
import shutil
import signal
import stat
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from support.commands import Done, odfl
from support.finished_runs import write_failed, write_finished, write_unfinished
from support.problems import runnable
from support.synthetic_runs import write_sweep

from fuzz.cases import Case
from fuzz.damage import damage, parquet_file, put, rounds_file
from fuzz.quickly import quickly
from odfl_cli import Learner
from odfl_cli.core.errors import UserError

SECONDS = 60  # of this process's work
WAITING = (
    300  # and of waiting, for a pipe that nobody fills; other programs may keep the cores busy
)
MOST_LINES, LONGEST = 12, 4000
SHORT = ("horizon.rounds=2", "seeds=1", "engine=array")  # which compiles nothing
MODULES = {"predictor=mlp", "predictor=torch"}  # not for arrays
SMALL = (*SHORT, "data.items=3", "data.features=2")
SWEEP = {
    "until=decided": ("algo=uniform,always", "until.first=2", "until.most=4"),
    "tune=grid": ("algo=hedge,uniform", "tune.seeds=2", "tune.rounds=2"),
}
WORDS = {
    "list": ["list", "outputs"],
    "show": ["show", "outputs/runs/finished"],
    "best": ["best", "outputs"],
    "plot": ["plot", "outputs", "--out", "outputs/figures"],
    "report": ["report", "outputs", "-o", "outputs/report.html"],
    "export": ["export", "outputs", "-o", "outputs/table.csv"],
    "run": ["run", *SMALL, "hydra.run.dir=outputs/runs/finished"],
}


class TooLongError(BaseException):
    """A verb went on beyond the bound; no handler of errors may hide it."""


def try_case(case: Case) -> list[str]:
    """The promises that the case broke, tried in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="odfl-fuzz-") as root:
        return judge(case, Path(root))


def judge(case: Case, root: Path) -> list[str]:
    """The promises that the case broke, tried in the empty folder `root`."""
    here = root / "here"
    here.mkdir()
    _precious(here).parent.mkdir()
    _precious(here).write_text("years of work\n")
    write_failed(_precious(here).with_name("victim"))
    words = WORDS_OF.get(case.kind, _key)(case, here)
    before = tree(root)
    try:
        with _limit_memory(), quickly():
            in_python = case.kind == "state" and case.word != "continue"
            cache = str(_folder("cache"))
            done = _go_on(case, here) if in_python else odfl(*words, cwd=here, XDG_CACHE_HOME=cache)
        return [*_judge(case, done), *_find_touched(case, done, before, tree(root))]
    except TooLongError:
        return [f"it worked for {SECONDS} s or waited for {WAITING} s"]
    finally:
        _unlock(here)


def _judge(case: Case, done: Done) -> list[str]:
    wrong, told = [], done.stderr
    if done.returncode not in (0, 1, 2):
        wrong.append(f"exit code {done.returncode}")
    if "Traceback" in told + done.stdout:
        wrong.append(f"a traceback: {told.strip().splitlines()[-1][:200]}")
    if len(told.splitlines()) > MOST_LINES or len(told) > LONGEST * 2:
        wrong.append(f"{len(told.splitlines())} lines, {len(told)} characters on stderr")
    if "\x1b" in told + done.stdout:
        wrong.append("an escape sequence was printed")
    if done.returncode == 2 and not told:
        wrong.append("refused without a word")
    named = {"key": case.change, "target": case.change.removesuffix("._target_"), "way": "o"}
    named |= {"hydra": "hydra", "group": case.change.lstrip("+~").partition("/")[0]}
    named |= {"sweep": case.change.partition(".")[0], "zip": "data.gamma"}
    if done.returncode == 2 and named.get(case.kind, "") not in told:
        wrong.append(f"the line does not name {case.change}: {told[:200]!r}")
    return wrong


def _find_touched(
    case: Case, done: Done, before: dict[str, str], after: dict[str, str]
) -> list[str]:
    """Files that should have stayed as they were."""
    outputs = "here/" if case.change == "outputs" else "here/outputs"
    changed = {path for path, _ in before.items() ^ after.items()}
    outside = sorted(p for p in changed if not p.startswith(outputs))
    inside = sorted(p for p in changed if p.startswith(outputs) and not p.endswith(".lock"))
    wrong = [f"outside of outputs it changed {outside[0]}"] if outside else []
    if done.returncode == 2 and inside:
        wrong.append(f"exit code 2, and it changed {inside[0]}")
    return wrong


def _precious(here: Path) -> Path:
    """A file beside the folder in which odfl is called, which it has no business with."""
    return here.parent / "canary" / "precious"


def tree(root: Path) -> dict[str, str]:
    """Every path below root with what it is."""
    found = {}
    for place, folders, names in os.walk(root):
        for name in (*folders, *names):
            path = Path(place, name)
            mode = path.lstat().st_mode
            kind = os.readlink(path) if stat.S_ISLNK(mode) else str(stat.S_IFMT(mode))
            if stat.S_ISREG(mode) and mode & 0o400:
                kind = hashlib.sha256(path.read_bytes()).hexdigest()
            found[str(path.relative_to(root))] = kind
    return found


def _key(case: Case, here: Path) -> list[str]:
    """A value that is accepted is run with."""
    chosen = runnable(case.place, here) if case.place else ()
    short = SHORT[:-1] if MODULES.intersection(chosen) else SHORT
    given = [word for word in (*short, *chosen) if not word.startswith(f"{case.change}=")]
    return ["run", *given, f"{case.change}={case.word}"]


def _hydra(case: Case, here: Path) -> list[str]:
    mode = [case.place] if case.place else []
    return ["run", *mode, *SMALL, "algo=uniform", f"{case.change}={case.word}"]


def _file(case: Case, here: Path) -> list[str]:
    outputs = here / "outputs"
    shutil.copytree(_outputs(), outputs)
    damage(outputs / case.place, case.change, _precious(here), random.Random(case.seed))
    return WORDS[case.word]


def _sweep(case: Case, here: Path) -> list[str]:
    given = [
        case.place,
        *(word for word in SWEEP[case.place] if not word.startswith(f"{case.change}=")),
    ]
    return ["run", "-m", *SMALL, *given, f"{case.change}={case.word}"]


def _zip(case: Case, here: Path) -> list[str]:
    zipped = "horizon.rounds=tag(zip,choice(2,3))"
    return ["run", "-m", *SMALL, "algo=uniform", case.change.format(case.word), zipped]


def _state(case: Case, here: Path) -> list[str]:
    shutil.copytree(_store_state(), here, dirs_exist_ok=True)
    path = here / (
        "learner.safetensors" if case.word == "load" else "outputs/run/seed-0.state.safetensors"
    )
    damage(path, case.change, _precious(here), random.Random(case.seed))
    return ["run", *SMALL, "horizon.rounds=4", "continue=outputs/run", "hydra.run.dir=outputs/new"]


def _go_on(case: Case, here: Path) -> Done:
    """The output and exit code of Python for a learner's file, in the form of a command's."""
    load = Learner.load if case.word == "load" else Learner.from_run
    try:
        load(here / ("learner.safetensors" if case.word == "load" else "outputs/run"))
    except UserError as error:
        return Done([], 2, "", f"{error}\n")
    except Exception:
        return Done([], 1, "", traceback.format_exc())
    return Done([], 0, "", "")


@cache
def _store_state() -> Path:
    """A run that can be continued, and a learner's file."""
    folder = _folder("stored")
    words = ("save_state=true", "hydra.run.dir=outputs/run", "horizon.rounds=2")
    done = odfl("run", *SMALL, *words, cwd=folder)
    assert done.returncode == 0, done.stderr
    Learner.from_run(folder / "outputs" / "run").save(folder / "learner.safetensors")
    return folder


@cache
def _outputs() -> Path:
    """An outputs folder with a run in every state, a sweep, and what is made of them."""
    outputs = _folder("finished") / "outputs"
    runs = outputs / "runs"
    write_failed(runs / "failed")
    write_unfinished(runs / "unfinished")
    write_finished(runs / "finished", levels={0: 0.5, 1: 0.6}, rounds=10)
    (runs / "finished" / ".lock").write_text("odfl lock: somewhere 1\n")
    (runs / "finished" / "run.log").write_text("begun\n")
    shutil.copytree(runs / "failed" / ".hydra", runs / "finished" / ".hydra")
    write_sweep(outputs / "sweeps" / "small", [runs / "finished", runs / "failed"])
    with quickly():
        for verb in ("plot", "report", "export"):
            done = odfl(*WORDS[verb], cwd=outputs.parent)
            assert done.returncode == 0, done.stderr
    return outputs


@cache
def _folder(name: str) -> Path:
    """A folder that the cases of this process share: data sets are recorded once."""
    folder = tempfile.TemporaryDirectory(prefix=f"odfl-fuzz-{name}-")
    atexit.register(folder.cleanup)
    return Path(folder.name)


def _rounds(case: Case, here: Path) -> list[str]:
    path = here / f"rounds.{case.place}"
    rounds_file(path)
    damage(path, case.change, _precious(here), random.Random(case.seed))
    if case.word == "check":
        return ["data", "check", path.name]
    return ["run", "data=replay", f"data.file={path.name}", *SHORT]


def _column(case: Case, here: Path) -> list[str]:
    path = here / "rounds.parquet"
    parquet_file(path, case.change, case.place)
    if case.word == "check":
        return ["data", "check", path.name]
    return ["run", "data=replay", f"data.file={path.name}", *SHORT]


def _way(case: Case, here: Path) -> list[str]:
    put(here / case.place, case.change, _precious(here))
    if case.word == "export":
        return ["data", "export", "-o", case.place, *SMALL]
    if case.word == "run":
        return ["run", *SMALL, "hydra.run.dir=outputs/runs/one"]
    return ["run", "-m", *SMALL, "algo=uniform,always", "sweep=mine"]


WORDS_OF = {
    "file": _file, "rounds": _rounds, "column": _column, "way": _way, "sweep": _sweep, "zip": _zip,
    "state": _state, "hydra": _hydra,
}  # fmt: skip


@contextmanager
def _limit_memory() -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise TooLongError

    before = {number: signal.signal(number, stop) for number in (signal.SIGPROF, signal.SIGALRM)}
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    signal.alarm(WAITING)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.setitimer(signal.ITIMER_PROF, 0)
        for number, handler in before.items():
            signal.signal(number, handler)


def _unlock(place: Path) -> None:
    """Lets what a case made unreadable be read and removed."""
    for path in place.rglob("*"):
        if not path.is_symlink() and not path.lstat().st_mode & 0o400:
            path.chmod(0o700)
