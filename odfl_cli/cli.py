"""The verbs. Each imports what it uses when it is used."""

import gc
import os
import sys
from collections.abc import Callable

from odfl_cli import __version__
from odfl_cli.errors import UserError

USAGE = f"""odfl {__version__}: online decision-focused learning

Usage: odfl VERB …

  run     run one job or a sweep and write its CSVs    odfl run algo=df_ogd data.gamma=0.5
  plot    turn runs into cost, MSE and regret curves   odfl plot outputs/runs
  data    check or write files of rounds               odfl data check my_rounds.csv

odfl VERB --help tells more. odfl --version prints the version.
"""
BAD_INPUT, INTERRUPTED = 2, 130


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
        case ["plot", *rest]:
            return _guarded(_plot, rest)
        case ["data", *rest]:
            return _guarded(_data, rest)
        case ["-sc" | "--shell-completion" | "--shell_completion", *_]:
            return _guarded(_complete, arguments)
    print(f"odfl: {arguments[0]}: no such verb; there are run and plot", file=sys.stderr)
    return BAD_INPUT


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
    wants_traceback = os.environ.setdefault("HYDRA_FULL_ERROR", "") == "1"
    os.environ["HYDRA_FULL_ERROR"] = "1"  # Hydra re-raises instead of printing and exiting
    gc.set_threshold(100_000)  # imports and compositions make many objects and little garbage
    from odfl_cli.app import main as run
    from odfl_cli.explain import COMPLAINTS, explain, group_given_a_value

    try:
        if misuse := group_given_a_value(arguments):
            return _refuse(misuse)
        run(arguments)
    except COMPLAINTS as error:
        if wants_traceback:
            raise
        return _refuse(explain(error, arguments))
    finally:
        gc.freeze()  # spares the interpreter a search for cycles in all modules as it ends
    return 0


def _plot(arguments: list[str]) -> int:
    from odfl_cli.plotting.plot import main as plot

    return plot(arguments)


def _data(arguments: list[str]) -> int:
    from odfl_cli.data_verbs import main as data

    return data(arguments)


def _complete(arguments: list[str]) -> int:
    """Hydra completes `odfl run …` as though there were no verb."""
    line = os.environ.get("COMP_LINE", "")
    os.environ["COMP_LINE"] = line.replace("odfl run", "odfl", 1)
    return _run(arguments)


def _refuse(line: str) -> int:
    print(f"odfl: {line}", file=sys.stderr)
    return BAD_INPUT


if __name__ == "__main__":
    sys.exit(main())
