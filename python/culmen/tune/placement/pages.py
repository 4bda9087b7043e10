"""Which huge pages a program of this machine may use. glibc's malloc takes them if GLIBC_TUNABLES says so:
https://sourceware.org/glibc/manual/latest/html_node/Memory-Allocation-Tunables.html"""

import os
from pathlib import Path

_KERNEL = Path("/sys/kernel/mm")
_LEAST_GLIBC = (2, 35)  # the first version with the tunable glibc.malloc.hugetlb


def huge_pages(kernel: Path = _KERNEL) -> tuple[list[str], list[str]]:
    """The kinds that a program can ask for, and a sentence for each other kind."""
    if not _has_tunable():
        return [], ["Huge pages: they need glibc 2.35 or later."]
    kinds, left_out = [], []
    mode = _text(kernel / "transparent_hugepage" / "enabled")
    if "[madvise]" in mode:
        kinds.append("transparent")
    elif "[always]" in mode:
        left_out.append("Transparent huge pages: they are on for all programs already.")
    else:
        left_out.append("Transparent huge pages: this kernel does not allow them.")
    if any(_count(size / "free_hugepages") for size in (kernel / "hugepages").glob("hugepages-*")):
        kinds.append("explicit")
    else:
        why = "none are reserved; an administrator can do that with sysctl vm.nr_hugepages=N."
        left_out.append(f"Explicit huge pages: {why}")
    return kinds, left_out


def _has_tunable() -> bool:
    try:
        name, _, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").partition(" ")
        return name == "glibc" and tuple(map(int, version.split("."))) >= _LEAST_GLIBC
    except (ValueError, OSError):
        return False


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def _count(path: Path) -> int:
    text = _text(path).strip()
    return int(text) if text.isdecimal() else 0
