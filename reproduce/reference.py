"""The pages in docs/reference: commands, algorithms, columns and the Python API, from the code itself."""

import argparse
import inspect
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from textwrap import dedent, fill
from typing import Any
from unittest.mock import patch

import yaml
from cells import table
from hydra.utils import get_class
from keys import choices, escape_cell, variants

import odfl_cli
from odfl_cli.cli import data as data_verb
from odfl_cli.cli import dispatch
from odfl_cli.cli.parser import Parser
from odfl_cli.metrics.columns import MEANINGS

CONF = Path(__file__).parents[1] / "conf"
FIRST = ("run", "sweep", "load", "Result", "Learner")
ROOMS = {
    "Run and read": FIRST,
    "Algorithms": ("algorithms",),
    "Environments": ("environments", "feedback", "runs"),
    "Problems": ("problem",),
    "Metrics and engines": ("metrics", "engine"),
    "Helpers": ("core",),
}
ORDER = ("df_ogd", "df_ftpl", "gradient", "df_moments", "rls", "vote", "pool", "guard")
LAST = ("references", "naive")
EXTRAS = {
    "dev": "tests, linters, and the extras docs, parquet, examples, streams, parallel and slurm",
    "bench": "what `make bench` compares with",
}
HIDDEN = ("self", "cls")
INDENTED = re.compile(r"(?<=\n\n)((?: {3,}.*\n+)+)")


class ParserFoundError(Exception):
    """Carries the parser of a verb out of its `main`."""


def commands() -> str:
    """One section per verb: what it does, its options, examples."""
    named = {verb: f"odfl_cli.cli.{verb}" for verb in dispatch.VERBS}
    named.pop("data")
    for verb, module in data_verb.MODULES.items():
        named[f"data {verb}"] = f"odfl_cli.cli.data.{module}"
    sections = [f"## `odfl {verb}`\n\n{_command(verb, module)}" for verb, module in named.items()]
    return "\n\n".join(sections)


def _command(verb: str, module: str) -> str:
    if verb == "run":
        usage = yaml.safe_load((CONF / "config.yaml").read_text())["hydra"]["help"]["template"]
        _, _, examples = usage.partition("== Examples ==\n")
        line = next(line for line in usage.splitlines() if line.startswith("Usage: "))
        return f"{_fence(line.removeprefix('Usage: '))}\n\nExamples:\n\n{_fence(examples)}"
    if verb == "completion":
        return "Prints a script for your shell.\n\n" + _fence('eval "$(odfl completion bash)"')
    parser = _parser(module)
    rows = [["", "meaning"]]
    for action in parser._actions:
        if not isinstance(action, argparse._HelpAction):
            rows.append([f"`{escape_cell(_spelling(action))}`", escape_cell(_help(parser, action))])
    examples = (parser.epilog or "").removeprefix("examples:\n")
    parts = [_paragraphs(parser.description or ""), table(rows), "Examples:", _fence(examples)]
    return "\n\n".join(parts if examples else parts[:2])


def _parser(module: str) -> argparse.ArgumentParser:
    """The parser of a verb at the time it parses."""

    def stop(self: Parser, *_: object) -> None:
        raise ParserFoundError(self)

    with (
        patch.object(Parser, "parse_args", stop),
        patch.object(Parser, "parse_intermixed_args", stop),
    ):
        try:
            import_module(module).main([])
        except ParserFoundError as found:
            return found.args[0]
    raise LookupError(f"{module} parses nothing")


def _spelling(action: argparse.Action) -> str:
    """An option as it is typed, with its value."""
    names = ", ".join(action.option_strings)
    if action.nargs == 0:
        return names
    values = action.metavar or ",".join(map(str, action.choices or ())) or action.dest.upper()
    return f"{names} {values}".strip()


