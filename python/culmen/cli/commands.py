"""The commands: for each its line of help, and the module that is loaded when it is typed.

The command NAME is the function NAME in the module NAME of this folder. The function's arguments are the command's. A
group of commands is a module, too: each of its members is a function there.
"""

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple, get_args

import typer
from typer.core import TyperCommand, TyperGroup

EXIT_CODES = """\b
Exit codes:
  0   the study has finished, or the run has reached its wall time
  1   an error occurred during the run, or every evaluation failed
  2   the input was wrong, and nothing was evaluated
  75  Ctrl-C or a signal stopped the study; `culmen resume` continues it
"""
CODES_OF_CHECK = """\b
Exit codes:
  0   the study file is correct
  1   all trial evaluations failed
  2   the study file has mistakes
  75  Ctrl-C or a signal stopped the trial evaluations
"""
CODES_OF_BENCH = """\b
Exit codes:
  0   all points were measured
  1   at least one point failed
  2   the input was wrong, and nothing was measured
  75  Ctrl-C or a signal stopped the command; the same command continues the measurement
"""
CODES_OF_BUILD = """\b
Exit codes:
  0   the programs are built
  2   the input was wrong, or culmen could not build the sources
"""
CODES_OF_WORKER = """\b
Exit codes:
  0   the study has ended, or you ended the command with Ctrl-C or a signal
  1   the connection failed, or the evaluator does not work on this machine
  2   the input was wrong, or the run refused the workers
"""
CODES_OF_PROFILE = """\b
Exit codes:
  2   the input was wrong
  In all other cases, the exit code is that of the program.
"""
CODES_OF_AUTOTUNE = """\b
Exit codes:
  2   the input was wrong, or the program left no tuning file
  75  with --validate: Ctrl-C or a signal stopped the command
  In all other cases, the exit code is that of the program.
"""
CODES_OF_APP = """\b
Exit codes:
  0   the program was tuned, or there was nothing to tune
  1   at least one point failed
  2   the input was wrong, or the program failed
  75  Ctrl-C or a signal stopped the command; the same command continues the measurement
"""
CODES_OF_COMMAND = """\b
Exit codes:
  0   the search has finished, even if it found no better settings
  2   the input was wrong, or the program failed with the present settings
  75  Ctrl-C or a signal stopped the command; the same command continues
"""
CODES_OF_HPL = """\b
Exit codes:
  0   the search has finished, even if it found no better settings
  2   an option was wrong, or HPL failed with the present settings
  75  Ctrl-C or a signal stopped the command; the same command continues
"""
CODES_OF_IOBUF = """\b
Exit codes:
  2   the input was wrong
  In all other cases, the exit code is that of the program.
"""
CODES_OF_LINT = """\b
Exit codes:
  0   the file has no mistakes
  1   the file has mistakes
  2   the input was wrong, and nothing was checked
"""
CODES_OF_INSTALL = """\b
Exit codes:
  0   the rules are installed
  2   the input was wrong, and nothing was changed
"""
CODES_OF_MODEL = """\b
Exit codes:
  0   the models were made
  2   the input was wrong, and nothing was written
"""
CODES_OF_SELECT = """\b
Exit codes:
  0   culmen has predicted an algorithm
  2   the input was wrong, and nothing was predicted
"""
CODES_OF_SIMULATE = """\b
Exit codes:
  0   the simulation has finished
  1   an error occurred during the simulation
  2   the input was wrong, and nothing was simulated
  75  Ctrl-C or a signal stopped the simulation
"""
AFTER_DASHES = "[OPTIONS] [-- OPTIONS OF mpiexec]"  # a usage


class Entry(NamedTuple):
    help: str
    codes: str = ""  # its help ends with these exit codes
    rest: bool = False  # its arguments end with another command line
    usage: str = "[OPTIONS] -- COMMAND [ARGUMENTS]…"  # its words, with ``rest``
    members: dict[str, "Entry"] | None = None  # it is a group of these commands
    also: dict[str, "Entry"] | None = None  # first words that make it another command


