"""One sentence for each mistake on a command line that typer finds."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..base.text import did_you_mean
from ..study_file import StudyFile, tables_in
from .commands import COMMANDS, load

_FILES = {".toml": "run", ".db": "resume"}
_WORDS = {  # words of other tools
    "check": ("validate", "test", "verify", "lint", "dry-run"),
    "compare": ("diff",),
    "export": ("csv", "dump", "save"),
    "init": ("new", "create", "start"),
    "launch": ("mpirun", "mpiexec", "srun"),
    "report": ("plot", "draw", "html", "view"),
    "resume": ("continue", "restart"),
    "run": ("execute", "fit", "minimize", "optimize", "optimise"),
    "status": ("show", "info", "list", "ls", "progress"),
}
_INSTEAD_OF_COMMANDS = {
    "help": "write `culmen --help`, or `culmen COMMAND --help`",
    "version": "write `culmen --version`",
    "profiles": "write `culmen errors STUDY.db --profile` for the profiles of a fit",
    "stop": "stop a run with Ctrl-C, or with `kill` and its process number",
    "kill": "stop a run with Ctrl-C, or with `kill` and its process number",
}
_INSTEAD_OF_OPTIONS = {
    ("export", "--digits"): "; an export has all digits",
    ("report", "--digits"): "; the report has ten digits, and `culmen export` writes all",
}
_OPTIONS = {  # options of other tools, and ours: the first one that the command has
    ("-n", "-j", "-w", "-np", "--jobs", "--cores", "--processes", "--nproc"): ("--workers", "-n", "--slots"),
    ("--workers",): ("--slots",),
    ("--force", "-f", "--clobber"): ("--force", "--overwrite"),
    ("--format", "--type"): ("--csv",),
    ("--out", "--outfile", "--file"): ("--output", "--store", "--html"),
    ("-v", "-V"): ("--version",),
    ("--budget", "--max-evaluations", "--trials", "--n-trials"): ("--evaluations",),
    ("--timeout", "--time"): ("--wall-time",),
    ("--level", "--cl", "--confidence-level"): ("--confidence",),
    ("--minos",): ("--profile",),
    ("--restart", "--new"): ("--overwrite", "--again"),
}
_COMPILED = "; write --kind library for a function in C, C++ or Fortran"
_KINDS = {  # other words for a kind of evaluator
    **dict.fromkeys(("c", "c++", "cpp", "cxx", "fortran", "f90", "so", "shared"), _COMPILED),
    **dict.fromkeys(("shell", "sh", "bash", "program", "exe", "external", "script"), "; write --kind command"),
}
_WANTED = {
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "greater_than": "above {gt:g}",
    "greater_than_equal": "at least {ge:g}",
    "less_than": "below {lt:g}",
    "less_than_equal": "at most {le:g}",
}


def sentence(error: Any) -> str:
    """The whole line. ``error``: a usage error of typer, from any module of its versions."""
    command = _command_of(error)
    if hasattr(error, "possibilities"):
        return _unknown_option(error.option_name, command)
    if hasattr(error, "param_type"):
        return _missing(error.param, command)
    if getattr(error, "param", None) is not None:
        return f"{_name(command)}: {_wrong_value(error)}"
    if hasattr(error, "option_name"):
        few = "needs 2 values" if "requires 2 arguments" in error.message else "needs a value"
        takes = "takes no value" if "not take" in error.message else few
        return f"{_name(command)}: {error.option_name} {takes}; `{_help(command)}` lists the options"
    if extra := re.search(r"unexpected extra arguments? *(?:\(s\))? *\((.*)\)", error.format_message()):
        output = f" -o {extra[1]}" if _has(command, "-o") and len(extra[1].split()) == 1 else ""
        return f"{_name(command)}: unexpected '{extra[1]}'; write `{_usage(command)}{output}`"
    if members := _members_of(command):
        unknown = re.search(r"No such command '(.*?)'", error.format_message())
        return _unknown_member(unknown[1] if unknown else "", command, members)
    if unknown := re.search(r"No such command '(.*?)'", error.format_message()):
        return _unknown_command(unknown[1])
    return f"{_name(command)}: {error.format_message()}"


def _command_of(error: Any) -> Any:
    """The typed click command, or None."""
    if error.ctx is not None:
        return error.ctx.command
    words = sys.argv[1:]
    command = next((load(word) for word in words if word in COMMANDS), None)
    member = next((word for word in words if word in _members_of(command)), None)
    return command.commands[member] if command is not None and member else command


def _members_of(command: Any) -> list[str]:
    """Of a group of commands."""
    return list(COMMANDS[command.name].members or {}) if command is not None and command.name in COMMANDS else []


def _unknown_command(word: str) -> str:
    if word in _INSTEAD_OF_COMMANDS:
        return f"culmen: '{word}' is not a command; {_INSTEAD_OF_COMMANDS[word]}"
    if Path(word).suffix in _FILES:
        return f"culmen: '{word}' is not a command; write `culmen {_FILES[Path(word).suffix]} {word}`"
    ours = next((f"; did you mean '{name}'?" for name, words in _WORDS.items() if word in words), "")
    near = ours or did_you_mean(word, list(COMMANDS))
    return f"culmen: there is no command '{word}'" + (near or "; `culmen --help` lists the commands")


def _unknown_member(word: str, group: Any, members: list[str]) -> str:
    if not word:
        return f"{_name(group)}: give a command: {', '.join(members)}"
    near = did_you_mean(word, members) or f"; there are: {', '.join(members)}"
    return f"{_name(group)}: there is no command '{word}'{near}"


def _unknown_option(given: str, command: Any) -> str:
    known = [name for parameter in command.params for name in parameter.opts if name.startswith("--")]
    near = (
        _of_other_tools(given, command)
        or _is_command(given, known)
        or _in_study_file(given.lstrip("-").replace("-", "_"))
        or did_you_mean(given, known)
        or _INSTEAD_OF_OPTIONS.get((command.name, given), "")
    )
    return f"{_name(command)}: there is no option '{given}'" + (near or f"; `{_help(command)}` lists the options")


def _of_other_tools(given: str, command: Any) -> str:
    ours = next((ours for theirs, ours in _OPTIONS.items() if given in theirs), ())
    return next((f"; did you mean '{name}'?" for name in ours if _has(command, name)), "")


def _is_command(given: str, known: list[str]) -> str:
    """Empty if ``given`` is also the beginning of an option: --worker more likely means --workers."""
    word = given.lstrip("-")
    if word not in COMMANDS or any(option.startswith(given) for option in known):
        return ""
    return f"; write `culmen {word}`, which is a command"


def _has(command: Any, option: str) -> bool:
    return any(option in parameter.opts for parameter in command.params)


def _in_study_file(key: str) -> str:
    """The place in the study file for a setting that is not an option."""
    tables = tables_in(StudyFile)
    if key in tables and key != "run":
        return f"; set it in the study file, in [{key}]"
    home = next((name for name, table in tables.items() if name != "space" and key in table.model_fields), None)
    return f"; set it in the study file, in [{home}]" if home else ""


def _missing(parameter: Any, command: Any) -> str:
    return f"{_name(command)}: {_shown(parameter)} is missing; write `{_usage(command)}`"


def _wrong_value(error: Any) -> str:
    name, cause = _shown(error.param), error.__cause__
    if words := re.search(r"('.*') is not one of (.*?)\.?$", error.message):
        given, *known = re.findall(r"'([^']*)'", f"{words[1]} {words[2]}")
        near = _KINDS.get(given.lower(), "") if name == "--kind" else ""
        near = near or did_you_mean(given, known)
        return f"{name} must be {', '.join(known[:-1])} or {known[-1]}, got {given}{near}"
    for wrong in cause.errors(include_url=False) if hasattr(cause, "errors") else ():
        if wrong["type"] in _WANTED:
            near = "; write -n instead of -np" if (name, wrong["input"]) == ("-n", "p") else ""
            return f"{name} must be {_WANTED[wrong['type']].format(**wrong.get('ctx', {}))}, got {wrong['input']}{near}"
    return f"{name}: {error.message}"


def _shown(parameter: Any) -> str:
    option = next((name for name in parameter.opts if name.startswith("-")), None)
    return str(option or parameter.metavar or parameter.name)


def _name(command: Any) -> str:
    if command is None or command.name in (None, "", "culmen"):
        return "culmen"
    group = next((f"{name} " for name, entry in COMMANDS.items() if command.name in (entry.members or {})), "")
    return f"culmen {group}{command.name}"


def _help(command: Any) -> str:
    return f"{_name(command)} --help"


def _usage(command: Any) -> str:
    return " ".join([_name(command), *_needed(command)])


def _needed(command: Any) -> Iterator[str]:
    if command.name == "launch":
        yield "-n 4 run STUDY.toml"
        return
    for parameter in command.params:
        if parameter.required:
            word = parameter.metavar or parameter.name.upper()
            yield f"{parameter.opts[0]} {word}" if parameter.opts[0].startswith("-") else word
