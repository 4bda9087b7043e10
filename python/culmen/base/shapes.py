"""The shape of a value: a label, which is the same in every process for equal values, and the values inside it."""

import copyreg
import functools
import gc
import hashlib
import pickle
import random
import sys
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    EllipsisType,
    FunctionType,
    MappingProxyType,
    MethodType,
    ModuleType,
    NoneType,
    NotImplementedType,
)
from typing import Any, NamedTuple

from .functions import (
    digest_of_code,
    digest_of_file,
    has_name,
    installed,
    members,
    own_attributes,
    unwrapped,
    values_in,
)

CACHED = type(functools.lru_cache(lambda: None))
LEAVES = {NoneType, bool, int, float, complex, str, bytes, bytearray, range, EllipsisType, NotImplementedType}
_SHORT = {NoneType, bool, int, float, complex, str}
_LARGE_BYTES = 1 << 20  # up to this size, a copy takes no time
_X87_BYTES, _X87_DIGITS = 10, 63  # of a number that is kept in more bytes than it has
_STATEFUL = ("numpy.random", "random", "logging")  # only their types count
_HANDLES = (  # of something outside the program's values
    "threading", "multiprocessing", "queue", "concurrent.futures", "subprocess", "socket", "selectors", "asyncio",
    "sqlite3", "mmap", "contextvars",
)  # fmt: skip


class Shape(NamedTuple):
    label: str
    parts: Sequence[Any] = ()
    ordered: bool = True
    unseen: str = ""  # the name of the type, if values of it cannot be compared


class Bag:
    """Values without an order."""

    def __init__(self, values: Iterable[Any]) -> None:
        self.values = list(values)


class _Entry(NamedTuple):
    key: Any
    value: Any


def digest(*parts: str | bytes | memoryview) -> str:
    sha = hashlib.sha256()
    for part in parts:
        data = part.encode(errors="surrogatepass") if isinstance(part, str) else memoryview(part)
        sha.update(b"%d " % len(data))
        sha.update(data)
    return sha.hexdigest()


def shape_of(value: Any) -> Shape:
    if type(value) is CACHED and (own := own_attributes(value)):
        return Shape("cached", [value.__wrapped__, own])
    value = unwrapped(value)
    kind = type(value)
    try:
        if (way := _EXACT.get(kind)) is not None:
            return way(value)
        for kinds, way in _KINDS:
            if isinstance(value, kinds):
                return way(value)
        if _is_of(kind, _STATEFUL) or isinstance(value, random.Random):
            return Shape(f"object {name_of(kind)}")
        if _is_of(kind, _HANDLES):
            return Shape(f"object {name_of(kind)}", unseen=name_of(kind))
        numpy: Any = sys.modules.get("numpy")
        if numpy and isinstance(value, numpy.ndarray | numpy.generic) and not _pickles_itself(numpy, kind):
            return _of_array(numpy, value)
        if numpy and kind is numpy.ufunc:
            return _of_ufunc(value)
        return _of_masked(numpy, value) or _of_addresses(value) or of_object(value)
    except Exception:  # objects of any library, which may refuse in any way
        return _unseen(value)


def _unseen(value: Any) -> Shape:
    try:
        inner = [dict(vars(value))]
    except TypeError:
        inner = []
    return Shape(f"object {name_of(type(value))}", inner, unseen=name_of(type(value)))


def _is_of(kind: type, modules: tuple[str, ...]) -> bool:
    return f"{kind.__module__}.".startswith(tuple(f"{name}." for name in modules))


def leaf_of(value: Any) -> str:
    """The label of a value whose type is one of LEAVES."""
    if type(value) in (bytes, bytearray):
        return digest(type(value).__name__, value)
    try:
        text = repr(value)
    except ValueError:  # too many digits for decimals
        text = hex(value)
    return digest(type(value).__name__, text)


