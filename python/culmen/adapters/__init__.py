"""Optimizers of other libraries under names such as "optuna:TPESampler".

The core calls ``make`` for such a name, and what it returns (an ``Adapter``) from a thread of its own, one call at a
time. An adapter gives the library's own suggestions: with the same seed and the same history, bit for bit.
"""

from collections.abc import Mapping
from importlib import import_module, metadata
from typing import Any

from .. import _core
from .._core import InputError
from .adapter import Adapter, Terms

_HOMES = {"optuna": "optuna", "pycma": "pycma", "nevergrad": "nevergrad", "pagmo": "pygmo", "pygmo": "pygmo"}
DISTRIBUTIONS = {"optuna": "optuna", "pycma": "cma", "nevergrad": "nevergrad", "pygmo": "pygmo"}
FAMILIES = tuple(_HOMES)
ABOUT = {
    "optuna": "any of optuna.samplers",
    "pycma": "CMAEvolutionStrategy",
    "nevergrad": "any of its registry",
    "pygmo": "any algorithm of pagmo; also pagmo:…",
}
EXAMPLES = {
    "optuna": "optuna:TPESampler",
    "pycma": "pycma",
    "nevergrad": "nevergrad:NGOpt",
    "pygmo": "pygmo:de1220",
}

_PREFIXES = {home: home if home == "pycma" else f"{home}:" for home in DISTRIBUTIONS}
_NO_NEEDS = dict.fromkeys(("needs_residuals", "needs_reals", "needs_order", "one_objective"), False)
_NEEDS: dict[str, dict[str, bool]] = {
    "optuna": {**_NO_NEEDS, "asynchronous": True},
    "pycma": {**_NO_NEEDS, "needs_order": True, "one_objective": True, "asynchronous": False},
    "nevergrad": {**_NO_NEEDS, "asynchronous": True},
    "pygmo": {**_NO_NEEDS, "needs_order": True, "asynchronous": False},
}


def make(
    name: str,
    space: _core.Space,
    seed: int,
    options: Mapping[str, bool | float | str],
    objectives: int,
    evaluations: int,
    generational: bool,
) -> Adapter:
    """Raises InputError with one sentence: the library is not there, has no such optimizer, or does not take this."""
    family, _, what = name.partition(":")
    home = _HOMES[family]
    given = {key: whole(value) for key, value in options.items()}
    try:
        adapter = import_module(f".{home}", __name__)
    except ImportError as e:
        raise InputError(_missing(name, DISTRIBUTIONS[home], e)) from None
    terms = Terms(space, seed, objectives, evaluations)
    try:
        made: Adapter = adapter.make(name, what, given, terms)
    except ImportError as e:  # of what the library itself needs for this one
        raise InputError(_missing(name, e.name or DISTRIBUTIONS[home], e)) from None
    if not generational and not made.window:
        raise InputError(f"optimizer '{name}' works in generations only; leave generational = false out")
    return made


def catalogue(library: str | None = None) -> list[dict[str, Any]]:
    """As ``_core.optimizer_catalogue``, of what is installed; options are the library's own. Each library by what its
    names begin with, or, which imports it, those of one by their names. Raises InputError where that cannot be."""
    if library is None:
        return [_entry(home, _PREFIXES[home], ABOUT[home]) for home, version in installed().items() if version]
    home = _HOMES[library]
    try:
        names = sorted(import_module(f".{home}", __name__).names())
    except ImportError as e:
        raise InputError(_missing(library, DISTRIBUTIONS[home], e)) from None
    return [_entry(home, f"{library}:{what}" if what else library, what or ABOUT[home]) for what in names]


def _entry(home: str, name: str, about: str) -> dict[str, Any]:
    distribution = DISTRIBUTIONS[home]
    of_library = {"options": [], "library": f"{distribution} {metadata.version(distribution)}"}
    return {"name": name, "about": about, **_NEEDS[home], **of_library}


def whole(value: bool | float | str) -> bool | int | float | str:
    """The core has one kind of number; libraries tell 5 from 5.0."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _missing(name: str, distribution: str, error: ImportError) -> str:
    if error.name in (None, DISTRIBUTIONS.get(name.partition(":")[0]), distribution):
        return f"optimizer '{name}' needs {distribution}, which is not installed here: pip install {distribution}"
    return f"optimizer '{name}': {distribution} cannot be imported: {error}"


def installed() -> dict[str, str]:
    """The libraries by name, with their version; empty where they are not installed."""
    found: dict[str, str] = {}
    for library, distribution in DISTRIBUTIONS.items():
        try:
            found[library] = metadata.version(distribution)
        except metadata.PackageNotFoundError:
            found[library] = ""
    return found


__all__ = ["ABOUT", "DISTRIBUTIONS", "EXAMPLES", "FAMILIES", "Adapter", "Terms", "catalogue", "installed", "make"]
