"""Nevergrad's registry."""

from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import version
from typing import Any

import nevergrad as ng
import numpy as np

from .. import _core
from .adapter import Terms, Worst, batch_of, unknown


def names() -> set[str]:
    return set(ng.optimizers.registry)


def make(name: str, what: str, options: dict[str, Any], terms: Terms) -> "NevergradAdapter":
    """With options, ``what`` must be a family such as ParametrizedCMA, which makes an optimizer from these options."""
    window = batch_of(name, options)
    if options:
        families = {n: f for n, f in vars(ng.families).items() if isinstance(f, type)}
        if what not in families:
            raise unknown(name, what, "nevergrad", "family with options", families)
        return NevergradAdapter(families[what](**options), window, terms)
    if what not in ng.optimizers.registry:
        raise unknown(name, what, "the registry of nevergrad", "optimizer", ng.optimizers.registry)
    return NevergradAdapter(ng.optimizers.registry[what], window, terms)


def parametrization_of(terms: Terms) -> ng.p.Dict:
    found = ng.p.Dict(**{p.name: _parameter(p) for p in terms.space.parameters})
    found.random_state = np.random.RandomState(terms.seed % 2**32)
    return found


def _parameter(p: _core.Parameter) -> Any:
    """A choice is given by its index."""
    if p.kind in ("categorical", "boolean"):
        return ng.p.Choice(list(range(int(p.upper) + 1)))
    if p.kind == "ordinal":
        return ng.p.TransitionChoice(list(range(int(p.upper) + 1)))
    begin = {} if p.initial is None else {"init": float(p.initial)}
    number = (ng.p.Log if p.scale == "log" else ng.p.Scalar)(lower=p.lower, upper=p.upper, **begin)
    return number.set_integer_casting() if p.kind == "integer" else number


class NevergradAdapter:
    library = f"nevergrad {version('nevergrad')}"

    def __init__(self, maker: Any, window: int, terms: Terms) -> None:
        self.window = window
        self._space = terms.space
        self._parametrization = parametrization_of(terms)
        self._optimizer = maker(self._parametrization, budget=terms.evaluations or 10_000, num_workers=window)
        self._open: dict[int, Any] = {}
        self._asked = 0
        self._worst = Worst(terms.objectives, float("inf"))

    def ask(self) -> list[list[float]]:
        candidate = self._optimizer.ask()
        self._open[self._asked] = candidate
        self._asked += 1
        values = candidate.value
        vector = [float(min(max(values[p.name], p.lower), p.upper)) for p in self._space.parameters]
        if self._space.conditional:
            active, at_rest = self._space.activity(vector), self._space.start()
            vector = [x if there else rest for x, there, rest in zip(vector, active, at_rest, strict=True)]
        return [vector]

    def tell(self, number: int, values: Sequence[float] | None) -> None:
        told = float("inf") if values is None else _loss(self._worst.of(values))
        self._optimizer.tell(self._open.pop(number), told)

    def hear(self, vector: Sequence[float], values: Sequence[float]) -> None:
        named = {
            p.name: float(x) if p.kind == "real" else int(x)
            for p, x in zip(self._space.parameters, vector, strict=True)
        }
        with suppress(ng.errors.TellNotAskedNotSupportedError):
            self._optimizer.tell(self._parametrization.spawn_child(new_value=named), _loss(values))


def _loss(values: Sequence[float]) -> Any:
    return values[0] if len(values) == 1 else list(values)
