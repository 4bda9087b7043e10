"""Optimizers of other libraries under names such as "optuna:TPESampler".

The core calls ``make`` for such a name. ``make`` returns an ``Adapter``, which the core calls from a thread of its own,
one call at a time. An adapter gives the library's own suggestions. With the same seed and the same history, they are
the same bit by bit.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module, metadata
from typing import Any

from .. import _core
from .._core import InputError
from .adapter import Adapter, Terms, needs_bounds


@dataclass(frozen=True)
class Library:
    """A library whose adapter is the module of the same name in this folder."""

    distribution: str
    about: str
    example: str
    needs_order: bool = False
    needs_bounds: bool = False
    one_objective: bool = False
    asynchronous: bool = True

    def needs(self) -> dict[str, bool]:
        """The requirements, as in an entry of ``_core.optimizer_catalogue``."""
        own = ("needs_order", "needs_bounds", "one_objective", "asynchronous")
        return {"needs_residuals": False, "needs_reals": False, **{key: getattr(self, key) for key in own}}


LIBRARIES = {
    "optuna": Library("optuna", "every sampler of optuna.samplers", "optuna:TPESampler", needs_bounds=True),
    "pycma": Library("cma", "CMAEvolutionStrategy", "pycma", needs_order=True, one_objective=True, asynchronous=False),
    "nevergrad": Library("nevergrad", "every optimizer of its registry", "nevergrad:NGOpt", needs_bounds=True),
    "pygmo": Library(
        "pygmo", "every algorithm of pagmo; also written pagmo:…", "pygmo:de1220", needs_order=True, asynchronous=False
    ),
}
_HOMES = {**{name: name for name in LIBRARIES}, "pagmo": "pygmo"}
FAMILIES = tuple(_HOMES)


def make(
    name: str,
    space: _core.Space,
    seed: int,
    options: Mapping[str, bool | float | str],
    objectives: int,
    evaluations: int,
    generational: bool,
) -> Adapter:
    """Raises InputError if the library is missing, has no such optimizer, or refuses these arguments."""
    family, _, what = name.partition(":")
    home = _HOMES[family]
    given = {key: whole(value) for key, value in options.items()}
    try:
        adapter = import_module(f".{home}", __name__)
    except ImportError as e:
        raise InputError(_missing(name, LIBRARIES[home].distribution, e)) from None
    terms = Terms(space, seed, objectives, evaluations)
    if LIBRARIES[home].needs_bounds:
        needs_bounds(name, terms)
    try:
        made: Adapter = adapter.make(name, what, given, terms)
    except ImportError as e:  # a package that the library needs for this optimizer
        raise InputError(_missing(name, e.name or LIBRARIES[home].distribution, e)) from None
    if not generational and not made.window:
        raise InputError(f"optimizer '{name}' works only in generations; remove generational = false")
    return made


def catalogue(library: str | None = None) -> list[dict[str, Any]]:
    """As ``_core.optimizer_catalogue``, for installed libraries; options are not listed.

    Without ``library``: one entry for each library, with the prefix of its names. With ``library``, which is then
    imported: one entry for each of its optimizers. Raises InputError if it cannot be imported.
    """
    if library is None:
        there = [home for home, version in installed().items() if version]
        return [_entry(home, home if home == "pycma" else f"{home}:", LIBRARIES[home].about) for home in there]
    home = _HOMES[library]
    try:
        names = sorted(import_module(f".{home}", __name__).names())
    except ImportError as e:
        raise InputError(_missing(library, LIBRARIES[home].distribution, e)) from None
    return [_entry(home, f"{library}:{what}" if what else library, what or LIBRARIES[home].about) for what in names]


def _entry(home: str, name: str, about: str) -> dict[str, Any]:
    library = LIBRARIES[home]
    of_library = {"options": [], "library": f"{library.distribution} {metadata.version(library.distribution)}"}
    return {"name": name, "about": about, **library.needs(), **of_library}


def whole(value: bool | float | str) -> bool | int | float | str:
    """The core has only one type of number, but libraries distinguish 5 from 5.0."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _missing(name: str, distribution: str, error: ImportError) -> str:
    family = LIBRARIES.get(name.partition(":")[0])
    if error.name in (None, family and family.distribution, distribution):
        return f"optimizer '{name}' needs {distribution}, which is not installed; write pip install {distribution}"
    return f"optimizer '{name}': {distribution} cannot be imported: {error}"


def installed() -> dict[str, str]:
    """The libraries and their versions; an empty version if one is not installed."""
    found: dict[str, str] = {}
    for name, library in LIBRARIES.items():
        try:
            found[name] = metadata.version(library.distribution)
        except metadata.PackageNotFoundError:
            found[name] = ""
    return found


__all__ = ["FAMILIES", "LIBRARIES", "Adapter", "Library", "Terms", "catalogue", "installed", "make"]
