"""The settings of parallel I/O: those that make sense for a program, its MPI and a file system."""

import math
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...launch.launcher import cores
from ...launch.mpi import FileAccess, Mpi, recognise
from ...launch.preloading import check_command, is_launcher, place_of_variables, preload_with
from ...launch.programs import said_by
from .applied import BUFFERING, COUNT, FOLDER, LIBRARY, ON, SIZE, TYPED
from .file_system import is_on_lustre, kind_of, targets_of

_RUNS_PER_SETTING = 8
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
_LUSTRE_AGGREGATORS, _LUSTRE_COUNT = "cb_nodes", "striping_factor"
_LUSTRE_RATIO = {"romio_lustre_co_ratio": ["1", "2", "4", "8"]}  # most aggregators of one storage target
_COLLECTIVE = {  # settings of collective buffering, of ROMIO and ompio
    "romio_cb_write", "romio_cb_read", "cb_buffer_size", _AGGREGATORS, _LUSTRE_AGGREGATORS, _ALIGNMENT, *_LUSTRE_RATIO,
    "collective", "aggregators", "aggregator_bytes",
}  # fmt: skip
_SIEVING = {"romio_ds_write", "romio_ds_read", "ind_wr_buffer_size", "ind_rd_buffer_size"}
_BUFFERS = {  # "as typed" is the default of the library: 1 MiB, 4, 32 KiB, 2 and 2
    "buffer_size": ["65536", "262144", "4194304", "16777216"],
    "buffers": ["1", "2", "8", "16"],
    "large": ["8192", "131072", "1048576"],
    "read_ahead": ["0", "1", "4"],
    "write_behind": ["0", "1", "4"],
}
_COUNTS = (1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128)  # of stripes
_SIZES = ("1M", "4M", "16M", "64M")
_MCA = ("mca", "gmca", "omca", "gomca")  # options of Open MPI


@dataclass
class Space:
    """``parameters``: a table of a study file. ``hints``: the parameters that are hints of ROMIO. ``left_out``: a
    sentence for each kind of setting that is missing. ``library``: the present library for MPI-IO; empty if the MPI has
    only one. ``iobuf``: the path of libculmen-iobuf; empty if it is not tried."""

    parameters: dict[str, dict[str, Any]] = field(default_factory=dict)
    hints: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    library: str = ""
    iobuf: str = ""

    @property
    def runs(self) -> int:
        """A reasonable number of runs for the search."""
        most = math.prod(len(table["choices"]) for table in self.parameters.values())
        return max(8, min(_RUNS_PER_SETTING * len(self.parameters), 4 * most))

    def add(self, name: str, values: list[str], condition: str = "") -> None:
        table: dict[str, Any] = {"choices": [TYPED, *values], "initial": TYPED}
        self.parameters[name] = {**table, **({"active_when": condition} if condition else {})}


def mpi_of(words: list[str]) -> Mpi | None:
    """The MPI of the launcher in the command; None if culmen knows none. Raises InputError if the program does not
    exist."""
    place = next((k for k, word in enumerate(words) if is_launcher(word)), 0)
    check_command(words[place:])
    program = shutil.which(words[place])
    return recognise(said_by(program, "--version")) if program and is_launcher(words[place]) else None


def space_of(
    words: list[str],
    mpi: Mpi | None,
    folder: Path,
    api: str = "",
    pattern: str | None = None,
    iobuf: Path | None = None,
) -> Space:
    """``folder``: the folder of the program's files. ``api``, ``pattern``: options of culmen's own benchmark. Settings
    without effect on them are left out. ``iobuf``: the library of `culmen iobuf`, if it is tried."""
    space = Space()
    lustre = is_on_lustre(folder)
    if api == "posix":
        space.left_out.append("Settings of MPI-IO: calls of POSIX do not use them.")
    elif mpi is None or mpi.io is None:
        who = f"culmen does not know those of {mpi.title}" if mpi else "the command has no mpiexec that culmen knows"
        space.left_out.append(f"Hints for MPI-IO: {who}.")
    else:
        _add_mpi(space, words, mpi.io, folder, lustre)
        _leave_out(space, pattern)
    if iobuf:
        space.iobuf = str(iobuf)
        space.add(BUFFERING, [ON])
        for name, values in _BUFFERS.items():
            space.add(name, values, f"{BUFFERING} == '{ON}'")
    if not lustre:
        space.left_out.append(f"Striping: {folder} is on a file system without it ({kind_of(folder)}).")
    elif not any(FOLDER in word for word in words):
        space.left_out.append(f"Striping: write {FOLDER} in the command for the folder with the files of a run.")
        if space.hints:
            space.left_out.append("Hints for striping: they change only files that a run creates.")
    else:
        _add_striping(space, folder)
    return space


