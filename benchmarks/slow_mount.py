"""A file system whose disk answers few requests a second, as disks of networks do: a loop device on a file in memory,
which Linux throttles by a control group. It needs root, and leaves nothing behind."""

import os
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

_GROUPS = Path("/sys/fs/cgroup")
_MEMORY = Path("/dev/shm")  # noqa: S108
_READ_AHEAD_KIB = 128  # Linux reads this in advance on a usual disk


@contextmanager
def slow_mount(folder: Path, requests_per_s: int, options: str = "defaults", mib: int = 400) -> Iterator[Path | None]:
    """``folder``: it gets an empty one, on which the file system is mounted. ``options``: of mount. Programs that this
    process starts in the block are throttled when they read. None: this machine does not allow it."""
    name = f"culmen-{uuid.uuid4().hex[:8]}"
    with ExitStack() as undo:
        try:
            place = _mounted(folder / name, _MEMORY / name, options, mib, undo)
            _throttle(_device_of(place), requests_per_s, name, undo)
        except (OSError, subprocess.CalledProcessError):
            place = None
        yield place


def _mounted(place: Path, image: Path, options: str, mib: int, undo: ExitStack) -> Path:
    with image.open("wb") as file:
        undo.callback(image.unlink)
        os.truncate(file.fileno(), mib << 20)
    _run("mkfs.ext4", "-q", "-F", str(image))
    loop = _run("losetup", "--find", "--show", str(image))
    undo.callback(_run, "losetup", "--detach", loop)
    place.mkdir()
    undo.callback(place.rmdir)
    _run("mount", "-o", options, loop, str(place))
    undo.callback(_run, "umount", str(place))
    Path(f"/sys/block/{Path(loop).name}/queue/read_ahead_kb").write_text(str(_READ_AHEAD_KIB))
    return place


def _device_of(place: Path) -> str:
    device = place.stat().st_dev
    return f"{os.major(device)}:{os.minor(device)}"


def _throttle(device: str, requests_per_s: int, name: str, undo: ExitStack) -> None:
    """With control groups of version 1 or 2."""
    first = _GROUPS / "blkio"
    if first.is_dir():
        own = first / name
        limit, members = (own / "blkio.throttle.read_iops_device", f"{device} {requests_per_s}"), "tasks"
        former = first / _own_group(":blkio:").lstrip("/")
    else:
        own = _GROUPS / name
        limit, members = (own / "io.max", f"{device} riops={requests_per_s}"), "cgroup.procs"
        former = _GROUPS / _own_group("0::").lstrip("/")
    own.mkdir()
    undo.callback(own.rmdir)
    file, text = limit
    file.write_text(text)
    (own / members).write_text(str(os.getpid()))
    undo.callback((former / members).write_text, str(os.getpid()))


def _own_group(controller: str) -> str:
    lines = Path("/proc/self/cgroup").read_text().splitlines()
    return next((line.partition(controller)[2] for line in lines if controller in line), "/")


def _run(*words: str) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()
