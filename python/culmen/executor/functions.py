"""Pickles of functions and arguments, each made only when it is needed."""

import hashlib
import pickle
import sys
import types
from collections import OrderedDict
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any
from weakref import WeakKeyDictionary, ref

from .. import _core
from .._core import InputError
from ..slot.callables import ToSlot

_KEPT = 256
_LARGE_BYTES = 4 << 20  # a pickle of this size takes longer to make and to digest than to compare
_PLAIN = frozenset({int, float, complex, bool, str, bytes, type(None)})
_UNCHANGING = _PLAIN | {types.ModuleType, types.BuiltinFunctionType}


def dumps(call: tuple[tuple[Any, ...], dict[str, Any]]) -> bytes:
    """Positional and keyword arguments, pickled. Raises InputError if they cannot be pickled."""
    arguments, keywords = call
    try:
        if not keywords and all(map(_is_plain, arguments)):
            return pickle.dumps(call, protocol=5)
        import cloudpickle

        return cloudpickle.dumps(call, protocol=5)
    except Exception as e:
        raise InputError(f"culmen.Executor: the arguments cannot be pickled: {type(e).__name__}: {e}") from None


def _is_plain(value: object) -> bool:
    """Plain pickle restores it in any process: no part of it belongs to the user's program."""
    return _is_leaf(value) or (type(value) in (tuple, list) and _are_plain(value))  # type: ignore[arg-type]


def _is_leaf(value: object) -> bool:
    kind = type(value)
    if kind.__name__ == "ndarray":
        return kind.__module__ == "numpy" and not getattr(value, "dtype").hasobject  # noqa: B009
    return kind in _PLAIN


def _are_plain(values: Sequence[Any]) -> bool:
    """For leaves and tuples of leaves, in few steps of Python: a chunk has many."""
    kinds = set(map(type, values))
    if kinds == {tuple}:
        values = list(chain.from_iterable(values))
        kinds = set(map(type, values))
    return kinds <= _PLAIN or all(map(_is_leaf, values))


class FunctionCache:
    """The functions that the engine got recently.

    A function is pickled again if an object that it captured (in its closure, defaults, or its module's variables)
    may have changed since. If its pickle is unchanged, it counts as the same function.
    """

    def __init__(self, make: Callable[[bytes], _core.ItemFunction]) -> None:
        self._make = make
        self._by_digest: OrderedDict[bytes, _core.ItemFunction] = OrderedDict()
        self._by_function: WeakKeyDictionary[Any, tuple[tuple[Any, ...], _core.ItemFunction]] = WeakKeyDictionary()
        self._large: WeakKeyDictionary[Any, tuple[_Parts, _core.ItemFunction]] = WeakKeyDictionary()

    def get(self, function: Callable[..., Any]) -> _core.ItemFunction:
        if type(function) is not types.FunctionType:
            return self._of_pickle(_pickled(function))
        captured = _captured(function)
        if captured is None:
            return self._changing(function)
        known = self._by_function.get(function)
        if known is not None and len(known[0]) == len(captured) and all(map(_is_kept, known[0], captured)):
            return known[1]
        made = self._of_pickle(_pickled(function))
        self._by_function[function] = tuple(map(_weakly, captured)), made
        return made

    def _changing(self, function: types.FunctionType) -> _core.ItemFunction:
        """For a function that captured objects that may have changed."""
        known = self._large.pop(function, None)
        if known is None or not known[0].are_of(function):
            pickled = _pickled(function)
            made = self._of_pickle(pickled)
            if len(pickled) < _LARGE_BYTES:
                return made
            del pickled
            known = _Parts(function), made
        self._large[function] = known
        return known[1]

    def _of_pickle(self, pickled: bytes) -> _core.ItemFunction:
        digest = hashlib.blake2b(pickled, digest_size=16).digest()
        made = self._by_digest.get(digest)
        if made is None:
            made = self._by_digest[digest] = self._make(pickled)
            if len(self._by_digest) > _KEPT:
                self._by_digest.popitem(last=False)
        return made


