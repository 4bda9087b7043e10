"""How the time of ``culmen tune hpl`` is spent: sizes of the search, of a check of its order, and of the comparison."""

import json
import math
from dataclasses import dataclass
from typing import Any

from ..._core import InputError
from .scaling import BYTES, Curve, bytes_for, size_in

FIRST_N = 1000
FINALISTS, LOOKS = 3, 1  # number of best settings of the search; how often each runs with a larger N
_CHECKED = 5  # approximate number of checked settings, with those that were known before
_SLOW = 0.7  # known settings with a smaller share of the best speed are not checked again
_RUNS = 60  # approximate number of runs of the search
SEARCH_SHARE, CHECK_SHARE, COMPARISON_SHARE = 0.5, 0.1, 0.35  # of the time; the rest is for the first runs
_LEAST_N = 200
_SHORTEST_S = 0.1
LATE, _SPARE_S = 4.0, 10.0  # of a run's time limit: factor of its expected time, and more seconds
_DAY_S = 86_400
SLOWEST, _SLOW_BLAS = 0.25, 0.5  # least share of the best speed for a library: with a small N; with a larger N
SHARE_OF_MEMORY = 0.8


@dataclass(frozen=True)
class Wanted:
    """The user's request. ``memory``: bytes for the matrix. ``kinds``: number of kinds of settings in the
    comparison."""

    minutes: float
    rounds: int
    size: int | None
    memory: float
    kinds: int = 3

    @property
    def memory_n(self) -> int:
        return size_in(self.memory)


@dataclass(frozen=True)
class Plan:
    """Values of N. ``check_n``: for the best settings of the search. ``limit_s``: for one run with ``search_n``."""

    search_n: int
    search_s: float
    check_n: int
    final_n: int
    memory_n: int
    limit_s: float


@dataclass(frozen=True)
class Known:
    """The result of the first runs. ``usual``: a calculator's settings with the best BLAS. ``tried``: such settings
    with each BLAS and each build, the largest N of their runs, and the GFLOPS; None if the run failed. ``curves``: by
    the names of settings, without those whose runs failed."""

    plan: Plan
    usual: dict[str, Any]
    tried: list[tuple[dict[str, Any], int, float | None]]
    curves: dict[str, Curve]
    overhead_s: float

    def text(self, request: str) -> str:
        content = {**vars(self), "plan": vars(self.plan), "curves": {k: vars(c) for k, c in self.curves.items()}}
        return json.dumps({"request": request, **content}, indent=2) + "\n"

    @classmethod
    def of(cls, found: dict[str, Any]) -> "Known":
        fields = {name: value for name, value in found.items() if name != "request"}
        curves = {name: Curve(**values) for name, values in found["curves"].items()}
        tried = [(each[0], each[1], each[2]) for each in found["tried"]]
        return cls(**{**fields, "plan": Plan(**found["plan"]), "curves": curves, "tried": tried})

    @property
    def fast_blas(self) -> list[str]:
        """The BLAS libraries that are worth a search."""
        most = max(n for _, n, _ in self.tried)
        speeds: dict[str, float] = {}
        for settings, n, speed in self.tried:
            if speed and n == most:
                name = str(settings["blas"])
                speeds[name] = max(speed, speeds.get(name, 0.0))
        return [name for name, speed in speeds.items() if speed >= _SLOW_BLAS * max(speeds.values())]

    def is_slow(self, name: str) -> bool:
        """Whether settings that were known before are slow, or failed."""
        n, curve = self.plan.check_n, self.curves.get(name)
        return curve is None or curve.gflops(n) < _SLOW * max(each.gflops(n) for each in self.curves.values())

    def limit_s(self, n: int) -> float:
        return limit_s_for(max(curve.time_s(n) for curve in self.curves.values()) + self.overhead_s)


def limit_s_for(expected_s: float) -> float:
    """The time limit of a run that is expected to take ``expected_s``."""
    return min(LATE * expected_s + _SPARE_S, _DAY_S)


