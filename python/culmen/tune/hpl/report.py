"""The table, the figure and the sentences about all settings that ``culmen tune hpl`` compared."""

import math
import re
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...base.text import plural
from ...bench.verdict import LEAST_PAIRS, Verdict, verdict_of
from ...problem.given import Value
from ...report.style import GREY, LINE_COLOURS, Figure, axis, layout
from .program import Program, compiler_of, nodes
from .programs import Programs
from .space import ranks_of, threads_of

HEADINGS = ("settings", "MPI", "compiler", "flags", "BLAS", "TCP", "N", "NB", "P x Q", "threads", "GFLOPS", "range")
TEXTS = ("settings", "MPI", "compiler", "flags", "BLAS", "TCP")
PRESENT, CALCULATOR, USUAL, FOUND = "present", "web calculators", "best BLAS", "best found"
SHIPPED, RANDOM = "shipped file", "random search"
_STOPPED = re.compile(r"HPL ran longer than (\S+ s), so it was stopped")


@dataclass(frozen=True)
class Case:
    """One kind of settings. ``gflops``: of each round, NaN if this run failed. ``failures``: the reasons of these, in
    one line each."""

    name: str
    settings: Mapping[str, Value]
    n: int
    gflops: Sequence[float]
    failures: Sequence[str] = ()

    @property
    def is_whole(self) -> bool:
        return len(self.known) == len(self.gflops) > 0

    @property
    def median(self) -> float:
        return statistics.median(self.known)

    @property
    def known(self) -> list[float]:
        return [value for value in self.gflops if not math.isnan(value)]


def lost_in(cases: Sequence[Case]) -> str:
    """A clause about the runs that failed; empty if none did."""
    failures = [why for case in cases for why in case.failures]
    runs = plural(sum(len(case.gflops) for case in cases), "run")
    if stopped := [found[1] for why in failures if (found := _STOPPED.search(why))]:
        return f"{len(stopped)} of {runs} were stopped after {stopped[0]}; repeat with more --minutes and --overwrite"
    return f"{len(failures)} of {runs} failed: {failures[0]}" if failures else ""


def rows_of(cases: Sequence[Case], programs: Programs, cores: int) -> list[list[str]]:
    """Rows with the columns HEADINGS."""
    rows = []
    for case in cases:
        settings, known = case.settings, case.known
        program = programs.of(settings)
        built = [program.compiler or compiler_of(program.path), program.flags or "unknown"]
        row = [case.name, program.launcher.mpi.title, *built, str(settings["blas"]), _tcp(program, settings)]
        row += [str(case.n), str(settings["nb"]), str(settings["grid"]), str(threads_of(settings, cores))]
        row.append(f"{statistics.median(known):.4g}" if known else "failed")
        row.append(f"{min(known):.4g}–{max(known):.4g}" if len(known) > 1 else "")
        rows.append(row)
    return rows


def figure_of(cases: Sequence[Case]) -> Figure:
    """The comparison of each N as bars."""
    sizes = list(dict.fromkeys(case.n for case in cases))
    bars = [_bars([case for case in cases if case.n == n and case.known], n, len(sizes) > 1) for n in sizes]
    plain = layout(height=340, margin={"l": 70, "r": 20, "t": 30, "b": 55})
    plain |= {"xaxis": axis("settings"), "yaxis": axis("GFLOPS", rangemode="tozero")}
    about = "Medians of the runs in turns, and their range."
    return Figure("cases-drawn", f"Speed with N = {' and '.join(map(str, sizes))}", about, bars, plain)


def _bars(shown: Sequence[Case], n: int, is_named: bool) -> dict[str, Any]:
    middle = [statistics.median(case.known) for case in shown]
    above = [max(case.known) - m for case, m in zip(shown, middle, strict=True)]
    below = [m - min(case.known) for case, m in zip(shown, middle, strict=True)]
    return {
        "type": "bar",
        "name": f"N = {n}",
        "x": [case.name for case in shown],
        "y": middle,
        "marker": {"color": [LINE_COLOURS[0] if case.name == FOUND else GREY for case in shown]},
        "error_y": {"type": "data", "symmetric": False, "array": above, "arrayminus": below},
        "showlegend": is_named,
    }


def _tcp(program: Program, settings: Mapping[str, Value]) -> str:
    """The cell about TCP. Ranks on one machine send messages through memory, unless the user's words say otherwise."""
    if ranks_of(settings) == 1:
        return "no messages"
    if "tcp_buffers" in settings:
        return f"{settings['tcp_buffers']} B" if settings["tcp_buffers"] else "default"
    return "by your words" if program.words else "not used" if nodes() == 1 else "the MPI's choice"


def of_sizes(cases: Sequence[Case]) -> Iterator[str]:
    """Sentences about several N. They are needed if some settings did not get their memory with the first N."""
    sizes = list(dict.fromkeys(case.n for case in cases))
    for n in sizes[:-1]:
        short = [case.name for case in cases if case.n == n and not case.is_whole]
        others = [f"{case.name} {case.median:.4g}" for case in cases if case.n == n and case.is_whole]
        yield f"With N = {n}, these did not get their memory: {', '.join(short)}. GFLOPS of the others: " + (
            f"{', '.join(others)}." if others else "none."
        )
    if sizes[1:]:
        yield from _with_largest_sizes(cases)


def _with_largest_sizes(cases: Sequence[Case]) -> Iterator[str]:
    """Settings that need less memory can have a larger N, with which HPL is faster."""
    largest = {case.name: case for case in reversed(cases) if case.is_whole}  # the largest N comes first in cases
    if PRESENT in largest and FOUND in largest:
        old, new = largest[PRESENT], largest[FOUND]
        named = [f"{each.name} {each.median:.4g} with N = {each.n}" for each in (old, new)]
        yield f"GFLOPS with the largest N of each: {', '.join(named)}."
        if old.n > new.n and old.median > new.median:
            yield "With their larger N, the present settings are faster: prefer them if N may be so large."


def over(cases: Sequence[Case], old: str, new: str) -> Verdict | None:
    """The last comparison of two kinds of settings; None if too few rounds are complete."""
    by_name = {case.name: case for case in cases}
    if old not in by_name or new not in by_name:
        return None
    pairs = zip(by_name[old].gflops, by_name[new].gflops, strict=True)
    whole = [pair for pair in pairs if not any(map(math.isnan, pair))]
    return verdict_of(whole, True) if len(whole) >= LEAST_PAIRS else None