class _Parts:
    """A function's pickle and, apart from it, copies of the arrays in it."""

    def __init__(self, function: types.FunctionType) -> None:
        self._head, buffers = _in_parts(function)
        self._copies = [bytes(buffer) for buffer in buffers]

    def are_of(self, function: types.FunctionType) -> bool:
        head, buffers = _in_parts(function)
        same = head == self._head and len(buffers) == len(self._copies)
        return same and all(map(_same_bytes, buffers, self._copies))


def _in_parts(function: types.FunctionType) -> tuple[bytes, list[memoryview]]:
    import cloudpickle

    found: list[pickle.PickleBuffer] = []
    return cloudpickle.dumps(function, protocol=5, buffer_callback=found.append), [buffer.raw() for buffer in found]


def _same_bytes(a: memoryview, b: bytes) -> bool:
    """``==`` of memory views looks at one byte at a time."""
    import numpy as np

    if len(a) != len(b):
        return False
    words = len(a) // 8 * 8
    return bytes(a[words:]) == b[words:] and np.array_equal(
        np.frombuffer(a[:words], np.uint64), np.frombuffer(memoryview(b)[:words], np.uint64)
    )


def _weakly(value: object) -> object:
    """A function may capture itself, or an object that captures it; such references must not keep it alive."""
    return ref(value) if type(value) is types.FunctionType else value


def _is_kept(kept: Any, value: object) -> bool:
    return (kept() if type(kept) is ref else kept) is value


def _is_one_of(value: object, *others: object) -> bool:
    return any(value is other for other in others)


def _captured(function: types.FunctionType, within: tuple[types.FunctionType, ...] = ()) -> tuple[Any, ...] | None:
    """All objects on which the function's pickle depends; None if they cannot be found."""
    if _is_importable(function):
        return (function,)
    code, variables = function.__code__, function.__globals__
    if function.__dict__ or any(type(constant) is types.CodeType for constant in code.co_consts):
        return None
    try:
        values = (
            *(function.__defaults__ or ()),
            *(function.__kwdefaults__ or {}).values(),
            *(cell.cell_contents for cell in function.__closure__ or ()),
            *(variables[name] for name in code.co_names if name in variables),
        )
    except ValueError:  # a cell is still empty
        return None
    captured: tuple[Any, ...] = (code, *values)
    for value in values:
        if type(value) is types.FunctionType and not _is_one_of(value, function, *within):
            deeper = _captured(value, (function, *within))
            if deeper is None:
                return None
            captured += deeper
        elif not (type(value) in _UNCHANGING or _is_one_of(value, function, *within) or _is_importable(value)):
            return None
    return captured


def _is_importable(value: Any) -> bool:
    """A function or class that is pickled by its name: the receiver imports it."""
    if type(value) not in (types.FunctionType, type) or value.__module__ == "__main__":
        return False
    return getattr(sys.modules.get(value.__module__), value.__qualname__, None) is value


def _pickled(function: Callable[..., Any]) -> bytes:
    if not callable(function):
        raise InputError(f"culmen.Executor: the first argument must be a function, got {function!r:.80}")
    return _cloudpickled(function, getattr(function, "__qualname__", type(function).__name__))


def to_slot(function: Callable[..., Any], what: str) -> bytes:
    """For a set-up, with which the child gets the program's module folders."""
    return pickle.dumps(ToSlot(_cloudpickled(function, what), needs_key=True), protocol=5)


def _cloudpickled(function: Callable[..., Any], what: str) -> bytes:
    import cloudpickle

    try:
        return cloudpickle.dumps(function, protocol=5)
    except Exception as e:
        raise InputError(f"culmen.Executor: {what} cannot be pickled: {type(e).__name__}: {e}") from None
