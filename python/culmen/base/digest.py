"""A digest of the evaluator: a store can tell that a function, a value that it captures or a data file has changed.

It covers the function or file itself, and the user's modules that a Python file imports. Modules that the code looks up
by a name that it computes are not seen.
"""

import hashlib
import shutil
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from importlib.machinery import PathFinder
from pathlib import Path
from types import FunctionType, MethodType
from typing import Any

from .captured import captured_by
from .functions import call_of, code_of, digest_of_code, unwrapped
from .imported import modules_of
from .text import enumerated

_CHUNK = 1 << 20
KEY = "digest"
# of: its name; sha256; python, code, values, unseen, data, modules: if known; changes: those accepted
Digest = dict[str, Any]
_PYTHON = str(sys.implementation.cache_tag)


def of_file(path: Path) -> Digest | None:
    """None if the file cannot be read. For Python code, it also contains a digest that does not depend on comments."""
    sha = _sha_of(path)
    if sha is None:
        return None
    found: Digest = {"of": path.name, "sha256": sha}
    if path.suffix == ".py" and (code := code_of(path.read_bytes(), path.name)):
        found |= {"python": _PYTHON, "code": code}
    return found


def of_files(paths: dict[str, Path]) -> dict[str, str]:
    """Digests by name. The digest of a folder covers the names and contents of all files in it. Files that cannot be
    read are left out."""
    found = {name: _sha_of_folder(path) if path.is_dir() else _sha_of(path) for name, path in paths.items()}
    return {name: sha for name, sha in found.items() if sha}


def _sha_of(path: Path) -> str | None:
    sha = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                sha.update(chunk)
    except OSError:
        return None
    return sha.hexdigest()


def _sha_of_folder(folder: Path) -> str:
    files = sorted(_files_in(folder))
    lines = [f"{path.relative_to(folder)} {_sha_of(path)}" for path in files]
    return hashlib.sha256("\n".join(lines).encode(errors="surrogateescape")).hexdigest()


def _files_in(folder: Path, above: frozenset[Path] = frozenset()) -> Iterator[Path]:
    """Follows links to folders, unless they lead back to one in ``above``. Leaves out folders that cannot be read."""
    real = folder.resolve()
    if real in above:
        return
    try:
        inside = list(folder.iterdir())
    except OSError:
        return
    for path in inside:
        if path.is_dir():
            yield from _files_in(path, above | {real})
        elif path.is_file():
            yield path


def of_script(path: Path, folder: Path) -> Digest | None:
    """The digest of a file and, if it is Python, of the modules that it imports. ``folder``: a further folder for
    modules."""
    found = of_file(path)
    return found and _with_modules(found, path, path.stem, [str(path.resolve().parent), str(folder)])


def of_module(name: str, folder: Path) -> Digest | None:
    """The digest of a module's file, which is found without running any code, and of the modules that it imports."""
    places, spec = [str(folder), *sys.path], None
    for end in range(1, name.count(".") + 2):
        spec = PathFinder.find_spec(".".join(name.split(".")[:end]), places)
        if spec is None:
            return None
        places = list(spec.submodule_search_locations or [])
    if not (spec and spec.has_location and spec.origin):
        return None
    path = Path(spec.origin)
    found = of_file(path)
    return found and _with_modules(found, path, name, [str(folder)])


def _with_modules(found: Digest, path: Path, name: str, places: list[str]) -> Digest:
    if "code" not in found:
        return found
    modules = {module: of_file(file) for module, file in modules_of(path, name, places).items()}
    return {**found, "modules": {module: of for module, of in modules.items() if of}}


def of_program(name: str, templates: list[Path]) -> Digest | None:
    """The digest of the program's file and of its templates."""
    found = shutil.which(name)
    files = ([Path(found)] if found else []) + templates
    if found and not templates:
        return of_file(files[0])
    parts = list(map(_sha_of, files))
    if not parts or None in parts:
        return None
    whole = parts[0] if len(parts) == 1 else hashlib.sha256("".join(map(str, parts)).encode()).hexdigest()
    return {"of": " or ".join(path.name for path in files), "sha256": whole}


