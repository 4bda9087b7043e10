"""The output of the benchmarks of collectives in the OSU Micro-Benchmarks and the Intel MPI Benchmarks (IMB-MPI1).

Sources: the READMEs of OSU Micro-Benchmarks 7, and "Intel MPI Benchmarks User Guide and Methodology Description", 2021.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..._core import InputError

# As OSU calls them in its titles; IMB and the names of OSU's programs have these words without anything between.
_TITLES = {
    "barrier": "barrier",
    "broadcast": "bcast",
    "bcast": "bcast",
    "reduce": "reduce",
    "allreduce": "allreduce",
    "reducescatter": "reduce_scatter",
    "reducescatterblock": "reduce_scatter_block",
    "scan": "scan",
    "exscan": "exscan",
    "gather": "gather",
    "gatherv": "gatherv",
    "scatter": "scatter",
    "scatterv": "scatterv",
    "allgather": "allgather",
    "allgatherv": "allgatherv",
    "alltoall": "alltoall",
    "alltoallpersonalizedexchange": "alltoall",
    "alltoallv": "alltoallv",
    "alltoallw": "alltoallw",
}
_OSU = re.compile(r"^# OSU MPI (.+?) Latency Test(?: v(\S+))?", re.MULTILINE)
_IMB = re.compile(r"^# Benchmarking (\w+)", re.MULTILINE)
_OSU_COLUMNS = ("mean", "least", "most", "calls")
_IMB_COLUMNS = ("calls", "least", "most", "mean")
_RAN = re.compile(r"^# culmen: (\d+) bytes:(.*)$", re.MULTILINE)  # see src/mpibench/suites/counted.c
_ROW = re.compile(r"^[ \t]*\d[\d.]*(?:[ \t]+[\d.]+)*[ \t]*$", re.MULTILINE)


@dataclass(frozen=True)
class Result:
    """The result for one message size in bytes. Times of a call are in seconds: the mean over calls and ranks, and the
    means of the fastest and of the slowest rank. None if the benchmark did not print it."""

    size: int
    mean_s: float
    least_s: float | None = None
    most_s: float | None = None
    calls: int | None = None


@dataclass(frozen=True)
class Benchmark:
    """One table of a suite's output. ``ranks``: None if the suite does not print it."""

    suite: str
    version: str
    collective: str
    ranks: int | None
    results: list[Result]


def benchmarks_in(text: str, where: str) -> list[Benchmark]:
    """The benchmarks in the order of the output. Other lines are ignored. ``where``: names the output in an error.

    Raises InputError if there is no benchmark of a collective.
    """
    found = [*_osu(text), *_imb(text)]
    if not found:
        raise InputError(f"{where} is not the output of a collective benchmark of OSU or of IMB-MPI1")
    return found


def functions_in(text: str) -> dict[int, set[str]]:
    """For each message size, the functions of the MPI that ran in each call on each rank. Empty if the output does not
    say it."""
    return {int(size): set(names.split()) for size, names in _RAN.findall(text)}


def collective_named(title: str) -> str | None:
    return _TITLES.get(re.sub(r"[^a-z]", "", title.lower()))


def _osu(text: str) -> Iterator[Benchmark]:
    for head, body in _parts(_OSU, text):
        collective = collective_named(head[1])
        if collective is None:
            continue
        has_size = re.search(r"^# *Size\b", body, re.MULTILINE) is not None
        yield Benchmark("OSU", head[2] or "", collective, None, _results(body, has_size, _OSU_COLUMNS))


def _imb(text: str) -> Iterator[Benchmark]:
    version = re.search(r"Intel ?\(R\) MPI Benchmarks ([^,\n]+?),", text)
    for head, body in _parts(_IMB, text):
        collective, ranks = collective_named(head[1]), re.search(r"#processes = (\d+)", body)
        if collective is None:
            continue
        has_size = "#bytes" in body
        results = _results(body, has_size, _IMB_COLUMNS)
        yield Benchmark("IMB", version[1] if version else "", collective, int(ranks[1]) if ranks else None, results)


def _parts(title: re.Pattern[str], text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Each title, with the text up to the next one."""
    heads = list(title.finditer(text))
    ends = [*(head.start() for head in heads[1:]), len(text)][: len(heads)]
    for head, end in zip(heads, ends, strict=True):
        yield head, text[head.end() : end]


def _results(body: str, has_size: bool, columns: tuple[str, ...]) -> list[Result]:
    out = []
    for line in _ROW.findall(body):
        numbers = [float(word) for word in line.split()]
        size = numbers.pop(0) if has_size else 0.0
        found = dict(zip(columns, numbers, strict=False))
        if "mean" not in found or size != int(size):
            continue  # another table, or a line of another program
        calls = found.pop("calls", None)
        times = {f"{name}_s": 1e-6 * value for name, value in found.items()}
        out.append(Result(int(size), **times, calls=None if calls is None else int(calls)))
    return out
