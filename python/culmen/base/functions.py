"""The code of functions and classes, and the values that a function uses but does not receive."""

import dis
import hashlib
import sys
import sysconfig
import warnings
import weakref
from collections.abc import Iterator
from importlib.machinery import PathFinder
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

_PLACES = tuple(Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib"))
_LOADS = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}
_WITH_CODE = (FunctionType, BuiltinFunctionType, type)
_WRAPPING = {
    "builtins",
    "functools",
    "numba",
    "jax",
    "jaxlib",
}  # their wrappers hold caches, which are no part of the function
_FIELDS = {"__pydantic_fields__", "__pydantic_decorators__"}  # with the defaults of attributes, and validators
_CACHE = weakref.WeakKeyDictionary  # such as that of functools.singledispatch
_DYNAMIC, _IMMUTABLE = 1 << 9, 1 << 8  # Py_TPFLAGS_HEAPTYPE, Py_TPFLAGS_IMMUTABLETYPE


def code_of(source: bytes, name: str) -> str | None:
    """The digest of a module's code: comments and empty lines do not count. None if it is not Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code = compile(source, name, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return None
    return digest_of_code(code)


def digest_of_file(path: str) -> str:
    """The digest of the file's content, or of its code if it is Python."""
    source = Path(path).read_bytes()
    return code_of(source, path) or hashlib.sha256(source).hexdigest()


def digest_of_code(code: CodeType) -> str:
    return hashlib.sha256("\n".join(_words(code)).encode(errors="surrogatepass")).hexdigest()


def _words(constant: Any) -> Iterator[str]:
    """Words for a constant of a code object. They are the same in every process, unlike the order of a set and an
    address."""
    if isinstance(constant, CodeType):
        yield f"{constant.co_code.hex()} {constant.co_names} {constant.co_varnames} {constant.co_freevars}"
        for inner in constant.co_consts:
            yield from _words(inner)
    elif isinstance(constant, frozenset):
        yield str(sorted(map(repr, constant)))
    else:
        yield repr(constant)


def unwrapped(f: Any) -> Any:
    """The function inside compiled or cached functions such as those of Numba, JAX and functools."""
    while not isinstance(f, FunctionType | MethodType | type) and _wraps(f):
        f = f.__wrapped__
    return f


def _wraps(f: Any) -> bool:
    return type(f).__module__.partition(".")[0] in _WRAPPING and callable(getattr(f, "__wrapped__", None))


def own_attributes(f: Any) -> dict[str, Any]:
    """The attributes of a cached function that do not come from the function inside."""
    inner = vars(f.__wrapped__) if hasattr(f.__wrapped__, "__dict__") else {}
    own = {name: value for name, value in vars(f).items() if inner.get(name) is not value}
    return {name: value for name, value in own.items() if not name.startswith("__") and name != "cache_parameters"}


def call_of(f: Any) -> Any:
    """The method that runs when an object is called; it may be inherited."""
    return unwrapped(getattr(type(f), "__call__", None))  # noqa: B004


def installed(file: str | None) -> bool:
    """Whether a file of Python code belongs to an installed package, not to the user's program."""
    if not file or file.startswith("<frozen"):
        return True
    path = Path(file)
    return not {"site-packages", "dist-packages"}.isdisjoint(path.parts) or any(map(path.is_relative_to, _PLACES))


def has_name(named: Any) -> bool:
    """Whether an installed module defines this function or class. Its name then identifies it completely."""
    module = sys.modules.get(getattr(named, "__module__", None) or "")
    if module is None or module.__name__ == "__main__" or not installed(getattr(module, "__file__", None)):
        return False
    if isinstance(named, type) and (not named.__flags__ & _DYNAMIC or named.__flags__ & _IMMUTABLE):
        return True
    found: Any = module
    for name in named.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is named


def members(kind: type) -> Iterator[tuple[str, Any]]:
    """The user's methods and attributes of a class."""
    for name, value in vars(kind).items():
        if isinstance(value, FunctionType) or name in _FIELDS or not (name.startswith("__") or name == "_abc_impl"):
            yield name, value


def values_in(f: FunctionType) -> Iterator[tuple[str, Any]]:
    """The values that a function captures, by name: from its closure, its globals, its defaults and its attributes."""
    of_package = installed(f.__code__.co_filename)
    cells = [
        (name, cell) for name, cell in _cells(f) if not (of_package and isinstance(cell, weakref.WeakKeyDictionary))
    ]
    named = cells if of_package else [*cells, *_globals_in(f)]
    attributes = _attributes_in(f.__code__)
    for name, value in named:
        if value is not f:
            yield name, value
            yield from _data_of(value, name, attributes)
    yield from _defaults_in(f)
    if not of_package:
        yield from _imports_in(f.__code__)
    within = {id(cell) for _, cell in cells}
    for name, value in vars(f).items():
        if name != "__wrapped__" or id(value) not in within:
            yield f"{f.__name__}.{name}", value


def _cells(f: FunctionType) -> Iterator[tuple[str, Any]]:
    for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # not assigned yet
            continue


def _globals_in(f: FunctionType) -> list[tuple[str, Any]]:
    return [(name, f.__globals__[name]) for name in sorted(_names_in(f.__code__, _LOADS) & f.__globals__.keys())]


def _data_of(module: Any, name: str, attributes: set[str]) -> Iterator[tuple[str, Any]]:
    """The data of the user's modules, which a program may have changed."""
    if not isinstance(module, ModuleType) or not (file := getattr(module, "__file__", None)) or installed(file):
        return
    for attribute in sorted(attributes & vars(module).keys()):
        value = vars(module)[attribute]
        if isinstance(value, ModuleType):
            yield from _data_of(value, f"{name}.{attribute}", attributes - {attribute})
        elif not isinstance(value, _WITH_CODE):
            yield f"{name}.{attribute}", value


def _defaults_in(f: FunctionType) -> Iterator[tuple[str, Any]]:
    defaults = f.__defaults__ or ()
    positional = f.__code__.co_varnames[: f.__code__.co_argcount]
    by_name = dict(zip(positional[len(positional) - len(defaults) :], defaults, strict=True)) | (f.__kwdefaults__ or {})
    yield from ((f"default of {name}", value) for name, value in by_name.items())


def _imports_in(code: CodeType) -> Iterator[tuple[str, Any]]:
    """The user's modules that the code imports when it runs; they may not be loaded yet."""
    for name in sorted(_names_in(code, {"IMPORT_NAME"})):
        if name and (file := _file_of_module(name)) and not installed(file):
            yield name, digest_of_file(file)


def _file_of_module(name: str) -> str | None:
    if name in sys.modules:
        return getattr(sys.modules[name], "__file__", None)
    places, spec = None, None
    for end in range(1, name.count(".") + 2):
        spec = PathFinder.find_spec(".".join(name.split(".")[:end]), places)
        if spec is None:
            return None
        places = list(spec.submodule_search_locations or [])
    return spec.origin if spec and spec.has_location else None


def _names_in(code: CodeType, operations: set[str]) -> set[str]:
    names = {str(i.argval) for i in dis.get_instructions(code) if i.opname in operations}
    return names.union(*(_names_in(inner, operations) for inner in code.co_consts if isinstance(inner, CodeType)))


def _attributes_in(code: CodeType) -> set[str]:
    """Names of attributes that the code reads, and perhaps more."""
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*map(_attributes_in, inner))
