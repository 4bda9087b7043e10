"""A command line as a user types it: the launcher and its options, and the program."""

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..._core import InputError
from ...launch.allocation import tasks_on_nodes
from ...launch.mpi import Mpi, Placement, recognise
from ...launch.preloading import check_command, is_launcher
from ...launch.programs import said_by
from ...launch.typed_hosts import hosts_of, options_of
from .placed import HYPER, PER_NODE, PLACEMENT, RANKS, VARIABLE

EXAMPLE = "example: culmen tune placement -- mpiexec -n 4 ./app"
_OPENMP = ("libgomp.so", "libomp.so", "libiomp5.so", "libnvomp.so")
_THREADS = "OMP_NUM_THREADS"
_LOOKED_AT = 6  # number of words that are checked for OpenMP


@dataclass(frozen=True)
class Line:
    """``variables``: those of ``env A=1`` at the start of the line. ``before``: other words before the launcher.
    ``launcher``: empty for a program without ranks. ``options``: pairs of a role in placed.py and the words of an
    option. ``ranks``: number on each node. ``most_nodes``: number of nodes of the job. ``threads``: number for each
    rank; 0 if it is not given. ``openmp``: whether the program uses OpenMP, as far as culmen can see."""

    variables: dict[str, str]
    before: list[str]
    program: list[str]
    threads: int
    openmp: bool
    launcher: str = ""
    mpi: Mpi | None = None
    options: list[tuple[str, list[str]]] = field(default_factory=list)
    ranks: int = 1
    nodes: int = 1
    most_nodes: int = 1


def read_line(words: list[str]) -> Line:
    """Reads the words of a command. Raises InputError if culmen cannot place its ranks and threads."""
    variables, words = _without_env(words)
    if not words:
        raise InputError(f"a command after -- is missing; {EXAMPLE}")
    place = next((k for k, word in enumerate(words) if is_launcher(word)), None)
    if place is None and Path(words[0]).name == "srun":
        raise InputError("culmen does not know the options of srun; inside the job, write mpiexec instead of srun")
    check_command(words[place or 0 :])
    if place is None:
        threads = _number([os.environ.get(_THREADS, ""), variables.get(_THREADS, "")])
        return Line(variables, [], words, threads, threads > 0 or _uses_openmp(words))
    program = shutil.which(words[place])
    version = said_by(program, "--version") if program else ""
    mpi = recognise(version)
    if mpi is None or mpi.placement is None:
        name = mpi.title if mpi else (version.strip().splitlines() or ["nothing"])[0]
        raise InputError(f"culmen does not know the options of {words[place]}, which calls itself {name}")
    return _launched(variables, words[:place], words[place], words[place + 1 :], mpi)


def _without_env(words: list[str]) -> tuple[dict[str, str], list[str]]:
    """The variables of ``env A=1 B=2 PROGRAM``, and the words from the program on."""
    if not words or Path(words[0]).name != "env":
        return {}, words
    end = next((k for k, word in enumerate(words) if k and "=" not in word), len(words))
    if words[end : end + 1] and words[end].startswith("-"):
        raise InputError(
            f"culmen does not know the option {words[end]} of env; write only variables after env, as in "
            "env A=1 mpiexec -n 4 ./app, and run the rest before culmen"
        )
    return dict(word.split("=", 1) for word in words[1:end]), words[end:]


def _launched(variables: dict[str, str], before: list[str], launcher: str, words: list[str], mpi: Mpi) -> Line:
    known = mpi.placement
    assert known is not None
    options, program = _options(words, known)
    if not program:
        raise InputError(f"{launcher} is given no program; {EXAMPLE}")
    if ":" in program:
        raise InputError("culmen cannot place several programs (a colon between them); give one program")
    counts = [group[-1] for role, group in options if role == RANKS]
    if len(counts) != 1 or not counts[0].isdecimal() or int(counts[0]) < 1:
        raise InputError(f"{launcher} needs the number of ranks once, as -n N, so that culmen can vary it; {EXAMPLE}")
    ranks, nodes = int(counts[0]), _nodes([group for _, group in options], known)
    if ranks % nodes:
        raise InputError(f"{ranks} ranks cannot be shared out evenly to {nodes} nodes; give a multiple of {nodes}")
    if shutil.which(program[0]) is None:
        raise InputError(f"the program '{program[0]}' was not found; write its path")
    set_here = [group[-1].rpartition("=")[2] for role, group in options if role == f"{VARIABLE}{_THREADS}"]
    threads = _number([os.environ.get(_THREADS, ""), variables.get(_THREADS, ""), *set_here])
    openmp = threads > 0 or _uses_openmp(program)
    return Line(variables, before, program, threads, openmp, launcher, mpi, options, ranks // nodes, nodes, nodes)


def _options(words: list[str], known: Placement) -> tuple[list[tuple[str, list[str]]], list[str]]:
    """The options with their roles, and the words of the program."""
    options, program = options_of(words, known)
    return [(_role(group[0].lstrip("-").partition("=")[0], group, known), group) for group in options], program


def _role(name: str, group: list[str], known: Placement) -> str:
    if name in known.ranks:
        return RANKS
    if group == known.hyper_threads:
        return HYPER
    if (known.variable and name == known.variable[0].lstrip("-")) or name in ("env", "genv"):
        return VARIABLE + group[1].partition("=")[0] if len(group) > 1 else ""
    return PLACEMENT if name in known.replaced else PER_NODE if name in known.replaced_per_node else ""


def nodes_of(words: list[str], mpi: Mpi | None) -> int:
    """The number of nodes of a command. Raises InputError if its file with hosts cannot be read."""
    place = next((k for k, word in enumerate(words) if is_launcher(word)), None)
    if place is None or mpi is None or mpi.placement is None:
        return 1 if place is None else max(1, len(tasks_on_nodes()))
    return _nodes(options_of(words[place + 1 :], mpi.placement)[0], mpi.placement)


def _nodes(options: Sequence[Sequence[str]], known: Placement) -> int:
    return len(hosts_of(options, known)) or max(1, len(tasks_on_nodes()))


def _number(texts: list[str]) -> int:
    """The number in the last text that has one; 0 if none has. In a list such as 4,2, for nested regions, the first
    number counts."""
    first = [text.partition(",")[0].strip() for text in texts]
    return next((int(text) for text in reversed(first) if text.isdecimal()), 0)


def _uses_openmp(words: list[str]) -> bool:
    """Whether the program is linked with OpenMP. Words before it, such as ``numactl --localalloc``, are checked,
    too."""
    paths = [path for word in words[:_LOOKED_AT] if (path := shutil.which(word))]
    return any(name in said_by("ldd", path) for path in paths for name in _OPENMP)