COMMANDS = {
    "init": Entry("Write a first study file and a small example of an evaluator."),
    "check": Entry("Check and explain a study file, and run trial evaluations.", codes=CODES_OF_CHECK),
    "run": Entry("Run a study and write its store.", codes=EXIT_CODES),
    "resume": Entry(
        "Continue a study that was stopped or killed. culmen does not repeat finished evaluations.", codes=EXIT_CODES
    ),
    "status": Entry("Show the progress of a study. This command also works while the study runs."),
    "report": Entry("Write a report about a study: one HTML page. This command also works while the study runs."),
    "images": Entry(
        "Write the plots of an HTML report as SVG, PNG or PDF files. The page can also come from another command of "
        "culmen."
    ),
    "export": Entry(
        "Write all evaluations into a table, or copy the store. The table is in CSV, JSON or Parquet. This command "
        "also works while the study runs."
    ),
    "rescue": Entry("Copy the readable part of a damaged store into a new store."),
    "compare": Entry("Compare the results and the settings of two studies."),
    "errors": Entry(
        "Show the errors (uncertainties) of the best parameters. If the store does not contain the errors yet, culmen "
        "computes and stores them."
    ),
    "launch": Entry(
        "Run a culmen command or another program under MPI. Example: culmen launch -n 9 run STUDY.toml",
        rest=True,
        usage="[OPTIONS] COMMAND [ARGUMENTS]…",
    ),
    "simulate": Entry("Show how long a study would take on a larger cluster.", codes=CODES_OF_SIMULATE),
    "worker": Entry(
        "Start workers on this machine for a run on another machine. You must have started this run with `--listen`.",
        codes=CODES_OF_WORKER,
    ),
    "bench": Entry(
        "Measure transports, messages and MPI collectives.",
        members={
            "transport": Entry(
                "Measure for each transport the share of the time in which the workers evaluate. A transport is a way "
                "to send messages between the master and the workers. Write a table and plots. The same command "
                "continues an interrupted measurement.",
                codes=CODES_OF_BENCH,
            ),
            "collectives": Entry(
                "Measure each algorithm of the collectives of an MPI. Write a table and plots. The same "
                "command continues an interrupted measurement.",
                codes=CODES_OF_BENCH,
            ),
            "pingpong": Entry(
                "Measure how long messages between two processes take. The messages use TCP, Unix sockets, shared "
                "memory, or a transport of an MPI. Write a table and plots.",
                codes=CODES_OF_BENCH,
            ),
            "build": Entry(
                "Build the OSU Micro-Benchmarks or the Intel MPI Benchmarks. culmen uses the compilers of an MPI. "
                "`culmen bench collectives --with FOLDER` can then use the built programs.",
                codes=CODES_OF_BUILD,
            ),
        },
    ),
    "model": Entry(
        "Fit models to measured times of MPI, and use these models.",
        members={
            "fit": Entry(
                "Fit models to the table of `culmen bench collectives`. The models consist of straight lines: the time "
                "against the message size, or against the number of ranks. Write a table of coefficients and plots.",
                codes=CODES_OF_MODEL,
            ),
            "select": Entry(
                "Predict which algorithm of a collective is the fastest. Example: culmen model select --collective "
                "bcast --ranks 48 --size 64K FILE.csv",
                codes=CODES_OF_SELECT,
            ),
        },
    ),
    "profile": Entry(
        "Run an MPI program and show its time in MPI functions. Example: culmen profile -- mpiexec -n 4 ./app. "
        "`culmen profile report FOLDER` shows a profile again.",
        codes=CODES_OF_PROFILE,
        rest=True,
        also={"report": Entry("Show a profile again. With some of the options, show only a part of the MPI calls.")},
    ),
    "autotune": Entry(
        "Run an MPI program and tune its collectives while it runs. Example: culmen autotune -- mpiexec -n 4 ./app. "
        "culmen tries the algorithms in the calls of the program, and then uses the fastest one.",
        codes=CODES_OF_AUTOTUNE,
        rest=True,
    ),
    "iobuf": Entry(
        "Run a program, and buffer its small reads and writes. Example: culmen iobuf -- ./app. You need not "
        "change the program. The content of its files remains the same.",
        codes=CODES_OF_IOBUF,
        rest=True,
    ),
    "tune": Entry(
        "Find faster settings of any program, or of an MPI.",
        members={
            "app": Entry(
                "Tune the MPI collectives that take much of the time of one program. Write a tuning file. Compare runs "
                "with and without the tuning file. Example: culmen tune app -- mpiexec -n 4 ./app",
                codes=CODES_OF_APP,
                rest=True,
            ),
            "cluster": Entry(
                "Tune the collectives of an MPI on this cluster. Find the message sizes and numbers of ranks for which "
                "another algorithm is faster than the MPI's own choice. Write a tuning file, a table and plots. The "
                "same command continues an interrupted measurement.",
                codes=CODES_OF_BENCH,
            ),
            "command": Entry(
                "Tune any program that a file describes. Find the settings with which the program is fastest, or with "
                "which another result of the program is best. Compare runs with your present settings and runs with "
                "the new settings. Example: culmen tune command app.toml",
                codes=CODES_OF_COMMAND,
            ),
            "convert": Entry(
                "Write the rules of a tuning file in another form. Example: culmen tune convert rules.conf --to "
                "openmpi-json",
            ),
            "hpl": Entry(
                "Tune HPL, the Linpack benchmark. Find the settings that reach the most GFLOPS on this machine. Write "
                "an input file with these settings. culmen passes words after -- to mpiexec. Example: culmen tune hpl "
                "--minutes 15",
                codes=CODES_OF_HPL,
                rest=True,
                usage=AFTER_DASHES,
            ),
            "install": Entry(
                "Make a tuning file the default of the MPI.",
                codes=CODES_OF_INSTALL,
            ),
            "io": Entry(
                "Tune how a program writes and reads files. Find the fastest hints for MPI-IO and, on Lustre, the "
                "fastest striping. Example: culmen tune io -- mpiexec -n 4 ./app {folder}",
                codes=CODES_OF_COMMAND,
                rest=True,
            ),
            "lint": Entry(
                "Explain the rules in a tuning file of Open MPI, MPICH or Intel MPI. Check whether Open MPI or MPICH "
                "obeys these rules.",
                codes=CODES_OF_LINT,
            ),
            "placement": Entry(
                "Tune where the ranks of a program run. Find the best numbers of ranks and threads, their cores and "
                "their memory. Print the best command line. Example: culmen tune placement -- mpiexec -n 4 ./app",
                codes=CODES_OF_COMMAND,
                rest=True,
            ),
        },
    ),
    "optimizers": Entry("List the optimizers and their options."),
    "schema": Entry("Print the JSON schema of study files. Editors can use it."),
    "include": Entry(
        'Print the folder that contains culmen/evaluator.h. Compilers need it: cc -I"$(culmen include)" FILE.c'
    ),
}


