"""cloudpickle, and functions of a program that functools.lru_cache or functools.cache has decorated."""

import functools
import io
import pickle
import sys
from collections import ChainMap
from collections.abc import Callable
from types import CodeType
from typing import Any, ClassVar

from ..base.functions import own_attributes
from ..slot.callables import cached


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
        dispatch_table: ClassVar[Any] = ChainMap({CodeType: _with_file}, cloudpickle.Pickler.dispatch_table)

        def reducer_override(self, thing: Any) -> Any:
            """Plain pickle stores only the name of a cached function, and a child process cannot import this name from
            the program's script."""
            if isinstance(thing, functools._lru_cache_wrapper) and not is_importable(thing):
                parameters = thing.cache_parameters()
                return cached, (thing.__wrapped__, parameters["maxsize"], parameters["typed"], own_attributes(thing))
            return super().reducer_override(thing)

    return Pickler


def _with_file(code: CodeType) -> tuple[Any, tuple[Any, ...]]:
    """A traceback names the user's file. Since version 3.1.2, cloudpickle replaces its name."""
    import cloudpickle

    make, arguments = cloudpickle.Pickler.dispatch_table[CodeType](code)
    return make, tuple(code.co_filename if each == "<dynamic-code>" else each for each in arguments)


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
