"""Finds the verb, imports its module and calls it."""

import atexit
import gc
import io
import os
import sys
from importlib import import_module

from odfl_cli import __version__
from odfl_cli.core.errors import BAD_INPUT, FULL, UserError, report
from odfl_cli.core.text import did_you_mean

USAGE = f"""odfl {__version__}: online decision-focused learning

Usage: odfl VERB …

  run         run one job or a sweep and write its CSVs      odfl run algo=df_ogd data.gamma=0.5
  plot        turn runs into cost, MSE and regret curves     odfl plot outputs/runs
  report      one HTML page of what was found                odfl report main --open
  data        check or write files of rounds                 odfl data check my_rounds.csv
  list        runs, their state and their final cost         odfl list
  show        one run, and the command that repeats it       odfl show outputs/runs/NAME
  best        the leaderboard of one or several sweeps       odfl best outputs/sweeps/NAME
  export      all rounds of a sweep as one tidy table        odfl export SWEEP -o results.csv
  completion  a script that completes odfl in your shell     eval "$(odfl completion bash)"

odfl VERB --help explains a verb. odfl --version prints the version.
"""
VERBS = ("run", "plot", "report", "data", "list", "show", "best", "export", "completion")
"""Each has a module of the same name with a function `main`."""
GONE = {
    "claims": "this is now python -m reproduce.claims in a clone of the repository",
    "clean": "this verb is gone; a run is a folder, which odfl list names and rm -r removes",
    "warm": "this verb is gone; a run compiles what it needs",
}


def main(arguments: list[str] | None = None) -> int:
    """Runs a verb; returns the exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    _complete_streams()
    os.environ.setdefault(FULL, os.environ.get("HYDRA_FULL_ERROR", "0"))
    try:
        return _dispatch(arguments)
    except (Exception, KeyboardInterrupt) as error:
        return report(error)


def _complete_streams() -> None:
    """Opens closed standard streams, so that no file gets their numbers; escapes what ASCII lacks."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "r" if number == 0 else "w"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _dispatch(arguments: list[str]) -> int:
    match arguments:
        case [] | ["-h" | "--help" | "help", *_]:
            print(USAGE, end="", file=sys.stdout if arguments else sys.stderr)
            return 0 if arguments else BAD_INPUT
        case ["--version" | "-V", *_]:
            print(f"odfl {__version__}")
            return 0
        case [verb, *rest] if verb in VERBS:
            gc.set_threshold(500_000)  # imports leave many objects and little garbage
            atexit.register(gc.freeze)  # the last collection would visit all of them, for 0.4 s
            os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # searches all packages
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # our own matrices are small
            return import_module(f"odfl_cli.cli.{verb}").main(rest)
        case ["-sc" | "--shell-completion" | "--shell_completion", *_]:
            from odfl_cli.cli.completion.query import answer

            return answer(arguments)
        case [verb, *_] if verb in GONE:
            raise UserError(f"{verb}: {GONE[verb]}")
    raise UserError(f"{arguments[0]}: no such verb; {did_you_mean(arguments[0], VERBS)}")
