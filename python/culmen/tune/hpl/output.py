"""The output of HPL: a line with the result of each run, and whether its residual passed."""

import math
import re
from dataclasses import dataclass

from ..._core import InputError
from .scaling import BYTES

_RESULT = re.compile(
    r"^(W\S+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+([\d.eE+-]+)\s+([\d.eE+-]+)"
    r"[ \t]*(?:\([^)\n]*\)[ \t]*)?$",  # for GPUs, the rate of each of them follows
    re.MULTILINE,
)
_RESIDUAL = re.compile(r"^\|\|Ax-b\|\|.*=\s*(\S+)\s+\.+\s+(PASSED|FAILED)\s*$", re.MULTILINE)
_NOTHING = "it printed nothing"
_CLASS = re.compile(rf"^(evaluation \d+ failed: )?{re.escape(__name__)}\.HplError: ")
_MEMORY = "Memory allocation failed"
_NOT_GIVEN, _PROBABLY_SHORT = "HPL did not get the memory", "memory was probably short"
_KILLED = (9, 137, -9)  # exit codes of launchers whose rank was killed, and of a killed launcher


class HplError(InputError):
    """A run without a valid result."""


def reason_of(failure: str, program: str) -> str:
    """The reason in one line, from the message of a failed run of this program."""
    why = _CLASS.sub("", failure.splitlines()[0])
    if why.endswith(_NOTHING):
        return f"{program} printed nothing; is it HPL? Give the path of xhpl or hpcc with --program"
    return why


def failed_with(code: int, why: str) -> HplError:
    """``why``: a clause, or empty. The system kills programs if memory is short."""
    return HplError(f"HPL ended with exit code {code}{f'; {_PROBABLY_SHORT}' if code in _KILLED else ''}{why}")


def is_short_of_memory(message: str) -> bool:
    """Whether memory was short. ``message``: of an HplError, as a store keeps it."""
    return _NOT_GIVEN in message or _PROBABLY_SHORT in message


@dataclass(frozen=True)
class Run:
    """One result. ``residual``: scaled; NaN if HPL printed none. ``passed``: None if HPL checked nothing.
    ``rank_memory``: largest memory of a rank in bytes; NaN if unknown."""

    variant: str
    n: int
    nb: int
    p: int
    q: int
    time_s: float
    gflops: float
    residual: float
    passed: bool | None
    rank_memory: float = math.nan

    @property
    def other_memory(self) -> float:
        """Memory of all ranks in bytes, without the matrix: program, MPI and BLAS. Memory that ranks share counts for
        each of them, so this is an upper bound."""
        return self.p * self.q * self.rank_memory - BYTES * self.n**2


def runs_in(text: str) -> list[Run]:
    """All results in the output of xhpl, or in the file hpccoutf.txt."""
    starts = list(_RESULT.finditer(text))
    runs = []
    for at, found in enumerate(starts):
        end = starts[at + 1].start() if at + 1 < len(starts) else len(text)
        checks = list(_RESIDUAL.finditer(text, found.end(), end))
        passed = all(check[2] == "PASSED" for check in checks) if checks else None
        residual = max((_number(check[1]) for check in checks), default=math.nan)
        n, nb, p, q = (int(word) for word in found.groups()[1:5])
        runs.append(Run(found[1], n, nb, p, q, _number(found[6]), _number(found[7]), residual, passed))
    return runs


def result_in(text: str, n: int) -> Run:
    """The result of the run with this N. Raises HplError if there is none, or if it is wrong."""
    runs = [run for run in runs_in(text) if run.n == n]
    if not runs:
        if _MEMORY in text:
            raise HplError(f"{_NOT_GIVEN} for N = {n}")
        raise HplError(f"the output of HPL has no result for N = {n}{_last_line(text)}")
    run = runs[-1]
    if run.passed is None:
        raise HplError(f"HPL did not check the result for N = {n}; a result without a residual is no result")
    if not run.passed:
        raise HplError(
            f"HPL calls the residual {run.residual:g} FAILED; a wrong result is no result, so use another BLAS or "
            "other compiler flags, or check the memory of the machine"
        )
    if not (run.gflops > 0 and run.time_s >= 0 and math.isfinite(run.gflops)):
        raise HplError(f"HPL printed {run.gflops:g} GFLOPS for N = {n}, which is no speed")
    return run


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip(" =-\t")]
    return f"; its last line is: {lines[-1]}" if lines else f"; {_NOTHING}"


def _number(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        return math.nan
