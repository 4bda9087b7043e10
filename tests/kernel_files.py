"""Files in a folder instead of /proc/sys: see CULMEN_PROC_SYS."""

from pathlib import Path

from culmen.launch.kernel import LIMITS


def kernel_limits(folder: Path, size: int) -> None:
    """The kernel's limits of socket buffers, in bytes."""
    for name in LIMITS:
        file = folder.joinpath(*name.split("."))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{size}\n")
