"""The file system of a folder, and its striping if it is Lustre."""

import shutil
import subprocess
from pathlib import Path

_TIMEOUT_S = 60


def targets_of(folder: Path) -> int:
    """The number of storage targets of the folder's Lustre."""
    return sum("ACTIVE" in line.split() for line in _said("lfs", "osts", str(folder)).splitlines())


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
