"""A digest of the evaluator's code: a store can tell that a function was edited under the same name.

It covers the function or file itself, not the code that this imports or the files that it reads.
"""

import hashlib
import shutil
import sys
from collections.abc import Iterator
from functools import partial
from importlib.machinery import PathFinder
from pathlib import Path
from types import CodeType, FunctionType, MethodType
from typing import Any

_CHUNK = 1 << 20
KEY = "digest"
Digest = dict[str, str]


def of_file(path: Path) -> Digest | None:
    """None if the file cannot be read."""
    sha = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                sha.update(chunk)
    except OSError:
        return None
    return {"of": path.name, "sha256": sha.hexdigest()}


def of_module(name: str, folder: Path) -> Digest | None:
    """The digest of a module's file, which is found without running any code."""
    places, spec = [str(folder), *sys.path], None
    for end in range(1, name.count(".") + 2):
        spec = PathFinder.find_spec(".".join(name.split(".")[:end]), places)
        if spec is None:
            return None
        places = list(spec.submodule_search_locations or [])
    return of_file(Path(spec.origin)) if spec and spec.has_location and spec.origin else None


def of_program(name: str, templates: list[Path]) -> Digest | None:
    """The digest of the program's file and of its templates."""
    found = shutil.which(name)
    parts = [of_file(path) for path in ([Path(found)] if found else []) + templates]
    if len(parts) < 2 or None in parts:
        return parts[0] if parts else None
    whole = hashlib.sha256("".join(part["sha256"] for part in parts if part).encode())
    return {"of": " or ".join(part["of"] for part in parts if part), "sha256": whole.hexdigest()}


def of_function(f: Any, name: str) -> Digest | None:
    """The digest of the compiled function. Comments, and the lines around a lambda, do not change it.

    None if the function has no Python code. Digests of different versions of Python cannot be compared.
    """
    while isinstance(f, partial):
        f = f.func
    function = f if isinstance(f, FunctionType | MethodType) else vars(type(f)).get("__call__")
    code = getattr(function, "__code__", None)
    if code is None:
        return None
    sha = hashlib.sha256("\n".join(_words(code)).encode())
    return {"of": name, "sha256": sha.hexdigest(), "python": str(sys.implementation.cache_tag)}


def _words(constant: Any) -> Iterator[str]:
    """The same in every process, unlike the order of a set and the address of a code object."""
    if isinstance(constant, CodeType):
        yield f"{constant.co_code.hex()} {constant.co_names} {constant.co_varnames} {constant.co_freevars}"
        for inner in constant.co_consts:
            yield from _words(inner)
    elif isinstance(constant, frozenset):
        yield str(sorted(map(repr, constant)))
    else:
        yield repr(constant)


def change(configuration: dict[str, Any], now: Digest | None) -> str:
    """A sentence if the evaluator has changed since the store was made; empty if it has not, or if that is unknown."""
    before: Digest | None = configuration.get(KEY)
    if before is None or now is None or before == now or before.get("python") != now.get("python"):
        return ""
    return f"{now['of']} has changed since this study was started; earlier values are kept unchanged"
