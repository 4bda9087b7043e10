"""What a function needs around it to run in a slot. Imported there: keep it free of imports."""

from collections.abc import Callable
from typing import Any


class Positional:
    """Calls a function of a list."""

    def __init__(self, f: Callable[[list[float]], Any]) -> None:
        self._f = f

    def __call__(self, params: dict[str, float]) -> Any:
        return self._f(list(params.values()))
