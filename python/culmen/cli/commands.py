"""The commands: for each its line of help, and the module that is loaded when it is typed.

The command NAME is the function NAME in the module NAME of this folder. The function's arguments are the command's.
"""

from importlib import import_module
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

EXIT_CODES = """
Exit codes: 0 the study reached its end (or its wall time), 1 an error during the run, or every evaluation failed,
2 bad input, nothing was evaluated, 75 stopped before the end by Ctrl-C, SIGTERM, SIGHUP or SIGUSR1:
`culmen resume` goes on.
"""


class Entry(NamedTuple):
    help: str
    codes: bool = False  # its help ends with the exit codes
    rest: bool = False  # what follows its own options is another command line


COMMANDS = {
    "init": Entry("Write a commented study file and a small model to begin with."),
    "check": Entry("Explain a study file, try it, name its mistakes and its cost.", codes=True),
    "run": Entry("Run a study, on local workers or on the ranks of MPI.", codes=True),
    "resume": Entry(
        "Go on with a study that was stopped or killed. Nothing that was finished is done again.", codes=True
    ),
    "status": Entry("Show how far a study is; also while it runs."),
    "report": Entry("Write all about a study on one HTML page; also while it runs."),
    "export": Entry("Write all evaluations as CSV, JSON or Parquet. Also while the study runs."),
    "compare": Entry("Show two studies beside each other, and how they differ."),
    "errors": Entry(
        "Show the errors of the best parameters. Further evaluations find them, once; the store keeps them."
    ),
    "launch": Entry("Run a culmen command, or another program, under MPI.", rest=True),
    "optimizers": Entry("List the optimizers: what each is for, its needs and options."),
    "schema": Entry("Print the JSON schema of study files, for editors."),
    "include": Entry('Print the folder of <culmen/evaluator.h>. For compilers: cc -I"$(culmen include)".'),
}


def load(name: str) -> Any:
    """The command with its options: this loads its module, and what that needs."""
    entry = COMMANDS[name]
    one = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    rest = {"allow_extra_args": True, "ignore_unknown_options": True, "allow_interspersed_args": False}
    function = getattr(import_module(f".{name}", __package__), name)
    register = one.command(
        name,
        help=entry.help,
        epilog=EXIT_CODES if entry.codes else None,
        context_settings=rest if entry.rest else None,
    )
    register(function)
    return typer.main.get_command(one)


class Unloaded(TyperCommand):
    """A command until it is typed: a name and a help."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        return load(str(self.name)).make_context(info_name, args, parent, **extra)


class Commands(TyperGroup):
    """All of them, unloaded."""

    def __init__(self, **attributes: Any) -> None:
        attributes["commands"] = {name: Unloaded(name=name, help=entry.help) for name, entry in COMMANDS.items()}
        super().__init__(**attributes)
