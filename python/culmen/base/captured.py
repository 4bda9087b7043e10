"""Digests of the values that a function uses but does not receive: globals, closures, defaults, attributes of objects.

Equal values have equal digests in every process. Installed modules and what they define count by their names only.
Generators of random numbers, locks, queues, executors and other objects that cannot be pickled count by their types
only.
"""

import dis
import functools
import hashlib
import random
import sys
import sysconfig
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

_PLAIN = (type(None), bool, int, float, complex, str, bytes, bytearray, range, type(...))
_NUMBERS = {int, float, bool}
_LARGE_BYTES = 1 << 20  # up to this size, a copy takes no time
_PLACES = tuple(Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib"))
_BY_TYPE = ("numpy.random", "threading", "multiprocessing", "queue", "concurrent.futures", "logging")
_PICKLING = ("__reduce_ex__", "__reduce__", "__getstate__")
_LOADS = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}


def captured_by(f: Any) -> dict[str, str]:
    """A digest for each name that the callable captures."""
    values = _Values()
    found: dict[str, list[str]] = {}
    for name, value in sorted(_captured(f), key=lambda item: item[0]):
        found.setdefault(name, []).append(values.digest(value))
    return {name: digests[0] if len(digests) == 1 else _hash(*digests) for name, digests in found.items()}


def code_of(source: bytes, name: str) -> str | None:
    """The digest of a module's code: comments and empty lines do not count. None if it is not Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code = compile(source, name, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return None
    return digest_of_code(code)


def digest_of_code(code: CodeType) -> str:
    return hashlib.sha256("\n".join(_words(code)).encode(errors="surrogatepass")).hexdigest()


def unwrapped(f: Any) -> Any:
    """The function inside compiled or cached functions such as those of Numba, JAX and functools."""
    while not isinstance(f, FunctionType | MethodType | type) and callable(getattr(f, "__wrapped__", None)):
        f = f.__wrapped__
    return f


def call_of(f: Any) -> Any:
    """The method that runs when an object is called; it may be inherited."""
    return unwrapped(getattr(type(f), "__call__", None))  # noqa: B004


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


def _captured(f: Any) -> Iterator[tuple[str, Any]]:
    f = unwrapped(f)
    if isinstance(f, functools.partial):
        yield from ((f"partial argument {place}", value) for place, value in enumerate(f.args, 1))
        yield from ((f"partial argument {name}", value) for name, value in f.keywords.items())
        yield from _captured(f.func)
    elif isinstance(f, MethodType):
        yield from _captured_by_method(f.__self__, unwrapped(f.__func__))
    elif isinstance(f, FunctionType):
        yield from _captured_by_function(f)
    elif isinstance(call := call_of(f), FunctionType):
        yield from _captured_by_method(f, call)


def _captured_by_method(owner: Any, method: Any) -> Iterator[tuple[str, Any]]:
    """``owner``: an object; or, for a class method, a class."""
    if not isinstance(owner, type):
        yield from _attributes(owner)
    for kind in (owner if isinstance(owner, type) else type(owner)).__mro__:
        if not _is_installed(kind):
            members = ((name, value) for name, value in _members(kind) if unwrapped(value) is not method)
            yield from ((f"{kind.__name__}.{name}", value) for name, value in members)
    yield from _captured(method)


def _attributes(instance: Any) -> Iterator[tuple[str, Any]]:
    own_pickling = any(getattr(type(instance), name, None) is not getattr(object, name, None) for name in _PICKLING)
    if hasattr(instance, "__dict__") and not own_pickling:
        yield from ((f"self.{name}", value) for name, value in vars(instance).items())
    else:
        yield "self", instance


def _captured_by_function(f: FunctionType) -> Iterator[tuple[str, Any]]:
    code = f.__code__
    for name, cell in zip(code.co_freevars, f.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    yield from ((name, f.__globals__[name]) for name in sorted(_globals_of(code)) if name in f.__globals__)
    defaults = f.__defaults__ or ()
    positional = code.co_varnames[: code.co_argcount]
    by_name = dict(zip(positional[len(positional) - len(defaults) :], defaults, strict=True)) | (f.__kwdefaults__ or {})
    yield from ((f"default of {name}", value) for name, value in by_name.items())


def _globals_of(code: CodeType) -> set[str]:
    names = {str(i.argval) for i in dis.get_instructions(code) if i.opname in _LOADS}
    return names.union(*(_globals_of(inner) for inner in code.co_consts if isinstance(inner, CodeType)))


def _installed(file: str | None) -> bool:
    """Whether a file of Python code belongs to an installed package, not to the user's program."""
    if not file or file.startswith("<frozen"):
        return True
    path = Path(file)
    return not {"site-packages", "dist-packages"}.isdisjoint(path.parts) or any(map(path.is_relative_to, _PLACES))


def _is_installed(kind: type) -> bool:
    module = sys.modules.get(kind.__module__)
    return bool(module and module.__name__ != "__main__" and _installed(getattr(module, "__file__", None)))


def _members(kind: type) -> Iterator[tuple[str, Any]]:
    """The user's methods and attributes of a class."""
    for name, value in vars(kind).items():
        if isinstance(value, FunctionType) or not (name.startswith("__") or name == "_abc_impl"):
            yield name, value


