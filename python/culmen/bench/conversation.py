"""Talks to a native benchmark. Each command and each answer is one line. See src/mpibench/main.c and src/rawbench."""

import os
import queue
import re
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import TypeVar

from ..launch.supervision import end_with_parent

_END_S, _LAST_WORDS_S = 10.0, 1.0
_Self = TypeVar("_Self", bound="Conversation")


class RefusedError(RuntimeError):
    """The MPI or the benchmark refuses a call; the ranks continue."""


class LostError(RuntimeError):
    """The ranks ended, or did not answer in time. ``said``: what they and their launcher printed."""

    def __init__(self, text: str, said: str = "") -> None:
        super().__init__(text)
        self.said = said


class Conversation:
    """``environment``: in addition to that of this process. ``timeout_s``: the longest time for an answer.
    ``ranks``: the processes of the program. Use it in a ``with`` statement, which ends the program; ``bad_end`` then
    says what was wrong with its end.

    Raises LostError if the program does not start, or with another number of ranks.
    """

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], timeout_s: float, ranks: int = 2
    ) -> None:
        self.ranks, self._timeout_s = ranks, timeout_s
        self._process = subprocess.Popen(
            command,
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            preexec_fn=end_with_parent,
        )
        self._answers: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._said: list[str] = []
        self._readers = [threading.Thread(target=each, daemon=True) for each in (self._read, self._listen)]
        for each in self._readers:
            each.start()
        self.version = self.library = self.bad_end = ""

    def __enter__(self: _Self) -> _Self:
        try:
            size, version = self._answer().split(maxsplit=1)
            if int(size) != self.ranks:
                raise LostError(
                    f"the launcher started {self.ranks} programs of {size} ranks each: it is of another MPI"
                )
        except BaseException:
            self._end()
            raise
        self.version, self.library = short_version(version), version
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def time_messages(self, size: int, calls: int) -> list[float]:
        """Half of the time of each round trip between two processes, in seconds. ``size``: bytes."""
        return [1e-9 * int(word) for word in self._ask(f"pingpong - {size} {calls}").split()]

    def nodes(self) -> tuple[int, int]:
        """The number of nodes that the processes are on, and the most of them on one node."""
        return 1, self.ranks

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
        for each in self._readers:
            each.join(_LAST_WORDS_S)
        said = next((line.strip() for line in self._said if line.strip(" -\n")), "")
        return LostError(f"the ranks ended{': ' + said if said else ''}", "".join(self._said))

    def _read(self) -> None:
        """Reads the lines of the benchmark. An empty answer stands for the end."""
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
        """Asks the ranks to end, then ends them."""
        assert self._process.stdin is not None
        with suppress(OSError):  # Open MPI 5 does not tell the ranks that the input has ended, so they need the word
            self._process.stdin.write("end\n")
            self._process.stdin.flush()
        with suppress(OSError):
            self._process.stdin.close()
        for number in (None, signal.SIGTERM, signal.SIGKILL):
            if number is not None:
                self._process.send_signal(number)
            with suppress(subprocess.TimeoutExpired):
                code = self._process.wait(_END_S)
                if number is not None:
                    self.bad_end = f"at their end, the ranks hung for {_END_S:g} s"
                elif code:
                    self.bad_end = f"at their end, the ranks failed with exit code {code}"
                return


def short_version(text: str) -> str:
    """The name and the version, from the long text with which an MPI describes itself."""
    found = re.match(r"(Open MPI|MPICH|Intel\(R\) MPI Library)\D*([\d.]+\w*)", text)
    return f"{found[1]} {found[2]}" if found else text[:40]


def _reason(text: str) -> str:
    """MPICH prints a stack of errors. The last one gives the reason, unless the text was cut off."""
    if "error stack:" not in text:
        return text
    last = re.split(r"\w+\(\d+\)\.*:?", text)[-1].strip(" .")
    return last or "the MPI refuses the algorithm"
