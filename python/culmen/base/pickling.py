"""cloudpickle, and functions of a program that functools.lru_cache or functools.cache has decorated."""

import functools
import io
import pickle
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import cloudpickle

from ..slot.callables import cached
from .functions import own_attributes

if TYPE_CHECKING:
    KeepsBuffer = Callable[[pickle.PickleBuffer], Any]


def dumps(value: Any, buffer_callback: "KeepsBuffer | None" = None) -> bytes:
    """Protocol 5. Raises what cloudpickle raises."""
    with io.BytesIO() as file:
        _Pickler(file, protocol=5, buffer_callback=buffer_callback).dump(value)
        return file.getvalue()


class _Pickler(cloudpickle.Pickler):
    def reducer_override(self, thing: Any) -> Any:
        """A cached function has a name only, which a child cannot import from the program's script."""
        if isinstance(thing, functools._lru_cache_wrapper) and not _is_importable(thing):
            parameters = thing.cache_parameters()
            return cached, (thing.__wrapped__, parameters["maxsize"], parameters["typed"], own_attributes(thing))
        return super().reducer_override(thing)


def _is_importable(thing: Any) -> bool:
    name = getattr(thing, "__module__", None) or "__main__"
    if name == "__main__" or name in cloudpickle.list_registry_pickle_by_value():
        return False
    found: Any = sys.modules.get(name)
    for part in thing.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is thing
