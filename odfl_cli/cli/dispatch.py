"""The verbs. Each imports what it uses when it is used."""

import gc
import os
import sys
from collections.abc import Callable
from importlib import import_module

from odfl_cli import __version__
from odfl_cli.core.errors import UserError

USAGE = f"""odfl {__version__}: online decision-focused learning

Usage: odfl VERB …

  run         run one job or a sweep and write its CSVs      odfl run algo=df_ogd data.gamma=0.5
  plot        turn runs into cost, MSE and regret curves     odfl plot outputs/runs
  report      one HTML page that tells what was found        odfl report main --open
  data        check or write files of rounds                 odfl data check my_rounds.csv
  claims      judge every claim of the paper by measurement  odfl claims
  list        runs, their state and their final cost         odfl list
  show        one run, and the command that repeats it       odfl show outputs/runs/NAME
  best        rank the jobs of a sweep by a column           odfl best outputs/sweeps/NAME
  export      all rounds of a sweep as one tidy table        odfl export SWEEP -o results.csv
  clean       remove failed, unfinished or old runs          odfl clean --failed
  completion  a script that completes odfl in your shell     eval "$(odfl completion bash)"

odfl VERB --help tells more. odfl --version prints the version.
"""
MODULES = {
    "plot": "odfl_cli.cli.plot",
    "report": "odfl_cli.cli.report",
    "data": "odfl_cli.cli.data",
    "claims": "odfl_cli.cli.claims",
    "list": "odfl_cli.cli.list",
    "show": "odfl_cli.cli.show",
    "best": "odfl_cli.cli.best",
    "export": "odfl_cli.cli.export",
    "clean": "odfl_cli.cli.clean",
    "completion": "odfl_cli.cli.completion.script",
}
VERBS = ("run", *MODULES)
FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130


def main(arguments: list[str] | None = None) -> int:
    """Dispatches to a verb; returns the exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    match arguments:
        case [] | ["-h" | "--help" | "help", *_]:
            print(USAGE, end="")
            return 0 if arguments else BAD_INPUT
        case ["--version" | "-V", *_]:
            print(f"odfl {__version__}")
            return 0
        case ["run", *rest]:
            return _guarded(_run, rest)
        case [verb, *rest] if verb in MODULES:
            return _guarded(import_module(MODULES[verb]).main, rest)
        case ["-sc" | "--shell-completion" | "--shell_completion", *_]:
            return _guarded(_complete, arguments)
    return _refuse(_no_such_verb(arguments[0]))


def _guarded(verb: Callable[[list[str]], int], arguments: list[str]) -> int:
    try:
        return verb(arguments)
    except UserError as error:
        return _refuse(str(error))
    except KeyboardInterrupt:
        print("odfl: interrupted; unfinished runs left no results", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # `odfl … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _run(arguments: list[str]) -> int:
    gc.set_threshold(100_000)  # imports and compositions make many objects and little garbage
    from odfl_cli.cli.run import main as run
    from odfl_cli.config.explain import COMPLAINTS, explain, misuse, ordered
    from odfl_cli.core.tracebacks import FULL, account

    wants_traceback = os.environ.get("HYDRA_FULL_ERROR") == "1"
    os.environ[FULL] = str(int(wants_traceback))
    os.environ["HYDRA_FULL_ERROR"] = "1"  # Hydra re-raises instead of printing and exiting

    try:
        arguments = ordered(arguments)
        if line := misuse(arguments):
            return _refuse(line)
        run(arguments)
    except COMPLAINTS as error:
        if wants_traceback:
            raise
        return _refuse(explain(error, arguments))
    except (UserError, BrokenPipeError):
        raise
    except OSError as error:  # a full disk, over which Hydra stumbles between two jobs
        if wants_traceback:
            raise
        print(f"odfl: {error.filename or 'writing'}: {error.strerror or error}", file=sys.stderr)
        return FAILED
    except Exception as error:
        print(account(error), file=sys.stderr)
        return FAILED
    finally:
        gc.freeze()  # spares the interpreter a search for cycles in all modules as it ends
    return 0


def _complete(arguments: list[str]) -> int:
    """What a shell asks Hydra while someone types `odfl run …`."""
    from odfl_cli.cli.completion.query import answer

    return answer(arguments, _run)


def _no_such_verb(word: str) -> str:
    import difflib

    near = difflib.get_close_matches(word, VERBS, n=1)
    hint = f" (did you mean {near[0]}?)" if near else ""
    return f"{word}: no such verb{hint}; there are {', '.join(VERBS)}"


def _refuse(line: str) -> int:
    print(f"odfl: {line}", file=sys.stderr)
    return BAD_INPUT
