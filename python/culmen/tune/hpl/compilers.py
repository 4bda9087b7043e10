"""The compilers of this machine, and the BLAS that HPL is linked with."""

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..._core import InputError
from ...launch.programs import said_by

_USUAL = ("gcc", "clang", "icx", "nvc", "armclang")
FLAGS = ("-O2", "-O3 -march=native")
_FLAGS = re.compile(r"(?:-W[alp],\S*|[^,])+")
_BLAS = ("libblas.so.3", "libopenblas.so.0", "libopenblas.so")


@dataclass(frozen=True)
class Compiler:
    """``name``: as the user calls it. ``title``: with its version."""

    name: str
    path: str
    title: str


def compilers_named(text: str | None) -> list[Compiler]:
    """``text``: a list such as gcc,clang-16; None for the usual ones on PATH. Raises InputError if one is missing."""
    if text is None:
        found = [compiler for name in _USUAL if (compiler := _compiler(name))]
        if not found:
            raise InputError(f"no C compiler is on PATH (looked for {', '.join(_USUAL)}); install one, such as gcc")
        return found
    out = []
    for name in listed(text, "--compilers"):
        compiler = _compiler(name)
        if compiler is None:
            raise InputError(f"--compilers {name}: there is no such program on PATH")
        out.append(compiler)
    return out


def _compiler(name: str) -> Compiler | None:
    """If there is no clang, the newest of clang-14, clang-16 and so on is used."""
    path = shutil.which(name) or _newest(name)
    if path is None:
        return None
    first = said_by(path, "--version").strip().partition("\n")[0]
    version = re.search(r"\d+\.\d+(\.\d+)?", first.rpartition(")")[2] or first) or re.search(r"\d+\.\d+", first)
    return Compiler(name, path, f"{name} {version[0]}" if version and version[0] not in name else name)


def _newest(name: str) -> str | None:
    folders = dict.fromkeys(Path(found).parent for each in ("cc", "sh", "make") if (found := shutil.which(each)))
    numbered = {
        int(number[1]): path
        for folder in folders
        for path in folder.glob(f"{name}-*")
        if (number := re.fullmatch(rf"{re.escape(name)}-(\d+)", path.name))
    }
    return str(numbered[max(numbered)]) if numbered else None


def flags_listed(texts: Sequence[str]) -> list[str]:
    """Each text is a list with commas, such as ``-O2,-O3 -march=native``. Words such as ``-Wl,-O1`` keep their commas.
    Raises InputError."""
    words = [word.strip() for text in texts for word in _FLAGS.findall(text) if word.strip()]
    if texts and not words:
        raise InputError("--flags: the list is empty")
    return list(dict.fromkeys(words or FLAGS))


def listed(text: str, option: str) -> list[str]:
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not words:
        raise InputError(f"{option}: the list is empty")
    return list(dict.fromkeys(words))


def words_for_blas(given: str | None) -> list[str]:
    """The words for the linker. ``given``: the user's words. The default is the BLAS that Debian's alternatives choose,
    because it can be exchanged after the build. Raises InputError if there is no BLAS."""
    if given is not None:
        return given.split()
    known = said_by("ldconfig", "-p") or said_by("/sbin/ldconfig", "-p")
    for name in _BLAS:
        if line := re.search(rf"^\s*{re.escape(name)} .*=> (\S+)$", known, re.MULTILINE):
            return [line[1]]
    raise InputError(
        "there is no BLAS to link HPL with; install one, for example with `apt-get install libopenblas0-pthread`, or "
        'give the words for the linker, as in --link "-L/opt/blas/lib -lopenblas"'
    )
