"""The settings of parallel I/O: those that make sense for a program, its MPI and a file system."""

import math
import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...launch.launcher import cores
from ...launch.mpi import Mpi, recognise
from ...launch.preloading import check_command, is_launcher
from ...launch.programs import said_by
from .applied import COUNT, FOLDER, SIZE, TYPED

_MOST_RUNS, _RUNS_PER_SETTING = 60, 8
_MIB = 2**20
_SWITCH = ["enable", "disable"]
_HINTS = {  # of ROMIO: https://wordpress.cels.anl.gov/romio/ (ROMIO User's Guide, section 3)
    "romio_cb_write": _SWITCH,
    "romio_cb_read": _SWITCH,
    "romio_ds_write": _SWITCH,
    "romio_ds_read": _SWITCH,
    "cb_buffer_size": [str(k * _MIB) for k in (1, 4, 16, 64)],
    "ind_wr_buffer_size": [str(k * 65536) for k in (1, 8, 64, 256)],
    "ind_rd_buffer_size": [str(k * 65536) for k in (1, 16, 64, 256)],
}
_AGGREGATORS, _ALIGNMENT = "cb_config_list", "striping_unit"
_COUNTS = (1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128)  # of stripes
_SIZES = ("1M", "4M", "16M", "64M")
_TIMEOUT_S = 60


@dataclass
class Space:
    """``parameters``: a table of a study file. ``left_out``: a sentence for each kind of setting that there is not.
    ``hints``: the parameters that are hints of ROMIO."""

    parameters: dict[str, dict[str, Any]] = field(default_factory=dict)
    hints: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    @property
    def runs(self) -> int:
        """A reasonable number of runs for the search."""
        most = math.prod(len(table["choices"]) for table in self.parameters.values())
        return max(8, min(_MOST_RUNS, _RUNS_PER_SETTING * len(self.parameters), 4 * most))

    def add(self, name: str, values: list[str], condition: str = "") -> None:
        table: dict[str, Any] = {"choices": [TYPED, *values], "initial": TYPED}
        self.parameters[name] = {**table, **({"active_when": condition} if condition else {})}


def mpi_of(words: list[str]) -> Mpi | None:
    """The MPI of the launcher in the command; None: there is none that culmen knows. Raises InputError if the program
    does not exist."""
    place = next((k for k, word in enumerate(words) if is_launcher(word)), 0)
    check_command(words[place:])
    program = shutil.which(words[place])
    return recognise(said_by(program, "--version")) if program and is_launcher(words[place]) else None


def space_of(words: list[str], mpi: Mpi | None, folder: Path) -> Space:
    """``folder``: in which the program has its files."""
    space = Space()
    lustre = is_on_lustre(folder)
    if mpi is None or mpi.io is None:
        who = f"culmen does not know those of {mpi.title}" if mpi else "the command has no mpiexec that culmen knows"
        space.left_out.append(f"Hints for MPI-IO: {who}.")
    else:
        _add_mpi(space, mpi, lustre)
    if not lustre:
        space.left_out.append(f"Striping: {folder} is on a file system without it ({kind_of(folder)}).")
    elif not any(FOLDER in word for word in words):
        space.left_out.append(f"Striping: write {FOLDER} in the command for the folder with the files of a run.")
    else:
        _add_striping(space, folder)
    return space


def plan_of(words: list[str], mpi: Mpi | None, space: Space, here: Path) -> dict[str, Any]:
    """For applied.py. ``here``: the folder in which the program runs."""
    io = mpi.io if mpi else None
    return {
        "folder": str(here),
        "words": words,
        "romio": io.romio if io else "",
        "chosen_by": io.chosen_by if io else "",
        "variables": io.variables if io else {},
        "hints": space.hints,
        "typed_hints": _typed_hints(),
    }


def _typed_hints() -> list[str]:
    try:
        return Path(os.environ.get("ROMIO_HINTS", "/etc/romio-hints")).read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        return []


def _add_mpi(space: Space, mpi: Mpi, lustre: bool) -> None:
    assert mpi.io is not None
    condition = ""
    if mpi.io.romio:
        space.add("library", [mpi.io.own, mpi.io.romio])
        condition = f"library == '{mpi.io.romio}'"
        for name, values in mpi.io.values.items():
            space.add(name, values, f"library != '{mpi.io.romio}'")
    hints = dict(_HINTS)
    if several := [k for k in (1, 2, 4, 8, 16, 32) if k <= cores()][1:]:
        hints[_AGGREGATORS] = [f"*:{k}" for k in several]  # on each node
    if not lustre:  # there, it would set the striping
        hints[_ALIGNMENT] = [str(k * 65536) for k in (1, 16, 64)]
    for name, values in hints.items():
        space.add(name, values, condition)
    space.hints = list(hints)


def _add_striping(space: Space, folder: Path) -> None:
    targets = sum("ACTIVE" in line.split() for line in _said("lfs", "osts", str(folder)).splitlines())
    counts = [str(k) for k in _COUNTS if k <= max(1, targets)]
    space.add(COUNT, [*counts, "-1"] if str(targets) not in counts else counts)
    space.add(SIZE, [*_SIZES])


def is_on_lustre(folder: Path) -> bool:
    """Whether ``lfs``, the program of Lustre, knows the striping of this folder."""
    if shutil.which("lfs") is None:
        return False
    try:
        done = subprocess.run(["lfs", "getstripe", "-d", str(folder)], capture_output=True, timeout=_TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _said(*words: str) -> str:
    try:
        return subprocess.run(words, capture_output=True, text=True, timeout=_TIMEOUT_S).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


def kind_of(folder: Path, mounts: str | None = None) -> str:
    """The type of its file system, as in /proc/mounts."""
    try:
        text = Path("/proc/self/mounts").read_text() if mounts is None else mounts
    except OSError:
        return "unknown"
    place, found = folder.resolve(), ("", "unknown")
    for line in text.splitlines():
        _, point, kind, *_ = line.split()
        if place.is_relative_to(point.replace("\\040", " ")) and len(point) >= len(found[0]):
            found = (point, kind)
    return found[1]
