"""What ``culmen tune hpl`` shows beside the parameters: a table of all that was compared."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...bench.verdict import Verdict, verdict_of
from ...problem.given import Value
from .program import Program, compiler_of
from .space import ranks_of, threads_of

HEADINGS = ("settings", "MPI", "compiler", "BLAS", "TCP", "N", "NB", "P x Q", "threads", "GFLOPS", "range")
TEXTS = ("settings", "MPI", "compiler", "BLAS", "TCP")
PRESENT, CALCULATOR, USUAL, FOUND = "present", "web calculators", "best BLAS", "best found"


@dataclass(frozen=True)
class Case:
    """One kind of settings. ``gflops``: of each round, NaN if this run failed."""

    name: str
    settings: Mapping[str, Value]
    n: int
    gflops: Sequence[float]

    @property
    def known(self) -> list[float]:
        return [value for value in self.gflops if not math.isnan(value)]


def rows_of(cases: Sequence[Case], program: Program, cores: int) -> list[list[str]]:
    """By HEADINGS."""
    mpi, compiler = program.launcher.mpi.title, compiler_of(program.path)
    rows = []
    for case in cases:
        settings, known = case.settings, case.known
        row = [case.name, mpi, compiler, str(settings["blas"]), _tcp(program, ranks_of(settings)), str(case.n)]
        row += [str(settings["nb"]), str(settings["grid"]), str(threads_of(settings, cores))]
        row.append(f"{statistics.median(known):.4g}" if known else "failed")
        row.append(f"{min(known):.4g}–{max(known):.4g}" if known else "")
        rows.append(row)
    return rows


def _tcp(program: Program, ranks: int) -> str:
    """Ranks on one machine send messages through memory unless the user's words for the launcher say otherwise."""
    if ranks == 1:
        return "no messages"
    return "by your words" if program.words else "not used"


def over(cases: Sequence[Case], old: str, new: str) -> Verdict | None:
    """The last comparison of two kinds of settings; None without three whole rounds."""
    by_name = {case.name: case for case in cases}
    if old not in by_name or new not in by_name:
        return None
    pairs = zip(by_name[old].gflops, by_name[new].gflops, strict=True)
    whole = [pair for pair in pairs if not any(map(math.isnan, pair))]
    return verdict_of(whole, True) if len(whole) >= 3 else None
