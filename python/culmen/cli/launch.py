"""``culmen launch``: finds the MPI, adds the flags that it needs, prints the full mpiexec line and runs it."""

import ctypes
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType

from .. import _core
from ..mpi import Launcher, LauncherError, Words, find_launcher

_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_RANK_ZERO = (b"OMPI_COMM_WORLD_RANK=0", b"PMI_RANK=0")
_ALLOCATIONS = ("SLURM_JOB_ID", "LSB_JOBID", "PBS_JOBID")
_PR_SET_PDEATHSIG = 1


def launch(n: int, arguments: list[str], mpi: str | None = None, dry_run: bool = False) -> int:
    """Runs ``culmen ARGUMENTS`` as n ranks; returns the master's exit code (128 + signal: the launcher was killed)."""
    try:
        launcher = find_launcher(mpi or _mpi_of_environment())
    except LauncherError as error:
        raise _core.InputError(str(error)) from None
    situations = _situations(launcher, n)
    environment = {name: value for words in situations for name, value in words.environment.items()}
    flags = [flag for words in situations for flag in words.flags]
    command = [launcher.program, *flags, "-n", str(n), _core.find_executable(), *arguments]
    print(shlex.join([*(f"{name}={value}" for name, value in environment.items()), *command]), flush=True)
    if not _has_module(launcher):
        print(
            f"culmen: warning: there is no module for {launcher.mpi.title} (libculmen_mpi_{launcher.mpi.module}.so); "
            f"build culmen with -DCULMEN_MPICC=<its mpicc>",
            file=sys.stderr,
        )
    return 0 if dry_run else _run(command, environment)


def _mpi_of_environment() -> str | None:
    """CULMEN_MPI may also name a module for the ranks; that says nothing of launchers."""
    named = os.environ.get("CULMEN_MPI")
    return None if named and named.endswith(".so") else named


def _situations(launcher: Launcher, n: int) -> list[Words]:
    mpi = launcher.mpi
    situations = [mpi.always]
    if n > _cores():
        situations.append(mpi.oversubscribed)
    if os.geteuid() == 0:
        situations.append(mpi.root)
    if not any(name in os.environ for name in _ALLOCATIONS):
        situations.append(mpi.one_machine)
    return situations


def _cores() -> int:
    """Cores that this process may use; hardware threads of one core count once, as launchers do."""
    topology = "/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"
    cpus = os.sched_getaffinity(0)
    try:
        return len({Path(topology.format(cpu)).read_text() for cpu in cpus})
    except OSError:
        return len(cpus)


def _has_module(launcher: Launcher) -> bool:
    folder = os.environ.get("CULMEN_MODULE_DIR") or Path(_core.__file__).parent / "lib"
    return Path(folder, f"libculmen_mpi_{launcher.mpi.module}.so").exists()


def _run(command: list[str], environment: dict[str, str]) -> int:
    """The launcher runs in a session of its own, out of reach of the terminal's Ctrl-C.

    Open MPI would kill its ranks a moment after it, and Hydra loses the exit code. A signal goes to the master alone,
    which ends the study cleanly; the next one goes to the launcher, which ends everything.
    """
    mark = f"{os.getpid()}.{time.monotonic_ns()}"
    child: subprocess.Popen | None = None
    seen: list[int] = []

    def forward(number: int, _frame: FrameType | None) -> None:
        seen.append(number)
        if child is None:
            raise KeyboardInterrupt
        master = None if len(seen) > 1 else _rank_zero(f"CULMEN_LAUNCH={mark}")
        os.kill(master or child.pid, signal.SIGTERM)

    former = {number: signal.signal(number, forward) for number in _STOP_SIGNALS}
    try:
        child = subprocess.Popen(
            command,
            env={**os.environ, **environment, "CULMEN_LAUNCH": mark},
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=_end_with_parent,
        )
        code = child.wait()
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
    return 128 - code if code < 0 else code


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _rank_zero(mark: str) -> int | None:
    """The master's process: rank 0 of this launch, and no child of it. None before it is there, or on another node."""
    for folder in sorted(Path("/proc").glob("[0-9]*"), key=lambda folder: int(folder.name)):
        try:
            variables = (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if mark.encode() in variables and _is_rank_zero(variables):
            return int(folder.name)
    return None


def _is_rank_zero(variables: list[bytes]) -> bool:
    return any(rank in variables for rank in _RANK_ZERO) and not any(v.startswith(b"CULMEN_RUN=") for v in variables)
