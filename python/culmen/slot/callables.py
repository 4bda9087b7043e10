"""How a function travels to its slots. Slots import this module, so it imports little itself."""

import os
import pickle
import sys
from collections.abc import Callable
from typing import Any

from . import program


class Positional:
    """Calls a function that takes a list. In a team a communicator follows."""

    def __init__(self, f: Callable[[list[float]], Any]) -> None:
        self.function = f

    def __call__(self, params: dict[str, float], *communicator: Any) -> Any:
        return self.function(list(params.values()), *communicator)


class Travelling:
    """Unpickling gives the pickled function itself, with the sender's module folders on the path."""

    def __init__(self, pickled: bytes) -> None:
        self._pickled = pickled

    def __reduce__(self) -> tuple[Any, ...]:
        return _arrive, (_folders(), self._pickled)


class ToSlot(Travelling):
    """As Travelling, but only for slots, which become more like the sender: the function's pools and
    ``multiprocessing.Manager`` proxies work there.

    ``needs_key``: proxies may come later, too.
    """

    def __init__(self, pickled: bytes, needs_key: bool = False) -> None:
        super().__init__(pickled)
        self._needs_key = needs_key or "multiprocessing.managers" in sys.modules

    def __reduce__(self) -> tuple[Any, ...]:
        return _arrive_in_slot, (_folders(), self._pickled, _own_key() if self._needs_key else b"")


def _folders() -> list[str]:
    return [folder for folder in sys.path if folder]


def _own_key() -> bytes:
    from multiprocessing import process

    return bytes(process.current_process().authkey)


def _arrive(folders: list[str], pickled: bytes) -> Any:
    sys.path += [folder for folder in folders if folder not in sys.path]
    return pickle.loads(pickled)


def _arrive_in_slot(folders: list[str], pickled: bytes, key: bytes) -> Any:
    sys.path += [folder for folder in folders if folder not in sys.path]
    program.share_key(key)
    loaded = program.load(pickled)
    program.offer(loaded.names)
    return loaded.thing


class Chunk:
    """Calls a function once for each tuple of arguments in a list."""

    def __init__(self, f: Callable[..., Any]) -> None:
        self._f = f

    def __call__(self, calls: list[tuple[Any, ...]]) -> list[Any]:
        return [self._f(*arguments) for arguments in calls]


class Column:
    """Calls a function of one argument once for each in a list."""

    def __init__(self, f: Callable[[Any], Any]) -> None:
        self._f = f

    def __call__(self, arguments: list[Any]) -> list[Any]:
        return [self._f(argument) for argument in arguments]


class Initializer:
    """The first call in a child of an Executor."""

    def __init__(self, f: Callable[..., Any] | None, arguments: tuple[Any, ...]) -> None:
        self._f = f
        self._arguments = arguments

    def __call__(self) -> None:
        if self._f is not None:
            self._f(*self._arguments)


def begin_with(environment: dict[str, str], f: Callable[..., Any] | None, arguments: tuple[Any, ...]) -> None:
    """An initializer that first sets environment variables, for libraries that read them when they are loaded."""
    os.environ.update(environment)
    Initializer(f, arguments)()


def cached(f: Callable[..., Any], maxsize: int | None, typed: bool, attributes: dict[str, Any]) -> Callable[..., Any]:
    """A function with a cache of its own, as functools.lru_cache has decorated it."""
    from functools import lru_cache

    made = lru_cache(maxsize, typed)(f)
    vars(made).update(attributes)
    return made


def call(f: Callable[[], Any]) -> Any:
    """For functions that are new in each call: they travel as an argument."""
    return f()
