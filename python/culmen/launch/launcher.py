"""``culmen launch``: finds the MPI, adds the flags that it needs, prints the full mpiexec line and runs it."""

import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from pathlib import Path

from .. import _core
from ..base.cpus import sockets_of, usable
from ..base.text import did_you_mean
from .hosts import ranks_on_hosts
from .mpi import Launcher, LauncherError, Words, find_launcher, load
from .mpi4py import variables_for_mpi4py
from .programs import own_library
from .supervision import End, supervise

_ALLOCATIONS = ("SLURM_JOB_ID", "LSB_JOBID", "PBS_JOBID")
_COMMAND_FOR = {".toml": "run", ".db": "resume"}
_LAUNCHER_FAILED = 255  # Hydra, if a rank is lost while ranks start or end. It then can also return _FAILED.
_FAILED = 1
_OF_LAUNCHERS = "SIGTERM"  # which they send to all other ranks when one has ended early
_SHARED_MEMORY = "/dev/shm"  # noqa: S108


def launch(
    n: int,
    arguments: list[str],
    commands: list[str],
    mpi: str | None = None,
    dry_run: bool = False,
    how_to_continue: Callable[[], str] = str,
    hosts: str | None = None,
) -> int:
    """Runs ``culmen ARGUMENTS``, or another program, as n ranks. ``commands``: the commands of culmen.

    Returns the master's exit code, or 128 + signal if the launcher was killed. ``how_to_continue``: a clause for the
    message about a lost rank. ``hosts``: see ranks_on_hosts().
    """
    try:
        launcher = find_launcher(mpi or _mpi_of_environment())
    except LauncherError as error:
        raise _core.InputError(str(error)) from None
    on_hosts = ranks_on_hosts(hosts, n) if hosts is not None else []
    words_of = situations(launcher, max((ranks for _, ranks in on_hosts), default=n), not on_hosts)
    added = {name: value for words in words_of for name, value in words.environment.items()}
    environment = {name: value for name, value in added.items() if name not in os.environ}
    environment |= variables_for_mpi4py(launcher.mpi.module, _module(launcher))
    if _mpi_of_environment() == launcher.mpi.name != launcher.mpi.module:
        environment["CULMEN_MPI"] = launcher.mpi.module  # ranks need the module's name, not the MPI's
    flags = [flag for words in words_of for flag in words.flags]
    if on_hosts:
        flags += [launcher.mpi.hosts, ",".join(f"{host}:{ranks}" for host, ranks in on_hosts)]
    environment["CULMEN_LAUNCH_SETS"] = ",".join(_set_by(environment, flags))
    rank_command = _rank_command(n, arguments, commands)
    command = [launcher.program, *flags, "-n", str(n), *rank_command]
    shown = {name: value for name, value in environment.items() if name != "CULMEN_LAUNCH_SETS"}
    print(shlex.join([*(f"{name}={value}" for name, value in shown.items()), *command]), flush=True)
    if not _module(launcher).exists():
        print(
            f"culmen: warning: there is no module for {launcher.mpi.title} (libculmen_mpi_{launcher.mpi.module}.so); "
            f"build culmen with -DCULMEN_MPICC=<its mpicc>",
            file=sys.stderr,
        )
    if dry_run:
        return 0
    end = supervise(command, environment, launcher.mpi, n)
    is_own = rank_command[0] == _core.find_executable()  # other programs may return _FAILED by themselves
    has_failed = end.code == _LAUNCHER_FAILED or (is_own and end.code == _FAILED)
    if end.signal or (end.lost and has_failed):
        print(f"culmen: {_loss(end)}, so {launcher.mpi.title} ended all ranks{how_to_continue()}", file=sys.stderr)
    return end.code


def _set_by(environment: Iterable[str], flags: list[str]) -> list[str]:
    """Variables that evaluators must not inherit: they choose the MPI of the ranks, and its network."""
    words = [f"OMPI_MCA_{name}" for flag, name in pairwise(flags) if flag in ("--mca", "-mca")]
    return [name for name in (*environment, *words) if name not in os.environ]


