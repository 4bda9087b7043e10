"""The BBOB functions of COCO (Hansen et al., Optimization Methods and Software 36 (2021) 114), with their optima."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import cocoex
import numpy as np

from .folders import inside

FUNCTIONS = range(1, 25)
GROUPS = {
    "separable": range(1, 6),
    "moderate": range(6, 10),
    "ill-conditioned": range(10, 15),
    "multimodal": range(15, 20),
    "weak structure": range(20, 25),
}


@dataclass(frozen=True, order=True)
class Id:
    """One problem: function 1 to 24, dimension, instance."""

    function: int
    dimension: int
    instance: int


def check_instances(instances: list[int], most: int = 15) -> None:
    """Exits with a message if an instance does not exist: COCO would silently take the first one."""
    if wrong := [i for i in instances if not 1 <= i <= most]:
        raise SystemExit(f"instance {wrong[0]} does not exist; give instances from 1 to {most}")


def ids(functions: list[int], dimensions: list[int], instances: list[int]) -> Iterator[Id]:
    check_instances(instances)
    for d in dimensions:
        for f in functions:
            for i in instances:
                yield Id(f, d, i)


class Problem:
    """A function of a vector in [-5, 5]^D. It returns the difference between its value and the optimum."""

    lower, upper = -5.0, 5.0

    def __init__(self, which: Id, noise: float = 0.0, seed: int = 1) -> None:
        """noise: the relative standard deviation of the values (0: no noise). If it is negative, its absolute value is
        the standard deviation of an added noise."""
        self.which = which
        self.dimension = which.dimension
        self._f = _suite(which)
        self._optimum = float(_suite(which)(_optimal_point(which)))
        self._noise = noise
        self._random = np.random.default_rng([seed, which.function, which.dimension, which.instance])
        self.true_gap = np.inf

    def __call__(self, x: Any) -> float:
        self.true_gap = max(0.0, self._f(x) - self._optimum)
        if self._noise == 0:
            return self.true_gap
        if self._noise < 0:
            return self.true_gap - self._noise * self._random.standard_normal()
        return self.true_gap * (1 + self._noise * self._random.standard_normal())


def _suite(which: Id) -> Any:
    suite = cocoex.Suite(
        "bbob",
        "",
        f"dimensions:{which.dimension} function_indices:{which.function} instance_indices:{which.instance}",
    )
    return suite.get_problem(0)


def _optimal_point(which: Id) -> np.ndarray:
    return written_best(_suite(which))


def written_best(problem: Any) -> np.ndarray:
    """COCO writes it into a file in the working folder."""
    with tempfile.TemporaryDirectory() as folder, inside(folder):
        problem._best_parameter("print")
        return np.loadtxt("._bbob_problem_best_parameter.txt")
