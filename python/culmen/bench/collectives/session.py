"""A launch of the native benchmark, which measures one collective after another. See src/mpibench/collectives.c."""

import os
import queue
import re
import signal
import subprocess
import threading
from contextlib import suppress
from types import TracebackType

from ..._core import InputError
from ...launch.launcher import cores, situations
from ...launch.mpi import Launcher
from ...launch.mpi.collectives import Algorithm
from ...launch.programs import own_program
from ...launch.supervision import end_with_parent

_END_S = 10.0


class RefusedError(RuntimeError):
    """The MPI, or the benchmark, refuses a call; the ranks go on."""


class LostError(RuntimeError):
    """The ranks ended, or did not answer in time."""


class Session:
    """``timeout_s``: the longest time for an answer. Use it in a ``with`` statement, which ends the ranks.

    Raises InputError if culmen was built without this MPI, LostError if the ranks cannot be started.
    """

    def __init__(self, launcher: Launcher, ranks: int, timeout_s: float) -> None:
        collectives = launcher.mpi.collectives
        if collectives is None:
            raise InputError(f"culmen does not know the algorithms of {launcher.mpi.title} yet")
        program = own_program(f"collectives_{launcher.mpi.module}")
        if not program.exists():
            raise InputError(
                f"culmen was built without {launcher.mpi.title}; build it where that MPI's mpicc is on PATH"
            )
        self._collectives, self._timeout_s = collectives, timeout_s
        self.ranks, self.oversubscribed = ranks, ranks > cores()
        words = situations(launcher, ranks, here=True)
        flags = [flag for each in words for flag in each.flags]
        environment = {**os.environ, **collectives.environment}
        for each in words:
            environment |= {name: value for name, value in each.environment.items() if name not in os.environ}
        self._command = [launcher.program, *flags, "-n", str(ranks), str(program)]
        self._process = subprocess.Popen(
            self._command,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            preexec_fn=end_with_parent,
        )
        self._answers: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._said: list[str] = []
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._listen, daemon=True).start()
        self._now: dict[str, int] = {}  # variables that were set
        self._usual: dict[str, int] = {}
        self._communicators: dict[str, int] = {}
        self.version = ""

    def __enter__(self) -> "Session":
        try:
            size, version = self._answer().split(maxsplit=1)
            if int(size) != self.ranks:
                raise LostError(
                    f"the launcher started {self.ranks} programs of {size} ranks each: it is of another MPI"
                )
        except BaseException:
            self._end()
            raise
        self.version = short_version(version)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def choose(self, collective: str, algorithm: Algorithm) -> int:
        """From now on, calls with the communicator that it returns use this algorithm."""
        key = f"{collective} {algorithm.name}"
        if not self._collectives.kept_by_communicator:
            usual = self._collectives.algorithms(collective)[0].variables
            self._set({**self._usual, **algorithm.variables})  # another collective may use this one
            self._usual |= usual
            return 0
        if key not in self._communicators:
            before = dict.fromkeys(algorithm.variables, 0)
            self._set(algorithm.variables)
            self._communicators[key] = int(self._ask("new"))
            self._set(before)
        return self._communicators[key]

    def check(self, collective: str, communicator: int, size: int, root: int) -> None:
        """One call. Raises RefusedError if the MPI refuses it or a result is wrong."""
        self._ask(f"check {collective} {communicator} {size} {root}")

    def time(
        self, collective: str, communicator: int, size: int, root: int, calls: int, window_s: float
    ) -> tuple[list[float], set[str]]:
        """The times of the calls in seconds, negative if a rank was late, and the functions of the MPI that ran in
        each call on each rank."""
        answer = self._ask(f"time {collective} {communicator} {size} {root} {calls} {round(1e9 * window_s)}").split()
        return [1e-9 * int(word) for word in answer[:calls]], set(answer[calls:])

    def compare_clocks(self) -> None:
        self._ask("clock")

    def _set(self, variables: dict[str, int]) -> None:
        for name, value in variables.items():
            if self._now.get(name) != value:
                self._ask(f"set {name} {value}")
                self._now[name] = value

    def _ask(self, words: str) -> str:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(words + "\n")
            self._process.stdin.flush()
        except OSError:
            raise self._lost() from None
        return self._answer()

    def _answer(self) -> str:
        try:
            line = self._answers.get(timeout=self._timeout_s)
        except queue.Empty:
            raise LostError(f"no answer within {self._timeout_s:g} s") from None
        if not line:
            raise self._lost()
        verdict, _, rest = line.strip().partition(" ")
        if verdict == "ok":
            return rest
        raise RefusedError(_reason(rest))

    def _lost(self) -> LostError:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_S)
        said = next((line.strip() for line in self._said if line.strip(" -\n")), "")
        return LostError(f"the ranks ended{': ' + said if said else ''}")

    def _read(self) -> None:
        """Lines of the benchmark; a last empty one."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith(("ok", "error")):
                self._answers.put(line)
            else:
                self._said.append(line)
        self._answers.put("")

    def _listen(self) -> None:
        assert self._process.stderr is not None
        self._said.extend(self._process.stderr)

    def _end(self) -> None:
        """Asks the ranks to end, then makes them."""
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()
        for number in (None, signal.SIGTERM, signal.SIGKILL):
            if number is not None:
                self._process.send_signal(number)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_END_S)
                return


class Ranks:
    """Sessions of one launch after the other: the next one starts when ranks were lost. Use it in a ``with`` statement.

    ``timeout_s``: as for Session.
    """

    def __init__(self, launcher: Launcher, ranks: int, timeout_s: float) -> None:
        self._launcher, self.number, self._timeout_s = launcher, ranks, timeout_s
        self._session: Session | None = None
        self.version = ""

    def __enter__(self) -> "Ranks":
        return self

    def __exit__(self, *_error: object) -> None:
        self.end()

    @property
    def session(self) -> Session:
        if self._session is None:
            self._session = Session(self._launcher, self.number, self._timeout_s).__enter__()
            self.version = self._session.version
        return self._session

    def end(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            session.__exit__(None, None, None)


def short_version(text: str) -> str:
    """Of the long text that an MPI says of itself."""
    found = re.match(r"(Open MPI|MPICH|Intel\(R\) MPI Library)\D*([\d.]+\w*)", text)
    return f"{found[1]} {found[2]}" if found else text[:40]


def _reason(text: str) -> str:
    """MPICH gives a stack of errors: the last one says why, unless the text was cut off before."""
    if "error stack:" not in text:
        return text
    last = re.split(r"\w+\(\d+\)\.*:?", text)[-1].strip(" .")
    return last or "the MPI refuses the algorithm"