def _of_sequence(value: list[Any] | tuple[Any, ...]) -> Shape:
    name = type(value).__name__
    if set(map(type, value)) <= _SHORT:
        with suppress(ValueError):  # too many digits for decimals
            return Shape(digest(name, repr(tuple(value))))
    return Shape(name, value)


def _of_dict(value: Any) -> Shape:
    if set(map(type, value)) | set(map(type, value.values())) <= _SHORT:
        with suppress(ValueError):
            return Shape(digest(type(value).__name__, *sorted(map(repr, value.items()))))
    return Shape(type(value).__name__, [_Entry(*entry) for entry in value.items()], ordered=False)


def _of_set(value: Any) -> Shape:
    if set(map(type, value)) <= _SHORT:
        with suppress(ValueError):
            return Shape(digest(type(value).__name__, *sorted(map(repr, value))))
    return Shape(type(value).__name__, list(value), ordered=False)


def _of_function(f: FunctionType) -> Shape:
    if has_name(f):
        return Shape(f"function {name_of(f)}")
    named = sorted(values_in(f), key=lambda item: item[0])
    own = name_of(f) if installed(f.__code__.co_filename) else digest_of_code(f.__code__)
    return Shape(f"function {own} {[name for name, _ in named]}", [value for _, value in named])


def _of_builtin(f: BuiltinFunctionType) -> Shape:
    return Shape(f"builtin {name_of(f)}", [f.__self__])


def _of_partial(f: "functools.partial[Any]") -> Shape:
    return Shape(name_of(type(f)), [f.func, f.args, f.keywords, vars(f)])


def _of_module(module: ModuleType) -> Shape:
    file = getattr(module, "__file__", None)
    if file is None and sys.modules.get(module.__name__) is not module and not getattr(module, "__spec__", None):
        own = {name: value for name, value in vars(module).items() if not name.startswith("__")}
        return Shape(f"module {module.__name__}", [own])
    if installed(file) or file is None:
        return Shape(f"module {module.__name__}")
    return Shape(f"module {module.__name__} {digest_of_file(file)}")


def _of_class(kind: type) -> Shape:
    if has_name(kind):
        return Shape(f"class {name_of(kind)}")
    named = sorted(members(kind), key=lambda item: item[0])
    values = [value for _, value in named]
    return Shape(f"class {kind.__qualname__} {[n for n, _ in named]}", [type(kind), kind.__bases__, *values])


def _pickles_itself(numpy: Any, kind: type) -> bool:
    return issubclass(kind, numpy.ndarray) and kind.__reduce__ is not numpy.ndarray.__reduce__


def _of_array(numpy: Any, value: Any) -> Shape:
    own = [] if has_name(type(value)) else [type(value), vars(value)]
    label = f"array {name_of(type(value))} {value.dtype} {value.shape}"
    if value.dtype.hasobject:
        return Shape(label, [*own, value.tolist()])
    return Shape(f"{label} {_content(numpy, numpy.asarray(value))}", own)


def _content(numpy: Any, array: Any) -> str:
    """Without the bytes between the fields, and after the digits, which have no value."""
    if array.dtype.names:
        return digest(*(_content(numpy, array[name]) for name in array.dtype.names))
    if array.dtype.kind in "fc" and numpy.finfo(array.dtype).nmant == _X87_DIGITS:
        each = array.dtype.itemsize // (1 if array.dtype.kind == "f" else 2)
        octets = numpy.ascontiguousarray(array).reshape(-1).view("u1").reshape(-1, each)
        return digest(octets[:, :_X87_BYTES].tobytes())
    in_place = array.nbytes >= _LARGE_BYTES and array.flags.c_contiguous
    return digest(memoryview(array.reshape(-1).view("u1")) if in_place else array.tobytes())


def _of_ufunc(value: Any) -> Shape:
    """A ufunc that NumPy made from a Python function contains this function."""
    label = f"ufunc {value.__name__} {value.nin} {value.nout}"
    if inner := gc.get_referents(value):
        return Shape(label, inner)
    return _of_global(value, value.__name__)


