"""The programs of a suite in a folder of the user, and the words that start them."""

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..._core import InputError
from ...launch.allocation import ranks_on_a_node
from ...launch.mpi import Launcher
from ...launch.mpi.collectives import Algorithm
from ...launch.programs import own_library, said_by
from ..conversation import LostError, RefusedError
from ..parts import settings_of_launchers, situations_here
from .results import Benchmark, Result, benchmarks_in, functions_in

IMB = "IMB-MPI1"
_OSU = "osu_{}"
_REDUCTIONS = ("reduce", "allreduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan")
_NUMBER = 4  # bytes of a number that the suites reduce
_PER_RANK_SINCE = 2019  # before, IMB's size of a reduce_scatter was that of the whole vector
_SAID = 200  # characters of a program's own message


@dataclass(frozen=True)
class Program:
    """``collective``: the one that it measures."""

    path: Path
    collective: str

    @property
    def is_imb(self) -> bool:
        return self.path.name == IMB

    def measures(self, size: int) -> bool:
        """Whether the suite measures this size. Both suites reduce whole numbers of floats or ints. OSU has no empty
        messages."""
        whole = self.collective not in _REDUCTIONS or size % _NUMBER == 0
        return whole and (size > 0 or self.is_imb or self.collective == "barrier")

    def own_size(self, size: int, ranks: int) -> int:
        """The size as the suite counts it: OSU's size of a reduce_scatter is that of the whole vector."""
        return size * ranks if self.collective.startswith("reduce_scatter") and not self.is_imb else size

    def launches(self, ranks: int, sizes: Sequence[int], calls: int, scratch: Path) -> list[list[str]]:
        """The words of each launch, which together measure these sizes, as the suite calls them. ``scratch``: a folder
        for files of words."""
        if self.is_imb:
            lengths = scratch / "lengths"
            lengths.write_text("".join(f"{size}\n" for size in sizes))
            limits = ["-iter", str(calls), "-iter_policy", "off", "-npmin", str(ranks)]
            return [[str(self.path), self.collective, *limits, "-msglen", str(lengths)]]
        limits = ["-i", str(calls), "-x", str(max(1, calls // 10)), "-f"]
        if self.collective == "barrier":
            return [[str(self.path), *limits]]
        return [[str(self.path), *limits, "-m", f"{low}:{high}"] for low, high in _doubled(sizes)]


def _doubled(sizes: Sequence[int]) -> list[tuple[int, int]]:
    """Ranges in which each size is twice the one before, as OSU measures them."""
    out: list[tuple[int, int]] = []
    for size in sorted(sizes):
        if out and size == 2 * out[-1][1] > 0:
            out[-1] = (out[-1][0], size)
        else:
            out.append((size, size))
    return out


def program_in(folder: Path, collective: str) -> Program:
    """The program that measures a collective. The folder may be that of the sources after ``make``. Raises InputError
    if it has no such program."""
    if not folder.is_dir():
        raise InputError(f"--with: there is no folder {folder}")
    wanted = {_OSU.format(collective), IMB}
    found = sorted(path for path in programs_in(folder) if path.name in wanted)
    if not found:
        raise InputError(f"--with: {folder} has neither a program {_OSU.format(collective)} nor {IMB}")
    return Program(found[-1], collective)  # osu_ comes after IMB


def programs_in(folder: Path) -> Iterator[Path]:
    """The programs of the two suites in this folder and below."""
    for path in folder.rglob("*"):
        if (path.name == IMB or path.name.startswith(_OSU.format(""))) and _runs(path):
            yield path


def version_of(launcher: Launcher) -> str:
    """The version of the launcher's MPI, as the launcher prints it."""
    found = re.search(r"\d+\.\d+(\.\w+)*", said_by(launcher.program, "--version"))
    return f"{launcher.mpi.title.rstrip(' 0123456789')} {found[0]}" if found else launcher.mpi.title


def _runs(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def run(
    program: Program,
    launcher: Launcher,
    ranks: int,
    algorithm: Algorithm,
    sizes: Sequence[int],
    calls: int,
    most_s: float,
) -> tuple[dict[int, Result], dict[int, set[str]]]:
    """One launch, or several if it needs them: the result of each size that the suite measures, and the functions of
    the MPI that ran in each call, as far as they are known. ``most_s``: the longest time of a launch.

    Raises LostError if it takes longer, RefusedError if the program fails or measures none of the sizes.
    """
    asked = {program.own_size(size, ranks): size for size in sizes if program.measures(size)}
    if not asked:
        return {}, {}
    words = situations_here(launcher, ranks_on_a_node(ranks))
    flags = [flag for each in words for flag in each.flags] + _counting(launcher, program.collective)
    environment = {name: value for each in words for name, value in each.environment.items()} | dict(os.environ)
    environment |= settings_of_launchers()
    known = launcher.mpi.collectives
    environment |= known.variables_for(program.collective, algorithm) if known is not None else {}
    found: dict[int, Result] = {}
    ran: dict[int, set[str]] = {}
    with tempfile.TemporaryDirectory(prefix="culmen-suite-") as scratch:
        for launch in program.launches(ranks, list(asked), calls, Path(scratch)):
            command = [launcher.program, *flags, "-n", str(ranks), *launch]
            results, functions = _run(command, environment, program, ranks, most_s)
            here = {asked[each.size]: each for each in results if each.size in asked}
            found |= here
            ran |= {size: names for size, names in functions.items() if size in here}
    if not found:
        raise RefusedError(f"{program.path.name} measured no size of {', '.join(map(str, asked))} bytes")
    return found, ran


def _counting(launcher: Launcher, collective: str) -> list[str]:
    """The words with which ranks count the functions of their MPI, if culmen has a library for it."""
    library = own_library(f"counted_{launcher.mpi.module}")
    if launcher.mpi.placement is None or not library.exists():
        return []
    preloaded = ":".join(filter(None, [str(library), os.environ.get("LD_PRELOAD", "")]))
    given = {"LD_PRELOAD": preloaded, "CULMEN_COUNTED": collective}
    words = launcher.mpi.placement.variable
    return [word.format(name=name, value=value) for name, value in given.items() for word in words]


def _run(
    command: list[str], environment: dict[str, str], program: Program, ranks: int, most_s: float
) -> tuple[list[Result], dict[int, set[str]]]:
    try:
        done = subprocess.run(
            command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
            timeout=most_s, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise LostError(f"{program.path.name} took longer than {most_s:g} s") from None
    if done.returncode != 0:
        said = next((line.strip() for line in (done.stderr + done.stdout).splitlines() if line.strip(" -\n")), "")
        raise RefusedError(f"{program.path.name} ended with exit code {done.returncode}: {said[:_SAID]}")
    try:
        benchmarks = benchmarks_in(done.stdout, f"what {program.path.name} prints")
    except InputError as error:
        raise RefusedError(str(error)) from None
    of = [each for each in benchmarks if each.collective == program.collective and each.ranks in (None, ranks)]
    if old := next((each.version for each in of if _counts_whole_vector(each)), ""):
        raise RefusedError(f"{IMB} {old} measures {program.collective} by another size; use IMB 2019 or later")
    return [result for each in of for result in each.results], functions_in(done.stdout)


def _counts_whole_vector(of: Benchmark) -> bool:
    year = re.match(r"\d+", of.version)
    scatters = of.suite == "IMB" and of.collective.startswith("reduce_scatter")
    return scatters and year is not None and int(year[0]) < _PER_RANK_SINCE
