"""What ``culmen tune hpl`` shows beside the parameters: a table of all that was compared."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...bench.verdict import Verdict, verdict_of
from ...problem.given import Value
from ...report.style import GREY, LINE_COLOURS, Figure, axis, layout
from .program import Program, compiler_of, nodes
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
        row.append(f"{min(known):.4g}–{max(known):.4g}" if len(known) > 1 else "")
        rows.append(row)
    return rows


def figure_of(cases: Sequence[Case]) -> Figure:
    """The last comparison as bars."""
    shown = [case for case in cases if case.n == cases[-1].n and case.known]
    middle = [statistics.median(case.known) for case in shown]
    above = [max(case.known) - m for case, m in zip(shown, middle, strict=True)]
    below = [m - min(case.known) for case, m in zip(shown, middle, strict=True)]
    bars = {
        "type": "bar",
        "x": [case.name for case in shown],
        "y": middle,
        "marker": {"color": [LINE_COLOURS[0] if case.name == FOUND else GREY for case in shown]},
        "error_y": {"type": "data", "symmetric": False, "array": above, "arrayminus": below},
        "showlegend": False,
    }
    plain = layout(height=340, margin={"l": 70, "r": 20, "t": 30, "b": 55})
    plain |= {"xaxis": axis("settings"), "yaxis": axis("GFLOPS", rangemode="tozero")}
    about = "Medians of the runs in turns, and their range."
    return Figure("cases-drawn", f"Speed with N = {cases[-1].n}", about, [bars], plain)


def _tcp(program: Program, ranks: int) -> str:
    """Ranks on one machine send messages through memory unless the user's words for the launcher say otherwise."""
    if ranks == 1:
        return "no messages"
    return "by your words" if program.words else "not used" if nodes() == 1 else "the MPI's choice"


def over(cases: Sequence[Case], old: str, new: str) -> Verdict | None:
    """The last comparison of two kinds of settings; None without three whole rounds."""
    by_name = {case.name: case for case in cases}
    if old not in by_name or new not in by_name:
        return None
    pairs = zip(by_name[old].gflops, by_name[new].gflops, strict=True)
    whole = [pair for pair in pairs if not any(map(math.isnan, pair))]
    return verdict_of(whole, True) if len(whole) >= 3 else None
