"""The input file of HPL, ``HPL.dat``. The file ``hpccinf.txt`` of HPC Challenge begins with the same 31 lines. After
four lines, each line has one number, a list of numbers, or the length of the next list. Source: HPL's file TUNING."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import NamedTuple

from ..._core import InputError

Numbers = tuple[int, ...]
MOST = 20  # HPL_MAX_PARAM: largest length of a list
LINES = 31
_WIDTH = 12


class _Line(NamedTuple):
    """``field``: the field of Dat. ``comment``: HPL ignores it. ``counted``: the comment of the line before, which has
    the length of this list. ``least``, ``most``: allowed numbers."""

    field: str
    comment: str
    counted: str = ""
    least: int = 0
    most: int | None = None


_LINES = (
    _Line("n", "Ns", "# of problems sizes (N)"),
    _Line("nb", "NBs", "# of NBs", least=1),
    _Line("pmap", "PMAP process mapping (0=Row-,1=Column-major)", most=1),
    _Line("p", "Ps", "# of process grids (P x Q)", least=1),
    _Line("q", "Qs", least=1),
    _Line("threshold", "threshold"),
    _Line("pfact", "PFACTs (0=left, 1=Crout, 2=Right)", "# of panel fact", most=2),
    _Line("nbmin", "NBMINs (>= 1)", "# of recursive stopping criterium", least=1),
    _Line("ndiv", "NDIVs", "# of panels in recursion", least=2),
    _Line("rfact", "RFACTs (0=left, 1=Crout, 2=Right)", "# of recursive panel fact.", most=2),
    _Line("bcast", "BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)", "# of broadcast", most=5),
    _Line("depth", "DEPTHs (>=0)", "# of lookahead depth"),
    _Line("swap", "SWAP (0=bin-exch,1=long,2=mix)", most=2),
    _Line("swap_threshold", "swapping threshold"),
    _Line("l1", "L1 in (0=transposed,1=no-transposed) form", most=1),
    _Line("u", "U  in (0=transposed,1=no-transposed) form", most=1),
    _Line("equilibration", "Equilibration (0=no,1=yes)", most=1),
    _Line("align", "memory alignment in double (> 0)", least=1),
)


@dataclass(frozen=True)
class Dat:
    """The fields have the names and the codes of HPL. HPL runs each combination of the lists; the grids are the pairs
    of ``p`` and ``q``. The defaults are those of the file in HPC Challenge."""

    n: Numbers = (1000,)
    nb: Numbers = (80,)
    pmap: int = 0
    p: Numbers = (1,)
    q: Numbers = (1,)
    threshold: float = 16.0  # of the scaled residuals
    pfact: Numbers = (2,)
    nbmin: Numbers = (4,)
    ndiv: Numbers = (2,)
    rfact: Numbers = (1,)
    bcast: Numbers = (1,)
    depth: Numbers = (1,)
    swap: int = 2
    swap_threshold: int = 64
    l1: int = 0
    u: int = 0
    equilibration: int = 1
    align: int = 8

    def text(self, title: str = "written by culmen") -> str:
        """The file: results go to the standard output (HPC Challenge ignores that)."""
        lines = ["HPLinpack benchmark input file", title, _line("HPL.out", "output file name (if any)")]
        lines.append(_line("6", "device out (6=stdout,7=stderr,file)"))
        for line in _LINES:
            value = getattr(self, line.field)
            if line.counted:
                lines.append(_line(str(len(value)), line.counted))
            lines.append(_line(" ".join(map(str, value)) if isinstance(value, tuple) else str(value), line.comment))
        return "\n".join(lines) + "\n"

    @property
    def grids(self) -> list[tuple[int, int]]:
        return list(zip(self.p, self.q, strict=True))


def _line(value: str, comment: str) -> str:
    return f"{value:<{_WIDTH}} {comment}"


def read_dat(path: Path) -> Dat:
    """Raises InputError with one sentence."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    return parse_dat(text, str(path))


def parse_dat(text: str, name: str) -> Dat:
    """``name``: name of the file, for messages. Raises InputError with one sentence."""
    lines = text.splitlines()
    if len(lines) < LINES:
        raise InputError(f"{name} has {len(lines)} lines; an input file of HPL has {LINES}")
    found: dict[str, Numbers | int | float] = {}
    count = 1
    for number, line, is_count in _numbered():
        where, words = f"{name}, line {number}", lines[number - 1].split()
        if is_count:
            count = _number(words, line, where, (1, MOST), line.counted)
        elif line.field == "threshold":
            found[line.field] = _real(words, where)
        elif isinstance(_DEFAULTS[line.field], tuple):
            found[line.field] = tuple(
                _number(words[at:], line, where, (line.least, line.most), line.comment) for at in range(count)
            )
        else:
            found[line.field] = _number(words, line, where, (line.least, line.most), line.comment)
    return Dat(**found)  # type: ignore[arg-type]


def least_of(field: str) -> int:
    """The least number that HPL allows in this field of Dat; 0 for other names."""
    return next((line.least for line in _LINES if line.field == field), 0)


_DEFAULTS = {each.name: each.default for each in fields(Dat)}


def _numbered() -> Iterator[tuple[int, _Line, bool]]:
    """The number of each line of the file, and whether it is a count."""
    number = 4
    for line in _LINES:
        if line.counted:
            number += 1
            yield number, line, True
        number += 1
        yield number, line, False


def _number(words: list[str], line: _Line, where: str, limits: tuple[int, int | None], what: str) -> int:
    low, high = limits
    given = words[0] if words else "nothing"
    try:
        value = int(given)
    except ValueError:
        value = low - 1
    if value < low or (high is not None and value > high):
        allowed = f"an integer from {low} to {high}" if high is not None else f"an integer of at least {low}"
        raise InputError(f"{where} ({what}): expected {allowed}, got '{given}'")
    return value


def _real(words: list[str], where: str) -> float:
    try:
        return float(words[0])
    except (IndexError, ValueError):
        raise InputError(f"{where} (threshold): expected a number, got '{words[0] if words else 'nothing'}'") from None
