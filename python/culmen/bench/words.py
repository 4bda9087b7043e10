"""Words of the command line: lists of names, and message sizes."""

import re
from collections.abc import Sequence

from .._core import InputError
from ..base.text import did_you_mean

MOST_BYTES = 2**31 - 1
_UNITS = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3}


def words_of(text: str, option: str, instead: str = "write names with commas between them") -> tuple[str, ...]:
    """The words of a list with commas, each once. Raises InputError if there is none."""
    words = tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
    if not words:
        raise InputError(f"{option} is empty; {instead}")
    return words


def check_known(option: str, kind: str, given: Sequence[str], known: Sequence[str]) -> None:
    """Raises InputError, which names the word of ``given`` that is unknown."""
    for word in given:
        if word not in known:
            near = did_you_mean(word, list(known))
            there = "" if near else f"; there are {', '.join(known)}"
            raise InputError(f"{option}: there is no {kind} '{word}'{near}{there}")


def sizes_of(text: str, option: str = "--sizes") -> tuple[int, ...]:
    """Sizes such as `0,100,4K`, or ranges. `1-4M` has its ends and the powers of two between them."""
    out: set[int] = set()
    for word in words_of(text, option):
        ends = [_bytes(end) for end in word.split("-")]
        if len(ends) > 2 or None in ends:
            raise InputError(f"{option}: '{word}' is neither a size such as 100, 64K or 4M nor a range such as 1-4M")
        first, last = ends[0] or 0, ends[-1] or 0
        if first > last:
            raise InputError(f"{option}: '{word}' is a range that goes down; write the smaller size first")
        if last > MOST_BYTES:
            raise InputError(f"{option}: '{word}' is too large; a size is at most {MOST_BYTES} bytes")
        out |= {first, last} | {2**k for k in range(32) if first <= 2**k <= last}
    return tuple(sorted(out))


def one_size(text: str, option: str) -> int:
    """The bytes of one size. Raises InputError for another text."""
    found = _bytes(text)
    if found is None:
        raise InputError(f"{option} must be one size such as 64K or 4M, got '{text}'")
    return found


def beside(sizes: tuple[int, ...], offset: int) -> tuple[int, ...]:
    """The sizes, and those that are ``offset`` bytes smaller and larger."""
    found = {size + step for size in sizes for step in (-offset, 0, offset)}
    return tuple(sorted(size for size in found if 0 <= size <= MOST_BYTES))


def _bytes(word: str) -> int | None:
    found = re.fullmatch(r"(\d+)([KMG]?)(?:i?B)?", word.strip(), re.IGNORECASE)
    return int(found[1]) * _UNITS[found[2].upper()] if found else None


def short_size(size: int) -> str:
    """As users write it: 64K."""
    unit = next((unit for unit in "GMK" if size and size % _UNITS[unit] == 0), "")
    return f"{size // _UNITS[unit]}{unit}"


def shown_size(size: int) -> str:
    for unit, factor in (("MiB", 1024**2), ("KiB", 1024)):
        if size >= factor and size % factor == 0:
            return f"{size // factor} {unit}"
    return f"{size} B"
