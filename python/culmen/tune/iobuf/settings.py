"""The settings of libculmen-iobuf, which it reads from the environment. See src/iobuf/settings.c."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..._core import InputError
from ...bench.words import check_known, one_size, words_of
from ...launch.programs import own_library

MOST_BUFFERS = 64
LEAST_BYTES, MOST_BYTES = 4096, 1 << 30
_LEAST = {"buffers": 1, "read_ahead": 0, "write_behind": 0}
_LEAST_SIZE = {"size": LEAST_BYTES, "large": 1}
_NAMES = (*_LEAST_SIZE, *_LEAST)
_MOST_MEMORY_BYTES = 2**63 - 1
_LONGEST = 4000  # bytes of a variable


@dataclass(frozen=True)
class Given:
    """The options as typed; None for the default of the library."""

    size: str | None = None
    large: str | None = None
    buffers: int | None = None
    read_ahead: int | None = None
    write_behind: int | None = None
    delay_ms: int | None = None
    memory: str | None = None
    files: str | None = None
    exceptions: Sequence[str] = ()
    rules: Sequence[str] = ()


def library() -> Path:
    """The path of libculmen-iobuf. Raises InputError if it was not built."""
    found = own_library("iobuf").with_name("libculmen-iobuf.so")
    if not found.exists():
        raise InputError("culmen was built without libculmen-iobuf, which needs 64-bit Linux")
    return found


def variables_of(given: Given) -> dict[str, str]:
    """Variables of the environment. Raises InputError for a wrong option."""
    values: dict[str, object] = {
        "SIZE": given.size and buffer_bytes(given.size, "--size"),
        "LARGE": given.large and buffer_bytes(given.large, "--large", 1),
        "BUFFERS": given.buffers,
        "READ_AHEAD": given.read_ahead,
        "WRITE_BEHIND": given.write_behind,
        "DELAY_MS": given.delay_ms,
        "MEMORY": given.memory and _memory_bytes(given.memory),
        "FILES": given.files and ",".join(words_of(given.files, "--files")),
        "EXCEPT": ",".join(word for text in given.exceptions for word in words_of(text, "--except")) or None,
        "RULES": ";".join(rule_of(text) for text in given.rules) or None,
    }
    found = {f"CULMEN_IOBUF_{name}": str(value) for name, value in values.items() if value is not None}
    for name, option in (("FILES", "--files"), ("EXCEPT", "--except"), ("RULES", "--for")):
        if len(found.get(f"CULMEN_IOBUF_{name}", "").encode()) > _LONGEST:
            raise InputError(f"the patterns of {option} are longer than {_LONGEST} bytes; use fewer or shorter ones")
    return found


def rule_of(text: str) -> str:
    """A rule such as ``*.dat:size=4M,buffers=8``, with its sizes in bytes. Raises InputError for a wrong rule."""
    pattern, _, settings = text.rpartition(":")
    if not pattern or ";" in pattern or "=" not in settings:
        raise InputError(f"--for must be PATTERN:NAME=VALUE,… such as '*.dat:size=4M,buffers=8', got '{text}'")
    return f"{pattern}:{','.join(_setting(word) for word in words_of(settings, '--for'))}"


def _setting(word: str) -> str:
    name, _, value = word.partition("=")
    check_known("--for", "setting", [name], _NAMES)
    if name in _LEAST_SIZE:
        return f"{name}={buffer_bytes(value, f'--for: {name}', _LEAST_SIZE[name])}"
    least = _LEAST[name]
    if not value.isdecimal() or not least <= int(value) <= MOST_BUFFERS:
        raise InputError(f"--for: {name} must be a whole number from {least} to {MOST_BUFFERS}, got '{value}'")
    return f"{name}={int(value)}"


def buffer_bytes(text: str, option: str, least: int = LEAST_BYTES) -> int:
    size = one_size(text, option)
    if not least <= size <= MOST_BYTES:
        raise InputError(f"{option} must be from {'4K' if least == LEAST_BYTES else least} to 1G, got '{text}'")
    return size


def _memory_bytes(text: str) -> int:
    size = one_size(text, "--memory")
    if not LEAST_BYTES <= size <= _MOST_MEMORY_BYTES:
        raise InputError(f"--memory must be from 4K to {_MOST_MEMORY_BYTES} bytes, got '{text}'")
    return size
