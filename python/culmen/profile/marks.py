"""The empty files that ranks without a profile leave, and that say why; see probe_leave_mark in src/mpiprobe/mpi.h."""

from collections import Counter
from pathlib import Path

from ..base.text import plural
from .layout import FILE


def without_room(folder: Path) -> str:
    """A sentence if ranks could not write their profile there; otherwise empty."""
    if not (lost := len(list(folder.glob("*.no-room")))):
        return ""
    room = f"each rank needs {FILE.itemsize / 1e6:.1f} MB"
    return f"{plural(lost, 'rank')} found no room for a profile in {folder}: {room}; is the disk full?"


def of_other_mpi(folder: Path) -> str:
    """Sentences if ranks use another MPI than that of the command; otherwise empty."""
    said = [
        f"culmen did not measure {plural(n, 'rank')} that {'uses' if n == 1 else 'use'} {name}."
        for name, n in unmeasured(folder).items()
    ]
    return " ".join(said)


def unmeasured(folder: Path) -> dict[str, int]:
    """The other MPIs, and the number of ranks that use each of them."""
    return dict(sorted(Counter(path.suffixes[-2][1:] for path in folder.glob("*.other-mpi")).items()))
