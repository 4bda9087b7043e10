"""The options of a launcher as a user types them, and the hosts that they name."""

import os
import shutil
import socket
from collections.abc import Sequence
from pathlib import Path

from .._core import InputError
from .allocation import tasks_on_nodes
from .launcher import names_hosts
from .mpi import Placement, recognise
from .preloading import is_launcher
from .programs import said_by

_HERE = {"localhost", "127.0.0.1", "::1"}
_REMOTE = {"ssh", "rsh", "pdsh", "blaunch", "jsrun"}


def options_of(words: Sequence[str], known: Placement) -> tuple[list[list[str]], list[str]]:
    """The options, each with its values, and the words of the program. ``words``: after the launcher."""
    options, at = [], 0
    while at < len(words) and words[at].startswith("-"):
        name = words[at].lstrip("-")
        count = 0 if "=" in name or name in known.flags else 2 if name in known.pairs else 1
        options.append([*words[at : at + 1 + count]])
        at += 1 + count
    return options, [*words[at:]]


def hosts_of(options: Sequence[Sequence[str]], known: Placement) -> set[str]:
    """The hosts that the options name; empty if they name none. Raises InputError if a file cannot be read."""
    for group in options:
        name = group[0].lstrip("-")
        if name in known.hosts and len(group) > 1:
            return {host.partition(":")[0] for host in group[1].split(",")}
        if name in known.hostfiles and len(group) > 1:
            return _hosts_in(Path(group[1]))
    return set()


def _hosts_in(path: Path) -> set[str]:
    try:
        lines = [line.partition("#")[0].split() for line in path.read_text().splitlines()]
    except (OSError, UnicodeDecodeError) as e:
        raise InputError(f"the file with hosts {path} cannot be read: {e}") from None
    return {words[0].partition(":")[0] for words in lines if words}


def why_elsewhere(command: Sequence[str]) -> str:
    """Why the command may run on other machines than this one, as a clause; empty if it runs here."""
    if remote := next((word for word in command if Path(word).name in _REMOTE), ""):
        return f"{remote} runs it on another machine"
    place = next((k for k, word in enumerate(command) if is_launcher(word) or Path(word).name == "srun"), None)
    if place is None:
        return ""
    if len(tasks_on_nodes()) > 1:
        return f"this job has {len(tasks_on_nodes())} nodes"
    if "SLURM_JOB_ID" in os.environ and "SLURMD_NODENAME" not in os.environ:
        return "the node of this job is another machine"
    if others := sorted(_named(command[place], command[place + 1 :]) - _names_of_this_machine()):
        return f"{command[place]} starts it on {', '.join(others)}"
    return "a variable names a file of hosts" if names_hosts(os.environ) else ""


def _named(launcher: str, words: Sequence[str]) -> set[str]:
    program = shutil.which(launcher)
    mpi = recognise(said_by(program, "--version")) if program and is_launcher(launcher) else None
    if mpi is None or mpi.placement is None:
        return set()
    return hosts_of(options_of(words, mpi.placement)[0], mpi.placement)


def _names_of_this_machine() -> set[str]:
    name = socket.gethostname()
    return {*_HERE, name, name.partition(".")[0]}