def load(name: str) -> Any:
    """The command with its options: this loads its module, and the modules that it needs."""
    entry, module = COMMANDS[name], import_module(f".{name}", __package__)
    if entry.members is None:
        command = _command(name, entry, getattr(module, name))
        others = {
            word: _command(f"{name} {word}", of, getattr(module, word)) for word, of in (entry.also or {}).items()
        }
        return _with_others(command, others) if others else command
    members = {each: _command(each, of, getattr(module, each)) for each, of in entry.members.items()}
    return TyperGroup(name=name, help=entry.help, commands=members, rich_markup_mode=None)


def _command(name: str, entry: Entry, function: Callable[..., None]) -> Any:
    one = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    rest = {"allow_extra_args": True, "ignore_unknown_options": name == "launch", "allow_interspersed_args": False}
    register = one.command(
        name,
        help=entry.help,
        epilog=entry.codes or None,
        context_settings=rest if entry.rest else None,
    )
    register(function)
    command = typer.main.get_command(one)
    if entry.rest:
        command.options_metavar = entry.usage
    if entry.usage == AFTER_DASHES:
        _refuse_before_dashes(command)
    _take_exponents(command, function)
    return command


def _refuse_before_dashes(command: Any) -> None:
    """Otherwise, ``3 --dry-run`` would start a program."""
    own = command.parse_args

    def parse_args(context: Any, args: list[str]) -> Any:
        before = [*args]
        rest = own(context, args)
        if context.args and before[-len(context.args) - 1 :][:1] != ["--"]:
            context.fail(f"unexpected '{context.args[0]}'; write words for mpiexec after --")
        return rest

    command.parse_args = parse_args


def _with_others(command: Any, others: dict[str, Any]) -> Any:
    """The command, or one of the others if the first word is its name."""
    own = command.make_context

    def make_context(info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        if args and args[0] in others:
            return others[args[0]].make_context(f"{info_name} {args[0]}", args[1:], parent, **extra)
        return own(info_name, args, parent, **extra)

    command.make_context = make_context
    return command


def _take_exponents(command: Any, function: Callable[..., None]) -> None:
    """1e4 is a whole number, as in a study file."""
    declared = inspect.signature(function).parameters
    for parameter in command.params:
        kind = get_args(declared[parameter.name].annotation)[0]
        if int in (kind, *get_args(kind)):
            parameter.process_value = _with_exponents(parameter.process_value)


def _with_exponents(process: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda context, given: process(context, _without_exponent(given))


def _without_exponent(given: Any) -> Any:
    """Leaves other numbers unchanged, because a float would lose digits of large ones."""
    if not isinstance(given, str) or "e" not in given.lower():
        return given
    try:
        number = float(given)
    except ValueError:
        return given
    return int(number) if number.is_integer() else given


class Unloaded(TyperCommand):
    """A command before it is typed: a name and a help."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        return load(str(self.name)).make_context(info_name, args, parent, **extra)


class Commands(TyperGroup):
    """All commands, not loaded."""

    def __init__(self, **attributes: Any) -> None:
        attributes["commands"] = {name: Unloaded(name=name, help=entry.help) for name, entry in COMMANDS.items()}
        super().__init__(**attributes)
