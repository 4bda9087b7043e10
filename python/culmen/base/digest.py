"""A digest of what is evaluated, so that a store can tell that a function was edited behind the same name.

It covers the function or file itself, not what that one imports or reads.
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
    """None where it cannot be read."""
    sha = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                sha.update(chunk)
    except OSError:
        return None
    return {"of": path.name, "sha256": sha.hexdigest()}


def of_module(name: str, folder: Path) -> Digest | None:
    """Of the module's file, which is found without running anything."""
    places, spec = [str(folder), *sys.path], None
    for end in range(1, name.count(".") + 2):
        spec = PathFinder.find_spec(".".join(name.split(".")[:end]), places)
        if spec is None:
            return None
        places = list(spec.submodule_search_locations or [])
    return of_file(Path(spec.origin)) if spec and spec.has_location and spec.origin else None


def of_program(name: str, templates: list[Path]) -> Digest | None:
    """Of the program's file and of its templates."""
    found = shutil.which(name)
    parts = [of_file(path) for path in ([Path(found)] if found else []) + templates]
    if len(parts) < 2 or None in parts:
        return parts[0] if parts else None
    whole = hashlib.sha256("".join(part["sha256"] for part in parts if part).encode())
    return {"of": " or ".join(part["of"] for part in parts if part), "sha256": whole.hexdigest()}


def of_function(f: Any, name: str) -> Digest | None:
    """Of what it was compiled to, which comments and the lines around a lambda do not change.

    None where there is no code to look at. Says nothing between versions of Python.
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
    """The same in every process: a set's order and a code's address are not."""
    if isinstance(constant, CodeType):
        yield f"{constant.co_code.hex()} {constant.co_names} {constant.co_varnames} {constant.co_freevars}"
        for inner in constant.co_consts:
            yield from _words(inner)
    elif isinstance(constant, frozenset):
        yield str(sorted(map(repr, constant)))
    else:
        yield repr(constant)


def change(configuration: dict[str, Any], now: Digest | None) -> str:
    """A sentence where a store began with something else; empty: as far as is known it did not."""
    before: Digest | None = configuration.get(KEY)
    if before is None or now is None or before == now or before.get("python") != now.get("python"):
        return ""
    return f"{now['of']} has changed since this study was begun; earlier values are kept as they are"
