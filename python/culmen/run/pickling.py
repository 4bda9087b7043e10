"""cloudpickle, and functions of a program that functools.lru_cache or functools.cache has decorated."""

import functools
import io
import pickle
import sys
from collections.abc import Callable
from types import CodeType
from typing import Any

from ..base.functions import own_attributes
from ..slot.callables import cached

_NO_FILE = "<dynamic-code>"  # cloudpickle's name of every file; with the real name, tracebacks show the user's lines


def pickled_by_value(value: Any, keeps: Callable[[pickle.PickleBuffer], Any] | None = None) -> bytes:
    """The pickle of a value. It contains functions and classes of the program's script completely. ``keeps``: see
    buffer_callback of pickle.dumps.

    Raises what cloudpickle raises."""
    with io.BytesIO() as file:
        _pickler()(file, protocol=5, buffer_callback=keeps).dump(value)
        return file.getvalue()


@functools.cache
def _pickler() -> Any:
    import cloudpickle

    class Pickler(cloudpickle.Pickler):
        def reducer_override(self, thing: Any) -> Any:
            """Plain pickle stores only the name of a cached function, and a child process cannot import this name from
            the program's script."""
            if isinstance(thing, functools._lru_cache_wrapper) and not is_importable(thing):
                parameters = thing.cache_parameters()
                return cached, (thing.__wrapped__, parameters["maxsize"], parameters["typed"], own_attributes(thing))
            if isinstance(thing, CodeType):
                make, arguments = self.dispatch_table[CodeType](thing)
                return make, tuple(_file_of(thing) if each == _NO_FILE else each for each in arguments)
            return super().reducer_override(thing)

    return Pickler


def _file_of(code: CodeType) -> str:
    """A string of its own: a shared one would change the pickle."""
    return "".join(list(code.co_filename))


def is_importable(thing: Any) -> bool:
    """Whether a function or class is pickled by its name, so that the receiver imports it."""
    name = getattr(thing, "__module__", None) or "__main__"
    if name == "__main__" or travels(name):
        return False
    found: Any = sys.modules.get(name)
    for part in thing.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is thing


def travels(module: str) -> bool:
    """Whether the program has told cloudpickle to pickle this module, or a package that contains it, by value."""
    import cloudpickle

    return any(f"{module}.".startswith(f"{name}.") for name in cloudpickle.list_registry_pickle_by_value())