def of_function(f: Any, name: str) -> Digest | None:
    """The digest of the compiled function, and of the values that it captures. Comments, and the lines around a lambda,
    do not change it.

    None if it has neither Python code nor values. Digests of different versions of Python cannot be compared.
    """
    inner = unwrapped(f)
    while isinstance(inner, partial):
        inner = unwrapped(inner.func)
    function = inner if isinstance(inner, FunctionType | MethodType) else call_of(inner)
    code = getattr(function, "__code__", None)
    captured = captured_by(f)
    if code is None and not captured.digests:
        return None
    found = {"of": name, "python": _PYTHON, "values": captured.digests, "unseen": captured.unseen}
    return found if code is None else {**found, "sha256": digest_of_code(code)}


def change(configuration: dict[str, Any], now: Digest | None) -> str:
    """A sentence if the evaluator has changed since the store was made; empty if it has not, or if that is unknown."""
    changed = list(_changed(configuration.get(KEY) or {}, now or {}))
    return f"{_listed(changed)} changed since this study was started" if changed else ""


def unknown(configuration: dict[str, Any], now: Digest | None) -> str:
    """A sentence if some part of the evaluator cannot be compared with the start of the study, else empty. These parts
    are values without a pickle, and values without a digest in a store of an older version."""
    before, now = configuration.get(KEY) or {}, now or {}
    names = [name for name in now.get("data", {}) if name not in before.get("data", {})]
    if now.get("modules") and "modules" not in before and "sha256" in before:
        names.insert(0, f"the modules that {now['of']} imports")
    if now.get("values") and "values" not in before and before.get("python") == now.get("python"):
        names.insert(0, f"the values that {now['of']} captures")
    parts = []
    if names:
        listed = enumerated(names)
        parts.append(
            f"the store contains no checksum of {listed}; culmen adds it now, but cannot tell whether {listed} changed "
            "before"
        )
    if unseen := now.get("unseen"):
        have = "has" if len(unseen) == 1 else "have"
        named = enumerated([f"'{name}' ({kind})" for name, kind in unseen.items()])
        parts.append(f"culmen cannot check whether {named} {have} changed since this study was started")
    return "; ".join(parts)


def merged(before: Digest | None, now: Digest | None) -> Digest | None:
    """The digest for the store when a study is resumed: the present one, with the accepted changes of all starts."""
    if not before or not now:
        return now or before
    changes = [*before.get("changes", []), *_changed(before, now)]
    return {**now, "changes": list(dict.fromkeys(changes))} if changes else now


def _changed(before: Digest, now: Digest) -> Iterable[str]:
    comparable = before.get("python") in (None, now.get("python")) or "code" in before
    if "sha256" in before and "sha256" in now and comparable and _code_changed(before, now):
        yield now["of"]
    yield from _changed_modules(before.get("modules"), now.get("modules"))
    if before.get("python") == now.get("python"):
        yield from (f"'{name}'" for name in _differing("values", before, now))
    yield from (name for name in _differing("data", before, now) if name in before["data"] and name in now["data"])


def _changed_modules(before: dict[str, Digest] | None, now: dict[str, Digest] | None) -> Iterable[str]:
    """New and removed modules count, too."""
    if before is None or now is None:
        return
    for name in {**before, **now}:
        if name not in before or name not in now or _code_changed(before[name], now[name]):
            yield f"the module '{name}'"


def _code_changed(before: Digest, now: Digest) -> bool:
    if "code" in before and "code" in now and before["python"] == now["python"] and before["code"] == now["code"]:
        return False
    return bool(before["sha256"] != now["sha256"])


def _differing(part: str, before: Digest, now: Digest) -> list[str]:
    if part not in before or part not in now:
        return []
    return [name for name in {**before[part], **now[part]} if before[part].get(name) != now[part].get(name)]


def _listed(names: list[str]) -> str:
    return f"{enumerated(names)} {'has' if len(names) == 1 else 'have'}"