def _help(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    return (action.help or "") % {**vars(action), "prog": parser.prog}


def algorithms() -> str:
    """A table of all algorithms, then a section per file."""
    named = choices("algo")
    by_module: dict[str, list[str]] = {}
    for algo in sorted(named, key=_place):
        by_module.setdefault(class_of(algo).__module__, []).append(algo)
    order = [algo for members in by_module.values() for algo in members]
    parts = [table([["`algo`", "what it is"], *([f"[`{a}`](#{a})", named[a]] for a in order)])]
    for module, members in by_module.items():
        about = inspect.getdoc(import_module(module)) or ""
        parts.append(f"## {about.splitlines()[0].rstrip('.')}")
        parts.append(_paragraphs("\n".join(about.splitlines()[1:])))
        parts += [_algorithm(algo) for algo in members]
    rows = [[f"`{name}`", words] for name, words in variants().items()]
    parts += ["## Variants of these", table([["`algo`", "what it is"], *rows])]
    return "\n\n".join(filter(None, parts))


def _place(algo: str) -> tuple[int, str]:
    """The sort key of an algorithm: the paper's first, references last."""
    module = class_of(algo).__module__.rpartition(".")[2]
    return (*ORDER, module, *LAST).index(module) + len(ORDER) * (module in LAST), module


def _algorithm(algo: str) -> str:
    return f"### `{algo}`\n\n{_doc(class_of(algo))}"


def class_of(algo: str) -> type:
    """The class of a choice."""
    return get_class(yaml.safe_load((CONF / "algo" / f"{algo}.yaml").read_text())["_target_"])


def columns() -> str:
    """One table per source of columns."""
    parts = []
    for source, meanings in MEANINGS.items():
        code = f"`{source}`" if "=" in source else source
        rows = [["column", "meaning"], *([f"`{name}`", text] for name, text in meanings.items())]
        parts.append(f"## {code[0].upper()}{code[1:]}\n\n{table(rows)}")
    return "\n\n".join(parts)


def api() -> str:
    """Every public name, by subject: its call, its docstring, its methods."""
    rooms = {name: module.split(".")[0] for name, module in odfl_cli._MODULES.items()}
    parts = []
    for title, members in ROOMS.items():
        names = (
            FIRST
            if members is FIRST
            else sorted(n for n in rooms if rooms[n] in members and n not in FIRST)
        )
        parts += [f"## {title}", *(_name(name) for name in names)]
    return "\n\n".join(parts)


def _name(name: str) -> str:
    thing = getattr(odfl_cli, name)
    call = _signature(thing)
    parts = [
        f"### `{name}`",
        *([_fence(fill(name + call, 84, subsequent_indent="    "))] if call else []),
        _doc(thing),
    ]
    if inspect.isclass(thing):
        rows = [[f"`{member}`", escape_cell(_first(words))] for member, words in _members(thing)]
        parts += [table([["", ""], *rows])] if rows else []
    return "\n\n".join(parts)


def _members(thing: type) -> Iterator[tuple[str, str]]:
    """The public methods and properties with their docstrings, also those inherited from odfl_cli."""
    seen = set()
    for owner in thing.__mro__:
        for name, member in vars(owner).items() if owner.__module__.startswith("odfl_cli") else ():
            if name.startswith("_") or name in seen:
                continue
            seen.add(name)
            inner = getattr(member, "__func__", member)
            if isinstance(member, property):
                yield name, inspect.getdoc(member.fget) or ""
            elif inspect.isfunction(inner):
                yield f"{name}{_signature(inner)}", inspect.getdoc(inner) or ""


def extras() -> str:
    """The extras of pyproject.toml with their purpose, from its comments."""
    text = (CONF.parent / "pyproject.toml").read_text()
    section = text.partition("[project.optional-dependencies]\n")[2].partition("\n[")[0]
    rows = [["extra", "what for"]]
    for name, packages in re.findall(r"^(\w+) = \[\n(.*?)^\]", section, re.MULTILINE | re.DOTALL):
        reasons = [line.partition("#")[2].strip() for line in packages.splitlines()]
        rows.append([f"`{name}`", EXTRAS.get(name) or "; ".join(filter(None, reasons))])
    return table(rows)


def _signature(thing: Any) -> str:
    """The parameters with their defaults, without types; none for a contract."""
    if inspect.isclass(thing) and ("_is_protocol" in vars(thing) or issubclass(thing, Exception)):
        return ""
    signature = inspect.signature(thing)
    bare = [
        p.replace(annotation=p.empty) for p in signature.parameters.values() if p.name not in HIDDEN
    ]
    shown = str(signature.replace(parameters=bare, return_annotation=signature.empty))
    return re.sub(r"<[^<>]*>", "…", shown)


def _doc(thing: Any) -> str:
    return _paragraphs(inspect.getdoc(thing) or "")


def _first(text: str) -> str:
    """The first paragraph on one line."""
    return " ".join(text.split("\n\n", maxsplit=1)[0].split())


def _paragraphs(text: str) -> str:
    """A docstring as Markdown; indented text becomes a block."""
    return INDENTED.sub(lambda block: f"{_fence(block[1])}\n\n", f"\n\n{text}\n").strip()


def _fence(text: str) -> str:
    return f"```text\n{dedent(text).strip(chr(10))}\n```"


TABLES: dict[str, Callable[[], str]] = {
    "commands": commands,
    "algorithms": algorithms,
    "columns": columns,
    "api": api,
    "extras": extras,
}