def _of_masked(numpy: Any, value: Any) -> Shape | None:
    """The shape of a masked array, without pickle: pickling changes such an array."""
    if numpy and type(value) is numpy.ma.MaskedArray:
        return Shape("masked array", [numpy.asarray(value.data), numpy.ma.getmaskarray(value), value.fill_value])
    return None


def _of_addresses(value: Any) -> Shape | None:
    """The shape of an object with handles or addresses, which are ignored."""
    spatial: Any = sys.modules.get("scipy.spatial")
    if spatial and isinstance(value, spatial.cKDTree):
        return Shape(name_of(type(value)), [value.data, value.indices, value.leafsize, value.boxsize])
    ctypes: Any = sys.modules.get("ctypes")
    if ctypes and isinstance(value, ctypes.CDLL):
        file = Path(value._name or "")
        return Shape(f"library {value._name} {digest(file.read_bytes()) if file.is_file() else ''}")
    if ctypes and isinstance(value, ctypes._CFuncPtr):
        return Shape(f"c function {value.__name__}", [value._objects, value.restype, value.argtypes])
    return None


def reduced(value: Any) -> Any:
    """As pickle takes it apart."""
    way = copyreg.dispatch_table.get(type(value))
    return way(value) if way else value.__reduce_ex__(4)


def of_object(value: Any) -> Shape:
    parts = reduced(value)
    if isinstance(parts, str):
        return _of_global(value, parts)
    make, arguments, state, entries, items, *more = (*parts, None, None, None)[: max(5, len(parts))]
    listed = None if entries is None else list(entries)
    named = [] if items is None else [_Entry(*item) for item in items]
    keyed = named if isinstance(value, OrderedDict) else Bag(named)
    return Shape(f"object {name_of(type(value))}", [make, arguments, state, listed, keyed, *more])


def _of_global(value: Any, name: str) -> Shape:
    """An object that is pickled by its name. If an installed module has it, the name identifies it completely."""
    module = sys.modules.get(getattr(value, "__module__", None) or pickle.whichmodule(value, name))  # type: ignore[attr-defined]
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
    if module is None or found is not value:
        return _unseen(value)
    by_name = Shape(f"global {module.__name__}.{name}")
    return by_name if installed(getattr(module, "__file__", None)) else by_name._replace(parts=[dict(vars(value))])


_EXACT: dict[type, Callable[[Any], Shape]] = {
    list: _of_sequence,
    tuple: _of_sequence,
    dict: _of_dict,
    MappingProxyType: _of_dict,
    set: _of_set,
    frozenset: _of_set,
    type({}.keys()): _of_set,
    type({}.items()): _of_set,
    type({}.values()): lambda value: Shape("dict_values", list(value)),
    _Entry: lambda entry: Shape("entry", tuple(entry)),
    Bag: lambda bag: Shape("bag", bag.values, ordered=False),
    weakref.ref: lambda value: Shape("weak reference", [value()]),
    weakref.WeakSet: lambda value: Shape("weak set", list(value), ordered=False),
    CellType: lambda cell: Shape("cell", [cell.cell_contents]),
    CodeType: lambda code: Shape(f"code {digest_of_code(code)}"),
    memoryview: lambda value: Shape(f"memory {value.format} {value.shape}", [value.tobytes()]),
}
_KINDS: list[tuple[Any, Callable[[Any], Shape]]] = [
    (FunctionType, _of_function),
    (MethodType, lambda f: Shape("method", [f.__func__, f.__self__])),
    (BuiltinFunctionType, _of_builtin),
    (functools.partial, _of_partial),
    (ModuleType, _of_module),
    (type, _of_class),
    (property, lambda value: Shape("property", [value.fget, value.fset, value.fdel])),
    (functools.cached_property, lambda value: Shape("property", [value.func])),
    (staticmethod | classmethod, lambda value: Shape(type(value).__name__, [value.__func__])),
]


def name_of(named: Any) -> str:
    return f"{getattr(named, '__module__', '')}.{getattr(named, '__qualname__', '')}"
