"""Pickles of functions and arguments, each made only when it is needed."""

import hashlib
import pickle
import threading
import time
import types
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, ref

from .. import _core
from .._core import InputError
from ..base.warning import warn
from ..run.pickles import Parts, SharedParts, can_share, in_one, pickle_of
from ..run.pickling import is_importable, pickled_by_value, travels
from ..slot.callables import ToSlot

_KEPT = 256
_LONG_S = 2.0
_KEPT_BYTES = 256 << 20  # of large functions that the program may not have any more
_PLAIN = frozenset({int, float, complex, bool, str, bytes, type(None)})
_UNCHANGING = _PLAIN | {types.BuiltinFunctionType}


def dumps(call: tuple[tuple[Any, ...], dict[str, Any]]) -> bytes:
    """Positional and keyword arguments, pickled. Raises InputError if they cannot be pickled."""
    arguments, keywords = call
    try:
        if not keywords and all(map(_is_plain, arguments)):
            return pickle.dumps(call, protocol=5)
        return pickled_by_value(call)
    except Exception as e:
        raise InputError(f"culmen.Executor: the arguments cannot be pickled: {type(e).__name__}: {e}") from None


def _is_plain(value: object) -> bool:
    """Whether plain pickle can restore the value in any process, because no part of it belongs to the user's
    program."""
    return _is_leaf(value) or (type(value) in (tuple, list) and _are_plain(value))  # type: ignore[arg-type]


def _is_leaf(value: object) -> bool:
    kind = type(value)
    if kind.__name__ == "ndarray":
        return kind.__module__ == "numpy" and not getattr(value, "dtype").hasobject  # noqa: B009
    return kind in _PLAIN


def _are_plain(values: Sequence[Any]) -> bool:
    """``_is_plain`` for many leaves and tuples of leaves, in few steps of Python."""
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

    def __init__(self, make: Callable[[_core.Pickle], _core.ItemFunction], shares: bool) -> None:
        """``shares``: all workers are on this machine."""
        self._make = make
        self._shares = shares
        self._by_digest: OrderedDict[bytes, _core.ItemFunction] = OrderedDict()
        self._by_function: WeakKeyDictionary[Any, tuple[tuple[Any, ...], _core.ItemFunction]] = WeakKeyDictionary()
        self._large: WeakKeyDictionary[Any, _Large] = WeakKeyDictionary()
        self._recent: list[_Large] = []
        self._looking = threading.Lock()
        self._comparing_s: float | None = 0.0  # until now; None: the program was told

    def get(self, function: Callable[..., Any]) -> _core.ItemFunction:
        if type(function) is not types.FunctionType:
            return self._of_parts(function)
        captured = _captured(function)
        if captured is None:
            return self._of_parts(function)
        known = self._by_function.get(function)
        if known is not None and len(known[0]) == len(captured) and all(map(_is_kept, known[0], captured)):
            return known[1]
        made = self._of_parts(function)
        self._by_function[function] = tuple(map(_weakly, captured)), made
        return made

    def _of_parts(self, function: Callable[..., Any]) -> _core.ItemFunction:
        begin_s = time.perf_counter()
        with pickling(function, _name_of(function)):
            parts = Parts(function)
            if not parts.large:
                return self._of_pickle(parts.head)
            with self._looking:
                found = self._known_of(function, parts)
                made = self._kept(function, found or self._made_of(function, parts))
        if found is not None:
            self._count(function, parts, time.perf_counter() - begin_s)
        return made

    def _count(self, function: Callable[..., Any], parts: Parts, took_s: float) -> None:
        """Warns once, if the comparisons have taken long, how to avoid them."""
        with self._looking:
            if self._comparing_s is None:
                return
            self._comparing_s += took_s
            if self._comparing_s < _LONG_S:
                return
            self._comparing_s = None
        size = sum(part.nbytes for part in parts.all())
        warn(
            f"culmen.Executor: {_name_of(function)} captured {size / 1e6:.0f} MB, which each submit compares; this has "
            f"taken more than {_LONG_S:.0f} s until now; to compare them only once, call map, or give them to "
            "initializer by initargs",
        )

    def _of_pickle(self, pickled: bytes) -> _core.ItemFunction:
        digest = hashlib.blake2b(pickled, digest_size=16).digest()
        made = self._by_digest.get(digest)
        if made is None:
            made = self._by_digest[digest] = self._make(_core.Pickle(pickled))
            if len(self._by_digest) > _KEPT:
                self._by_digest.popitem(last=False)
        return made

    def _known_of(self, function: Callable[..., Any], parts: Parts) -> "_Large | None":
        """The known function with the same parts. Large functions are compared directly, because a digest takes
        longer."""
        known = [self._large.get(function)] if type(function) is types.FunctionType else []
        known += [one for one in self._recent if one not in known]
        return next((one for one in known if one is not None and one.shared.are(parts)), None)

    def _kept(self, function: Callable[..., Any], large: "_Large") -> _core.ItemFunction:
        if type(function) is types.FunctionType:
            self._large[function] = large
        self._recent = [large, *(one for one in self._recent if one is not large)]
        while len(self._recent) > 1 and sum(one.shared.size for one in self._recent) > _KEPT_BYTES:
            self._recent.pop()
        return large.made

    def _made_of(self, function: Callable[..., Any], parts: Parts) -> "_Large":
        shared = SharedParts(parts)
        here = self._shares and can_share()
        return _Large(shared, self._make(shared.pickle_of() if here else in_one(function, parts)))


class _Large(NamedTuple):
    shared: SharedParts
    made: _core.ItemFunction


def _weakly(value: object) -> object:
    """A function may capture itself, or an object that captures it; such references must not keep it alive."""
    return ref(value) if type(value) is types.FunctionType else value


def _is_kept(kept: Any, value: object) -> bool:
    return (kept() if type(kept) is ref else kept) is value


def _is_one_of(value: object, *others: object) -> bool:
    return any(value is other for other in others)


def _captured(function: types.FunctionType, within: tuple[types.FunctionType, ...] = ()) -> tuple[Any, ...] | None:
    """All objects on which the function's pickle depends; None if they cannot be found."""
    if is_importable(function):
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
        elif not (_is_unchanging(value) or _is_one_of(value, function, *within)):
            return None
    return captured


def _is_unchanging(value: Any) -> bool:
    """Whether the pickle of the value is always the same."""
    if type(value) in (types.FunctionType, type):
        return is_importable(value)
    return type(value) in _UNCHANGING or (type(value) is types.ModuleType and not travels(value.__name__))


def to_slot(function: Callable[..., Any], what: str, shares: bool) -> _core.Pickle:
    """The pickle of a function for a set-up, with which the child process also gets the program's module folders.
    ``shares``: as for FunctionCache."""
    with pickling(function, what):
        return pickle_of(function, partial(ToSlot, needs_key=True), shares)


def _name_of(function: Any) -> str:
    return getattr(function, "__qualname__", type(function).__name__)


@contextmanager
def pickling(function: Any, what: str) -> Iterator[None]:
    """Raises InputError if pickling inside the block fails."""
    if not callable(function):
        raise InputError(f"culmen.Executor: the first argument must be a function, got {function!r:.80}")
    try:
        yield
    except InputError as e:
        raise InputError(f"culmen.Executor: {e}") from None
    except Exception as e:
        raise InputError(f"culmen.Executor: {what} cannot be pickled: {type(e).__name__}: {e}") from None
