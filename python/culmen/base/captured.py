"""Digests of the values that a function uses but does not receive: globals, closures, defaults, attributes of objects.

Equal values have equal digests in every process. Installed modules and what they define count by their names only.
Generators of random numbers and loggers count by their types only.
"""

import copyreg
import functools
from collections.abc import Iterator
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, NamedTuple

from .functions import call_of, has_name, members, own_attributes, unwrapped, values_in
from .shapes import CACHED, digest, reduced
from .values import Values


class Captured(NamedTuple):
    """By the names that a callable captures."""

    digests: dict[str, str]
    unseen: dict[str, str]  # the type of the first value that cannot be compared, such as a lock or an open file


def captured_by(f: Any) -> Captured:
    values = Values()
    found: dict[str, list[str]] = {}
    unseen: dict[str, str] = {}
    for name, value in sorted(_captured(f), key=lambda item: item[0]):
        before = len(values.unseen)
        found.setdefault(name, []).append(values.digest(value))
        if values.unseen[before:]:
            unseen.setdefault(name, values.unseen[before])
    return Captured({name: ds[0] if len(ds) == 1 else digest(*ds) for name, ds in found.items()}, unseen)


def _captured(f: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(f, CACHED):
        yield from ((f"{getattr(f, '__name__', 'self')}.{name}", value) for name, value in own_attributes(f).items())
    f = unwrapped(f)
    if isinstance(f, functools.partial):
        yield from ((f"partial argument {place}", value) for place, value in enumerate(f.args, 1))
        yield from ((f"partial argument {name}", value) for name, value in f.keywords.items())
        yield from ((f"partial.{name}", value) for name, value in vars(f).items())
        yield from _captured(f.func)
    elif isinstance(f, MethodType):
        yield from _captured_by_method(f.__self__, unwrapped(f.__func__))
    elif isinstance(f, FunctionType):
        yield from values_in(f)
    elif isinstance(call := call_of(f), FunctionType):
        yield from _captured_by_method(f, call)
    elif not (isinstance(f, BuiltinFunctionType | type) and has_name(f)):
        yield "self", f


def _captured_by_method(owner: Any, method: Any) -> Iterator[tuple[str, Any]]:
    """``owner``: an object; or, for a class method, a class."""
    if not isinstance(owner, type):
        yield from _attributes(owner)
    for kind in (owner if isinstance(owner, type) else type(owner)).__mro__:
        if not has_name(kind):
            named = ((name, value) for name, value in members(kind) if unwrapped(value) is not method)
            yield from ((f"{kind.__name__}.{name}", value) for name, value in named)
    yield from _captured(method)


def _attributes(instance: Any) -> Iterator[tuple[str, Any]]:
    if _has_only_attributes(instance):
        yield from ((f"self.{name}", value) for name, value in vars(instance).items())
    else:
        yield "self", instance


def _has_only_attributes(instance: Any) -> bool:
    """Pickle restores it from them alone."""
    try:
        make, arguments, *state = reduced(instance)
        own = vars(instance)
    except Exception:  # objects of any library, which may refuse in any way
        return False
    given = state[0] if state else None
    same = own == {} if given is None else isinstance(given, dict) and given.keys() == own.keys()
    plain = make is copyreg.__newobj__ and len(arguments) == 1  # type: ignore[attr-defined]
    return plain and same and not any(part is not None for part in state[1:])
