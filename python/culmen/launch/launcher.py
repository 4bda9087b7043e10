"""``culmen launch``: finds the MPI, adds the flags that it needs, prints the full mpiexec line and runs it."""

import contextlib
import ctypes
import os
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from .. import _core
from ..base.signals import STOP_SIGNALS, handling
from ..base.text import did_you_mean
from .mpi import Launcher, LauncherError, Words, find_launcher

_RANK_ZERO = (b"OMPI_COMM_WORLD_RANK=0", b"PMI_RANK=0")
_ALLOCATIONS = ("SLURM_JOB_ID", "LSB_JOBID", "PBS_JOBID")
_PR_SET_PDEATHSIG = 1
_COMMAND_FOR = {".toml": "run", ".db": "resume"}
_SHARED_MEMORY = "/dev/shm"  # noqa: S108
_LAUNCH_STARTS_S = 10  # looks for rank 0 are at most that far apart; then it is on another node
_WORKERS_END_S = 0.1  # after rank 0 is gone
_NAP_CHECK_S = 0.02


def launch(n: int, arguments: list[str], commands: list[str], mpi: str | None = None, dry_run: bool = False) -> int:
    """Runs ``culmen ARGUMENTS``, or another program, as n ranks. ``commands``: those that culmen has.

    Returns the master's exit code (128 + signal: the launcher was killed).
    """
    try:
        launcher = find_launcher(mpi or _mpi_of_environment())
    except LauncherError as error:
        raise _core.InputError(str(error)) from None
    situations = _situations(launcher, n)
    added = {name: value for words in situations for name, value in words.environment.items()}
    environment = {name: value for name, value in added.items() if name not in os.environ}
    if _mpi_of_environment() == launcher.mpi.name != launcher.mpi.module:
        environment["CULMEN_MPI"] = launcher.mpi.module  # the ranks know modules, not every MPI's name
    flags = [flag for words in situations for flag in words.flags]
    command = [launcher.program, *flags, "-n", str(n), *_rank_command(n, arguments, commands)]
    print(shlex.join([*(f"{name}={value}" for name, value in environment.items()), *command]), flush=True)
    if not _has_module(launcher):
        print(
            f"culmen: warning: there is no module for {launcher.mpi.title} (libculmen_mpi_{launcher.mpi.module}.so); "
            f"build culmen with -DCULMEN_MPICC=<its mpicc>",
            file=sys.stderr,
        )
    return 0 if dry_run else _run(command, environment, launcher.mpi.naps)


def _rank_command(n: int, arguments: list[str], commands: list[str]) -> list[str]:
    """A culmen command, or any program whose ranks meet in ``minimize``."""
    if "CULMEN_EXECUTABLE" in os.environ:
        return [_core.find_executable(), *arguments]
    if not arguments:
        raise _core.InputError(f"nothing to launch is given; as in `culmen launch -n {n} run STUDY.toml`")
    word = arguments[0]
    if word in commands or word.startswith("-"):
        return [_core.find_executable(), *arguments]
    if Path(word).suffix in _COMMAND_FOR:
        command = f"culmen launch -n {n} {_COMMAND_FOR[Path(word).suffix]} {shlex.quote(word)}"
        raise _core.InputError(f"'{word}' is no command; `{command}` is wanted")
    program = shutil.which(word)
    if program is None:
        raise _core.InputError(_not_launched(word, n, commands))
    return [program, *arguments[1:]]


def _not_launched(word: str, n: int, commands: list[str]) -> str:
    if Path(word).suffix == ".py":
        return f"'{word}' is not a program; `culmen launch -n {n} python {shlex.quote(word)}` is wanted"
    near = did_you_mean(word, commands) or "; `culmen --help` lists the commands"
    return f"'{word}' is neither a command of culmen nor a program{near}"


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
        if n * mpi.shm_bytes_per_rank > _free_shm():
            situations.append(mpi.small_shm)
    return situations


def _free_shm() -> int:
    try:
        state = os.statvfs(_SHARED_MEMORY)
    except OSError:
        return 0
    return state.f_bavail * state.f_frsize


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


def _run(command: list[str], environment: dict[str, str], naps: bool) -> int:
    """The launcher runs in a session of its own, out of reach of the terminal's Ctrl-C.

    Open MPI would kill its ranks a moment after it, and Hydra loses the exit code. A signal goes to the master alone,
    which ends the study cleanly; the next one goes to the launcher, which ends everything; a third kills the launcher.
    """
    mark = f"{os.getpid()}.{time.monotonic_ns()}"
    said = Path(tempfile.gettempdir(), f"culmen-launch-{mark}")
    child: subprocess.Popen | None = None
    seen: list[int] = []

    def forward(number: int, _frame: FrameType | None) -> None:
        seen.append(number)
        if child is None:
            raise KeyboardInterrupt
        master = None if len(seen) > 1 else _rank_zero(f"CULMEN_LAUNCH={mark}")
        os.kill(master or child.pid, signal.SIGTERM if len(seen) < 3 else signal.SIGKILL)

    with handling(STOP_SIGNALS, forward):
        child = subprocess.Popen(
            command,
            env={**os.environ, **environment, "CULMEN_LAUNCH": mark, "CULMEN_LAUNCH_CODE": str(said)},
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=_end_with_parent,
        )
        if naps:
            threading.Thread(target=_keep_awake, args=(child.pid, mark), daemon=True).start()
        code = child.wait()
    with contextlib.suppress(OSError, ValueError):
        code = int(said.read_text())
        said.unlink()
    return 128 - code if code < 0 else code


def _keep_awake(launcher_pid: int, mark: str) -> None:
    """Wakes a launcher that sleeps for seconds after a failure of rank 0, as soon as its ranks had time to end."""
    with contextlib.suppress(OSError), _pidfd(launcher_pid) as launcher:
        master = _awaited_rank_zero(launcher, mark)
        if master is None:
            return
        with _pidfd(master) as fd:
            _ended(fd, None)
        pause_s = _WORKERS_END_S
        while not _ended(launcher, pause_s):
            signal.pidfd_send_signal(launcher, signal.SIGCHLD)
            pause_s = _NAP_CHECK_S


def _awaited_rank_zero(launcher: int, mark: str) -> int | None:
    """None where the launcher ended before it was seen."""
    pause_s = 0.1
    while pause_s < _LAUNCH_STARTS_S and not _ended(launcher, pause_s):
        if master := _rank_zero(f"CULMEN_LAUNCH={mark}"):
            return master
        pause_s *= 1.5
    return None


@contextlib.contextmanager
def _pidfd(pid: int) -> Iterator[int]:
    fd = os.pidfd_open(pid)
    try:
        yield fd
    finally:
        os.close(fd)


def _ended(pidfd: int, patience_s: float | None) -> bool:
    """Whether the process ended within this time; None: wait for it."""
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    return bool(poll.poll(None if patience_s is None else patience_s * 1000))


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