def check_size(size: int | None, memory: float, available: float) -> None:
    """Raises InputError if the matrix does not fit."""
    if size is not None and bytes_for(size) > memory:
        raise InputError(
            f"--size {size} needs {_gib(bytes_for(size))} of memory, but there are {_gib(memory)} for it "
            f"({_gib(available)} are available); the largest size is {size_in(memory)}"
        )
    if size_in(memory) < _LEAST_N:
        raise InputError(f"{_gib(memory)} of memory are too few for HPL; N must be at least {_LEAST_N}")


def _gib(count: float) -> str:
    return f"{count / 2**30:.3g} GiB"


def memory_of(text: str | None, available: float) -> float:
    """The bytes of ``--memory``: a share such as 80%, or bytes such as 16G. Raises InputError for a wrong text."""
    if text is None:
        return SHARE_OF_MEMORY * available
    bytes_ = _bytes_in(text, available)
    if not BYTES < bytes_ <= available:
        raise InputError(
            f"--memory {text}: write a share such as 80%, or a size such as 16G, of at most {_gib(available)} that are "
            "available"
        )
    return bytes_


def check_memory(text: str, size: int | None) -> None:
    """The same, as far as it does not depend on the machine. Raises InputError."""
    is_share = text.endswith("%")
    memory = _bytes_in(text, math.inf if is_share and _bytes_in(text, 1.0) <= 1 else 0.0)
    if not memory > BYTES:
        raise InputError(f"--memory {text}: write a share of at most 100%, such as 80%, or a size such as 16G")
    if not is_share:
        check_size(size, memory, memory)


def _bytes_in(text: str, available: float) -> float:
    """0 for a wrong text."""
    units = {"%": available / 100, "M": 2.0**20, "G": 2.0**30, "T": 2.0**40}
    try:
        return float(text[:-1]) * units[text[-1:]]
    except (ValueError, KeyError):
        return 0.0


def second_n(first: Curve, wanted: Wanted) -> int:
    """The larger N of the first runs. From these runs, the time of still larger N is estimated."""
    return min(max(first.size_for(wanted.minutes * 60 / 200), FIRST_N // 2), _largest(wanted))


def _largest(wanted: Wanted) -> int:
    return min(wanted.memory_n, wanted.size or wanted.memory_n)


def planned(wanted: Wanted, present: Curve, other: Curve, overhead_s: float) -> Plan:
    """``other``: the curve of usual settings, which are closer to those of the search than the present ones.
    ``overhead_s``: time of a run that HPL does not measure."""
    budget_s, most = wanted.minutes * 60, _largest(wanted)
    final_n = wanted.size or _size_of_rounds(wanted, present, other, overhead_s, budget_s)
    final_n = min(final_n, most)
    search_n = other.size_for(max(_SHORTEST_S, SEARCH_SHARE * budget_s / _RUNS - overhead_s))
    search_n = min(max(search_n, _LEAST_N), final_n)
    check_n = other.size_for(max(_SHORTEST_S, CHECK_SHARE * budget_s / (_CHECKED * LOOKS) - overhead_s))
    check_n = min(check_n, final_n)
    check_n = max(check_n, search_n)
    limit_s = max(LATE * other.time_s(search_n), 1.5 * present.time_s(search_n)) + overhead_s + _SPARE_S / 3
    return Plan(search_n, SEARCH_SHARE * budget_s, check_n, final_n, wanted.memory_n, limit_s)


def _size_of_rounds(wanted: Wanted, present: Curve, other: Curve, overhead_s: float, budget_s: float) -> int:
    """The N of the comparison. A round has a run with the present settings, and one with each other kind of
    settings."""
    k = wanted.kinds - 1
    round_s = COMPARISON_SHARE * budget_s / wanted.rounds - wanted.kinds * overhead_s
    together = Curve(present.per_operation_s + k * other.per_operation_s, present.per_entry_s + k * other.per_entry_s)
    return max(together.size_for(max(_SHORTEST_S, round_s)), _LEAST_N)
