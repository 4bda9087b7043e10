"""A candidate that an optimizer recommends."""

from dataclasses import dataclass

from .. import _core
from ..base.text import shown
from .given import Value


@dataclass(frozen=True)
class Recommended:
    """The best candidate according to several evaluations, for noisy values."""

    params: dict[str, Value]  # by name, in the space's order, without inactive parameters
    value: float  # the mean of its values, or a model's prediction there
    error: float  # standard error of that mean
    evaluations: int  # evaluations of it, or those that the model was fitted to

    @classmethod
    def of(cls, core: tuple[list[float], float, float, int] | None, space: _core.Space | None) -> "Recommended | None":
        """From the core's tuple; a store of a C++ program has no names."""
        if core is None:
            return None
        x, value, error, evaluations = core
        return cls(space.named(x) if space else unnamed(x), value, error, evaluations)

    def __str__(self) -> str:
        return self.shown()

    def shown(self, digits: int | None = None) -> str:
        """``digits``: significant digits of all numbers."""
        params = ", ".join(f"{name}={shown(value, digits or 6)}" for name, value in self.params.items())
        value, error = shown(self.value, digits or 6), shown(self.error, digits or 2)
        return f"{params}: {value} ± {error} of {self.evaluations} evaluations"


def unnamed(x: list[float]) -> dict[str, Value]:
    return {f"x{i}": value for i, value in enumerate(x)}
