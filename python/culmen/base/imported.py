"""The user's modules that a file of Python code imports, found without running any code."""

import ast
import sys
import warnings
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

from .functions import installed

_OWN = "culmen"


def modules_of(file: Path, name: str, places: Sequence[str]) -> dict[str, Path]:
    """The files of all modules that ``file`` imports, directly or through other modules, by the modules' names. Modules
    of Python and of installed packages are left out. ``name``: the module name of ``file``, for relative imports.
    ``places``: folders in which modules are searched.
    """
    finder = _Finder(places)
    found: dict[str, Path] = {}
    looked: set[str] = set()
    real = file.resolve()
    waiting = [(file, name)]
    while waiting:
        path, name = waiting.pop()
        for wanted in (name, *_imports_in(path, name)):
            for part in _with_parents(wanted):
                if part in looked:
                    continue
                looked.add(part)
                place = finder.file_of(part)
                if place is None or installed(str(place)) or place.resolve() == real:
                    continue
                found[part] = place
                if place.suffix == ".py":
                    waiting.append((place, part))
    return dict(sorted(found.items()))


class _Finder:
    """Remembers where packages are."""

    def __init__(self, places: Sequence[str]) -> None:
        self._places, self._specs = [*places, *sys.path], dict[str, ModuleSpec | None]()

    def file_of(self, name: str) -> Path | None:
        spec = self._spec_of(name)
        return Path(spec.origin) if spec and spec.has_location and spec.origin else None

    def _spec_of(self, name: str) -> ModuleSpec | None:
        if name not in self._specs:
            self._specs[name] = self._found(name)
        return self._specs[name]

    def _found(self, name: str) -> ModuleSpec | None:
        parent, _, last = name.rpartition(".")
        if not parent:
            none = name in (_OWN, "", *sys.builtin_module_names)
            return None if none else PathFinder.find_spec(name, self._places)
        package = self._spec_of(parent)
        if package is None or not package.submodule_search_locations or installed(package.origin or parent):
            return None
        # The last word alone: for the whole name of a package without __init__.py, its parent must be imported.
        return PathFinder.find_spec(last, list(package.submodule_search_locations))


def _imports_in(file: Path, name: str) -> Iterator[str]:
    """Names of imported modules, and of objects imported from modules, which may be modules, too."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = name.split(".")[: None if file.name == "__init__.py" else -1]
            above = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            yield from filter(None, (module, *(".".join(filter(None, (module, n.name))) for n in node.names)))


def _with_parents(name: str) -> Iterator[str]:
    """Packages are imported before the modules in them."""
    words = name.split(".")
    for end in range(1, len(words) + 1):
        yield ".".join(words[:end])