def _loss(end: End) -> str:
    early = "ended early (its own message is above, if it has written one)"
    if end.signal == _OF_LAUNCHERS and len(end.lost) != 1:
        return f"a rank {early}"
    if not end.lost:
        name = "a rank"
    elif len(end.lost) > 1:
        name = f"one of the ranks {', '.join(map(str, end.lost))}"
    else:
        name = "rank 0, the master," if end.lost == [0] else f"rank {end.lost[0]}"
    return f"{name} was killed by {end.signal}" if end.signal else f"{name} {early}"


def _rank_command(n: int, arguments: list[str], commands: list[str]) -> list[str]:
    """A culmen command, or any program whose ranks meet in ``minimize``."""
    if "CULMEN_EXECUTABLE" in os.environ:
        return [_core.find_executable(), *arguments]
    if not arguments:
        raise _core.InputError(f"give a command to launch, for example `culmen launch -n {n} run STUDY.toml`")
    word = arguments[0]
    if word in commands or word.startswith("-"):
        return [_core.find_executable(), *arguments]
    if Path(word).suffix in _COMMAND_FOR:
        command = f"culmen launch -n {n} {_COMMAND_FOR[Path(word).suffix]} {shlex.quote(word)}"
        raise _core.InputError(f"'{word}' is not a command; write `{command}`")
    program = shutil.which(word)
    if program is None:
        raise _core.InputError(_not_launched(word, n, commands))
    return [program, *arguments[1:]]


def _not_launched(word: str, n: int, commands: list[str]) -> str:
    if Path(word).suffix == ".py":
        return f"'{word}' is not a program; write `culmen launch -n {n} python {shlex.quote(word)}`"
    near = did_you_mean(word, commands) or "; `culmen --help` lists the commands"
    return f"'{word}' is neither a command of culmen nor a program{near}"


def _mpi_of_environment() -> str | None:
    """CULMEN_MPI may also be the path of a module for the ranks; then it names no launcher."""
    named = os.environ.get("CULMEN_MPI")
    return None if named and named.endswith(".so") else named


def names_hosts(environment: Mapping[str, str]) -> bool:
    """Whether a launcher with this environment has a file of hosts."""
    return any(mpi.host_file in environment for mpi in load())


def stays_here(environment: Mapping[str, str]) -> bool:
    """Whether a launcher starts ranks on this machine only, unless its options name hosts."""
    return not any(name in environment for name in _ALLOCATIONS) and not names_hosts(environment)


def situations(launcher: Launcher, n: int, here: bool) -> list[Words]:
    """Options that the launcher's command line needs. ``n``: ranks on a machine. ``here``: the launch is on this
    machine, unless there is an allocation or a file of hosts."""
    mpi = launcher.mpi
    out = [mpi.always]
    if n > cores():
        out.append(mpi.oversubscribed)
    if os.geteuid() == 0:
        out.append(mpi.root)
    if here and stays_here(os.environ):
        out.append(mpi.one_machine)
        if n * mpi.shm_bytes_per_rank > _free_shm():
            out.append(mpi.small_shm)
    return out


def _free_shm() -> int:
    try:
        state = os.statvfs(_SHARED_MEMORY)
    except OSError:
        return 0
    return state.f_bavail * state.f_frsize


def cores() -> int:
    """Cores that this process may use. Hardware threads of one core count once, as launchers count them."""
    cpus = usable()
    return sum(map(len, sockets_of(cpus))) or len(cpus)


def cores_of_sockets() -> list[int]:
    """Number of cores of each socket that this process may use; empty if the kernel does not tell."""
    return [len(cores) for cores in sockets_of(usable())]


def _module(launcher: Launcher) -> Path:
    return own_library(f"mpi_{launcher.mpi.module}")