def plan_of(words: list[str], mpi: Mpi | None, space: Space, here: Path) -> dict[str, Any]:
    """The plan for applied.py. ``here``: the folder in which the program runs."""
    io = mpi.io if mpi else None
    return {
        "folder": str(here),
        "words": words,
        "forward_at": place_of_variables(words),
        "romio": io.romio if io else "",
        "library": space.library,
        "preload": preload_with(Path(space.iobuf)) if space.iobuf else "",
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


def _add_mpi(space: Space, words: list[str], io: FileAccess, folder: Path, lustre: bool) -> None:
    romio_on = ompio_on = ""
    if io.romio:
        typed = typed_library(words, io)
        usual = os.environ.get(io.chosen_by, "") if typed is None else typed
        space.library = library_of(usual, io, lustre or kind_of(folder) == "lustre")
        if typed is None:
            choices = [space.library, *({io.own, io.romio} - {space.library})]
            space.parameters[LIBRARY] = {"choices": choices, "initial": space.library}
            romio_on, ompio_on = f"{LIBRARY} == '{io.romio}'", f"{LIBRARY} == '{io.own}'"
        else:
            space.left_out.append(f"Library for MPI-IO: your line chooses {typed}.")
    if space.library == io.own or LIBRARY in space.parameters:
        for name, values in io.values.items():
            space.add(name, values, ompio_on)
    if space.library == io.romio or LIBRARY in space.parameters:
        hints = _hints(words, folder, lustre)
        for name, values in hints.items():
            space.add(name, values, romio_on)
        space.hints = list(hints)


def typed_library(words: list[str], io: FileAccess) -> str | None:
    """The library that the command itself chooses. It has priority over variables of the environment. None if it
    chooses none."""
    name = io.chosen_by.removeprefix("OMPI_MCA_")
    for k, word in enumerate(words):
        if word.startswith(f"{io.chosen_by}="):
            return word.partition("=")[2]
        if word.lstrip("-") in _MCA and word.startswith("-") and words[k + 1 : k + 2] == [name]:
            return words[k + 2] if k + 2 < len(words) else None
    return None


def library_of(text: str, io: FileAccess, lustre: bool) -> str:
    """The library that Open MPI uses. ``text``: names that are allowed, or after ^ names that are not allowed. On
    Lustre, Open MPI prefers ROMIO: https://www.open-mpi.org/faq/?category=ompio"""
    names = {*text.removeprefix("^").split(",")}
    allowed = {io.own, io.romio} - names if text.startswith("^") else {io.own, io.romio} & names
    if len(allowed) == 1:
        return allowed.pop()
    return io.romio if lustre else io.own


def _hints(words: list[str], folder: Path, lustre: bool) -> dict[str, list[str]]:
    """The hints for ROMIO. On Lustre, hints for striping are left out if culmen sets the striping with lfs."""
    hints = dict(_HINTS)
    if several := [k for k in (1, 2, 4, 8, 16, 32) if k <= cores()][1:]:
        hints[_AGGREGATORS] = [f"*:{k}" for k in several]  # on each node
    if not lustre:
        return {**hints, _ALIGNMENT: [str(k * 65536) for k in (1, 16, 64)]}
    counts = [str(k) for k in _COUNTS if k <= max(1, targets_of(folder))]
    hints |= {_LUSTRE_AGGREGATORS: counts, **_LUSTRE_RATIO}
    if not any(FOLDER in word for word in words):
        hints |= {_LUSTRE_COUNT: counts, _ALIGNMENT: [str(k * _MIB) for k in (1, 4, 16, 64)]}
    return hints


def _leave_out(space: Space, pattern: str | None) -> None:
    """Removes settings that have no effect on a pattern of the benchmark."""
    without: set[str] = set()
    if pattern not in (None, "collective"):
        without |= _COLLECTIVE
        space.left_out.append(f"Collective buffering: the pattern {pattern} has no collective calls.")
    if pattern in ("contiguous", "file-per-process"):
        without |= _SIEVING
        space.left_out.append(f"Data sieving: each rank of the pattern {pattern} reads and writes without gaps.")
    space.parameters = {name: table for name, table in space.parameters.items() if name not in without}
    space.hints = [name for name in space.hints if name not in without]


def _add_striping(space: Space, folder: Path) -> None:
    targets = targets_of(folder)
    counts = [str(k) for k in _COUNTS if k <= max(1, targets)]
    space.add(COUNT, [*counts, "-1"] if str(targets) not in counts else counts)
    space.add(SIZE, [*_SIZES])
