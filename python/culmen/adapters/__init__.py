"""Optimizers of other libraries under names such as "optuna:TPESampler".

The core calls ``make`` for such a name, and what it returns (an ``Adapter``) from a thread of its own, one call at a
time. An adapter gives the library's own suggestions: with the same seed and the same history, bit for bit.
"""

from collections.abc import Mapping
from importlib import import_module, metadata

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


__all__ = ["ABOUT", "DISTRIBUTIONS", "EXAMPLES", "FAMILIES", "Adapter", "Terms", "installed", "make"]
