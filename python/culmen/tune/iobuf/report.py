"""What libculmen-iobuf did in all processes of a program. The files are from src/iobuf/report.c."""

from collections import Counter
from pathlib import Path

from ...base.text import plural

_LARGEST = "memory_bytes"
_REASONS = {
    "stream": "used by stdio (fopen, fdopen)",
    "mapping": "mapped into memory (mmap)",
    "lock": "locked (fcntl, flock)",
    "process": "shared with another process",
    "flags": "opened with O_DIRECT or O_SYNC",
    "other": "used in another way that cannot be buffered",
}


def read_reports(folder: Path) -> Counter[str]:
    """Sums over all processes; of the memory, the largest value."""
    sums: Counter[str] = Counter()
    for path in sorted(folder.glob("*.iobuf")):
        for line in path.read_text().splitlines():
            name, _, value = line.partition(" ")
            sums[name] = max(sums[name], int(value)) if name == _LARGEST else sums[name] + int(value)
    return sums


def sentences(sums: Counter[str]) -> list[str]:
    """For the user."""
    lines = [
        f"{plural(sums['files'], 'file')} buffered.",
        f"{sums['writes']} writes of the program became {sums['system_writes']} writes of the system "
        f"({_mib(sums['written_bytes'])}).",
        f"{sums['reads']} reads of the program became {sums['system_reads']} reads of the system "
        f"({_mib(sums['read_bytes'])}).",
        f"A process used at most {_mib(sums[_LARGEST])} for buffers.",
    ]
    for reason, text in _REASONS.items():
        if count := sums[f"aside_{reason}"]:
            lines.append(f"Not buffered: {plural(count, 'file')} {text}.")
    if sums["errors"]:
        lines.append(f"{plural(sums['errors'], 'write')} in the background failed; {_told(sums)}.")
    return lines


def _told(sums: Counter[str]) -> str:
    untold = sums["untold"]
    if not untold:
        return "the program was told"
    return "no call could tell the program" + ("" if untold == sums["errors"] else f" of {untold} of them")


def _mib(count: int) -> str:
    return f"{count / 2**20:.1f} MiB"