class _Values:
    """Each object is visited once, so that cycles end and shared objects cost nothing more."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, str]] = {}  # with the object, which keeps its id
        self._open: dict[int, int] = {}

    def digest(self, value: Any) -> str:
        try:
            return self._digest(value)
        except RecursionError:
            return _hash("object", _name(type(value)))

    def _digest(self, value: Any) -> str:
        if type(value) in _PLAIN:
            return _hash(type(value).__name__, repr(value))
        if (known := self._known.get(id(value))) is not None:
            return known[1]
        if id(value) in self._open:
            return _hash("within", str(len(self._open) - self._open[id(value)]))
        self._open[id(value)] = len(self._open)
        try:
            found = self._of(value)
        except RecursionError:
            raise
        except Exception:  # objects of any library, which may refuse in any way
            found = _hash("object", _name(type(value)))
        finally:
            del self._open[id(value)]
        self._known[id(value)] = value, found
        return found

    def _of(self, value: Any) -> str:
        value = unwrapped(value)
        for kinds, way in _WAYS:
            if isinstance(value, kinds):
                return way(self, value)
        if type(value).__module__.startswith(_BY_TYPE):
            return _hash("object", _name(type(value)))
        if type(value).__module__ == "numpy" and hasattr(value, "dtype"):
            return self._of_array(value)
        return self._of_object(value)

    def _of_array(self, value: Any) -> str:
        if value.dtype.hasobject:
            return _hash("array", str(value.shape), self._digest(value.tolist()))
        in_place = value.nbytes >= _LARGE_BYTES and value.flags.c_contiguous
        content = memoryview(value.reshape(-1).view("u1")) if in_place else value.tobytes()
        return _hash("array", str(value.dtype), str(value.shape), content)

    def _of_sequence(self, value: Any) -> str:
        if set(map(type, value)) <= _NUMBERS:
            return _hash("numbers", _name(type(value)), repr(tuple(value)))
        if type(value) not in (list, tuple):
            return self._of_object(value)
        return _hash(type(value).__name__, *map(self._digest, value))

    def _of_dict(self, value: dict[Any, Any]) -> str:
        if type(value) is not dict:
            return self._of_object(value)
        return _hash("dict", *sorted(self._digest(key) + self._digest(entry) for key, entry in value.items()))

    def _of_set(self, value: Any) -> str:
        return _hash(_name(type(value)), *sorted(map(self._digest, value)))

    def _of_function(self, f: FunctionType) -> str:
        if _installed(f.__code__.co_filename):
            return _hash("function", _name(f))
        return _hash("function", digest_of_code(f.__code__), *self._named(_captured_by_function(f)))

    def _of_method(self, f: MethodType) -> str:
        return _hash("method", self._digest(f.__func__), self._digest(f.__self__))

    def _of_builtin(self, f: BuiltinFunctionType) -> str:
        owner = f.__self__
        return _hash("builtin", _name(f), "" if owner is None else self._digest(owner))

    def _of_partial(self, f: "functools.partial[Any]") -> str:
        return _hash("partial", *map(self._digest, (f.func, f.args, f.keywords)))

    def _of_module(self, module: ModuleType) -> str:
        file = getattr(module, "__file__", None)
        if _installed(file) or file is None:
            return _hash("module", module.__name__)
        return _hash("module", module.__name__, code_of(Path(file).read_bytes(), file) or "")

    def _of_class(self, kind: type) -> str:
        if _is_installed(kind):
            return _hash("class", _name(kind))
        return _hash("class", kind.__qualname__, *map(self._digest, kind.__bases__), *self._named(_members(kind)))

    def _of_property(self, value: property) -> str:
        return _hash("property", *map(self._digest, (value.fget, value.fset, value.fdel)))

    def _of_cached_property(self, value: "functools.cached_property[Any]") -> str:
        return _hash("property", self._digest(value.func))

    def _of_object(self, value: Any) -> str:
        reduced = value.__reduce_ex__(4)
        if isinstance(reduced, str):
            return _hash("global", reduced)
        make, arguments, *state = reduced
        parts = [list(part) if hasattr(part, "__next__") else part for part in state]
        return _hash("object", _name(type(value)), *map(self._digest, (make, arguments, *parts)))

    def _named(self, named: Iterator[tuple[str, Any]]) -> list[str]:
        return [f"{name} {self._digest(value)}" for name, value in sorted(named, key=lambda item: item[0])]


def _by_type(_values: _Values, value: Any) -> str:
    return _hash("object", _name(type(value)))


_WAYS: list[tuple[Any, Callable[[_Values, Any], str]]] = [
    (random.Random, _by_type),
    (list | tuple, _Values._of_sequence),
    (dict, _Values._of_dict),
    (set | frozenset, _Values._of_set),
    (FunctionType, _Values._of_function),
    (MethodType, _Values._of_method),
    (BuiltinFunctionType, _Values._of_builtin),
    (functools.partial, _Values._of_partial),
    (ModuleType, _Values._of_module),
    (type, _Values._of_class),
    (property, _Values._of_property),
    (functools.cached_property, _Values._of_cached_property),
]


def _name(named: Any) -> str:
    return f"{getattr(named, '__module__', '')}.{getattr(named, '__qualname__', '')}"


def _hash(*parts: str | bytes | memoryview) -> str:
    sha = hashlib.sha256()
    for part in parts:
        data = part.encode(errors="surrogatepass") if isinstance(part, str) else memoryview(part)
        sha.update(b"%d " % len(data))
        sha.update(data)
    return sha.hexdigest()
