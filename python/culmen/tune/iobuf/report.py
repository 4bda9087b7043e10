"""The reports of libculmen-iobuf on all processes of a program. The files are from src/iobuf/report.c."""

from collections import Counter
from pathlib import Path

from ...base.text import plural

_LARGEST = "memory_bytes"
_REASONS = {
    "pattern": "left out by name (--files, --except)",
    "stream": "used by stdio, or as standard input or output",
    "mapping": "mapped into memory (mmap)",
    "lock": "locked (fcntl, flock)",
    "process": "shared with another process",
    "flags": "opened with O_DIRECT or O_SYNC",
    "other": "used in another way that cannot be buffered",
}


def read_reports(folder: Path) -> Counter[str]:
    """Sums over all processes; for the memory, the largest value."""
    sums: Counter[str] = Counter()
    for path in sorted(folder.glob("*.iobuf")):
        for line in path.read_text().splitlines():
            name, _, value = line.partition(" ")
            sums[name] = max(sums[name], int(value)) if name == _LARGEST else sums[name] + int(value)
    return sums


def sentences(sums: Counter[str], failed: bool = False) -> list[str]:
    """The sentences for the user. ``failed``: the program was killed, or ended with an exit code other than 0."""
    if failed and not sums:
        return ["The program failed. No process reported calls on files; killed processes cannot report them."]
    lines = [
        f"Not buffered: {plural(count, 'file')} {text}."
        for reason, text in _REASONS.items()
        if (count := sums[f"aside_{reason}"])
    ]
    if sums["files"] or not lines:
        lines = _calls(sums) + lines
    if sums["errors"]:
        lines.append(f"{plural(sums['errors'], 'write')} in the background failed; {_told(sums)}.")
    return lines


def why_nothing(sums: Counter[str]) -> str:
    """Why no file was buffered, as a sentence; empty if a file was."""
    if sums["files"]:
        return ""
    asides = [(sums[f"aside_{reason}"], text) for reason, text in _REASONS.items()]
    why = ", ".join(f"{plural(count, 'file')} {text}" for count, text in asides if count)
    if not why:
        why = (
            "the program opened no file by calls that the library sees; it does not see those of statically linked "
            "programs and of Go"
        )
    return f"The buffers of --iobuf had no effect, because no file could be buffered: {why}."


def _calls(sums: Counter[str]) -> list[str]:
    if not sums["files"]:
        return ["The program opened no file that could be buffered."]
    return [
        f"{plural(sums['files'], 'file')} buffered.",
        *(
            f"{plural(sums[f'{call}s'], call)} of the program became {plural(sums[f'system_{call}s'], call)} "
            f"of the system ({_mib(sums[volume])})."
            for call, volume in (("write", "written_bytes"), ("read", "read_bytes"))
        ),
        f"A process used at most {_mib(sums[_LARGEST])} for buffers.",
    ]


def _told(sums: Counter[str]) -> str:
    untold = sums["untold"]
    if not untold:
        return "the program was told"
    return "no call could tell the program" + ("" if untold == sums["errors"] else f" of {untold} of them")


def _mib(count: int) -> str:
    return f"{count / 2**20:.1f} MiB"
