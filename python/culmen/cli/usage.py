"""What is wrong with the words of a command line: one sentence for each exception of typer."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..study_file import StudyFile, did_you_mean, tables_in

_FILES = {".toml": "run", ".db": "resume"}
_WANTED = {
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "greater_than": "a number above {gt:g}",
    "greater_than_equal": "a number not below {ge:g}",
    "less_than": "a number below {lt:g}",
    "less_than_equal": "a number not above {le:g}",
}


def sentence(error: Any) -> str:
    """The whole line. ``error``: a usage error of typer, by whatever module its version has it in."""
    command = _command_of(error)
    if hasattr(error, "possibilities"):
        return _unknown_option(error.option_name, command)
    if hasattr(error, "param_type"):
        return _missing(error.param, command)
    if getattr(error, "param", None) is not None:
        return f"{_name(command)}: {_wrong_value(error)}"
    if hasattr(error, "option_name"):
        takes = "takes no value" if "not take" in error.message else "needs a value"
        return f"{_name(command)}: {error.option_name} {takes}; `{_help(command)}` lists the options"
    if extra := re.search(r"unexpected extra arguments? *(?:\(s\))? *\((.*)\)", error.format_message()):
        return f"{_name(command)}: '{extra[1]}' is too much; `{_usage(command)}` is wanted"
    if unknown := re.search(r"No such command '(.*?)'", error.format_message()):
        return _unknown_command(unknown[1])
    return f"{_name(command)}: {error.format_message()}"


def _command_of(error: Any) -> Any:
    """The click command that was typed; None: not even that."""
    if error.ctx is not None:
        return error.ctx.command
    import typer

    from .app import app

    commands = getattr(typer.main.get_command(app), "commands", {})
    return next((commands[word] for word in sys.argv[1:] if word in commands), None)


def _unknown_command(word: str) -> str:
    from .app import command_names

    if word == "help":
        return "culmen: 'help' is no command; `culmen --help` is wanted, or `culmen COMMAND --help`"
    if Path(word).suffix in _FILES:
        return f"culmen: '{word}' is no command; `culmen {_FILES[Path(word).suffix]} {word}` is wanted"
    near = did_you_mean(word, command_names())
    return f"culmen: there is no command '{word}'" + (near or "; `culmen --help` lists the commands")


def _unknown_option(given: str, command: Any) -> str:
    known = [name for parameter in command.params for name in parameter.opts if name.startswith("--")]
    near = did_you_mean(given, known) or _in_study_file(given.lstrip("-").replace("-", "_"))
    return f"{_name(command)}: there is no option '{given}'" + (near or f"; `{_help(command)}` lists the options")


def _in_study_file(key: str) -> str:
    """Where it is said instead of on the command line."""
    tables = tables_in(StudyFile)
    if key in tables and key != "run":
        return f"; the study file says it, in [{key}]"
    home = next((name for name, table in tables.items() if name != "space" and key in table.model_fields), None)
    return f"; the study file says it, in [{home}]" if home else ""


def _missing(parameter: Any, command: Any) -> str:
    return f"{_name(command)}: {_shown(parameter)} is missing; `{_usage(command)}` is wanted"


def _wrong_value(error: Any) -> str:
    name, cause = _shown(error.param), error.__cause__
    if words := re.search(r"('.*') is not one of (.*?)\.?$", error.message):
        given, *known = re.findall(r"'([^']*)'", f"{words[1]} {words[2]}")
        return f"{name} {given}: {', '.join(known[:-1])} or {known[-1]} is wanted{did_you_mean(given, known)}"
    for wrong in cause.errors(include_url=False) if hasattr(cause, "errors") else ():
        if wrong["type"] in _WANTED:
            return f"{name} {wrong['input']}: {_WANTED[wrong['type']].format(**wrong.get('ctx', {}))} is wanted"
    return f"{name}: {error.message}"


def _shown(parameter: Any) -> str:
    option = next((name for name in parameter.opts if name.startswith("-")), None)
    return str(option or parameter.metavar or parameter.name)


def _name(command: Any) -> str:
    return f"culmen {command.name}" if command is not None and command.name != "culmen" else "culmen"


def _help(command: Any) -> str:
    return f"{_name(command)} --help"


def _usage(command: Any) -> str:
    return " ".join([_name(command), *_needed(command)])


def _needed(command: Any) -> Iterator[str]:
    if command.name == "launch":
        yield "-n 4 run STUDY.toml"
    for parameter in command.params:
        if not parameter.opts[0].startswith("-") and parameter.required:
            yield parameter.metavar or parameter.name.upper()
