"""The programs of a suite in a folder of the user's, and their words."""

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..._core import InputError
from ...launch.allocation import ranks_on_a_node
from ...launch.launcher import situations
from ...launch.mpi import Launcher
from ...launch.mpi.collectives import Algorithm
from ...launch.programs import said_by
from ..conversation import LostError, RefusedError
from ..parts import settings_of_launchers
from .results import Result, benchmarks_in

IMB = "IMB-MPI1"
_OSU = "osu_{}"
_SAID = 200  # characters of a program's own message


@dataclass(frozen=True)
class Program:
    """``collective``: the one that it measures."""

    path: Path
    collective: str

    @property
    def is_imb(self) -> bool:
        return self.path.name == IMB

    def launches(self, ranks: int, sizes: Sequence[int], calls: int, scratch: Path) -> list[list[str]]:
        """The words of each launch, which together measure these sizes. ``scratch``: a folder for files of words."""
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
    """The folder may be that of the sources after ``make``. Raises InputError if it has none."""
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
    """Of its MPI, as the launcher says it."""
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
) -> list[Result]:
    """One launch, or several if it needs them. ``most_s``: the longest time of one.

    Raises LostError if it takes longer, RefusedError if the program fails or lacks a size.
    """
    words = situations(launcher, ranks_on_a_node(ranks), here=True)
    flags = [flag for each in words for flag in each.flags]
    environment = {name: value for each in words for name, value in each.environment.items()} | dict(os.environ)
    environment |= settings_of_launchers()
    known = launcher.mpi.collectives
    environment |= known.variables_for(program.collective, algorithm) if known is not None else {}
    found: dict[int, Result] = {}
    with tempfile.TemporaryDirectory(prefix="culmen-suite-") as scratch:
        for launch in program.launches(ranks, sizes, calls, Path(scratch)):
            command = [launcher.program, *flags, "-n", str(ranks), *launch]
            found |= {each.size: each for each in _run(command, environment, program, ranks, most_s)}
    missing = [size for size in sizes if size not in found]
    if missing:
        raise RefusedError(f"{program.path.name} did not measure {missing[0]} bytes")
    return [found[size] for size in sizes]


def _run(command: list[str], environment: dict[str, str], program: Program, ranks: int, most_s: float) -> list[Result]:
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
    return [result for each in of for result in each.results]
