"""How a function travels to its slots. Imported there: it imports nothing that is heavy."""

import pickle
import sys
from collections.abc import Callable
from typing import Any


class Positional:
    """Calls a function of a list."""

    def __init__(self, f: Callable[[list[float]], Any]) -> None:
        self._f = f

    def __call__(self, params: dict[str, float]) -> Any:
        return self._f(list(params.values()))


class Travelling:
    """Becomes the pickled function itself when it is unpickled; the sender's modules can be imported then."""

    def __init__(self, pickled: bytes) -> None:
        self._pickled = pickled

    def __reduce__(self) -> tuple[Any, ...]:
        return _arrive, ([folder for folder in sys.path if folder], self._pickled)


def _arrive(folders: list[str], pickled: bytes) -> Any:
    sys.path += [folder for folder in folders if folder not in sys.path]
    return pickle.loads(pickled)
