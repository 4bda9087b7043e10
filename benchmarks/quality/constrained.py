"""Compares optimizers on problems with constraints, from COCO (bbob-constrained) or, with --textbook, from textbooks.

Prints the area under the runtime curve, the share of targets, and the median gap: how far the best feasible point is
above the optimum. Only feasible points reach targets. A point is feasible if no constraint is above 1e-8.
"""

from __future__ import annotations

import argparse
import contextlib
import tempfile
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from itertools import count
from multiprocessing import Pool
from typing import Any

import cocoex
import numpy as np

from .__main__ import numbers
from .folders import inside
from .players import BudgetSpent, Culmen
from .problems import Id, check_instances, written_best
from .score import TARGETS, Curve, area
from .textbook import PROBLEMS

TOLERANCE = 1e-8
ABOUT = 6  # problems that share a function
ABOUT_FUNCTIONS = "problems 1 to 54; six in a row have the same function and different numbers of constraints"


class Constrained(ABC):
    """One problem: returns (value above the optimum, constraints that must be at most 0), and keeps the score."""

    lower: float
    upper: float
    constraints: int
    start: Any

    def __init__(self, dimension: int, budget: int) -> None:
        self.dimension, self.budget, self.used = dimension, budget, 0
        self.curve, self.gap = Curve(), np.inf

    @abstractmethod
    def figures(self, x: Any) -> tuple[float, Any]:
        """The value above the optimum, and all constraints."""

    def __call__(self, x: Any) -> tuple[float, Any]:
        if self.used >= self.budget or self.curve.solved:
            raise BudgetSpent
        self.used += 1
        value, constraints = self.figures(x)
        if constraints.max() <= TOLERANCE and value < self.gap:
            self.gap = value
            self.curve.add(self.used, max(0.0, value))
        return value, constraints

    def once(self) -> Callable[[Any], tuple[float, Any]]:
        """Does not evaluate the same point twice in a row: peers ask for value and constraints separately."""
        last: list[Any] = [None, None]

        def both(x: Any) -> tuple[float, Any]:
            if last[0] is None or not np.array_equal(x, last[0]):
                last[:] = [np.array(x), self(np.clip(x, self.lower, self.upper))]
            return last[1]

        return both


class OfCoco(Constrained):
    lower, upper = -5.0, 5.0

    def __init__(self, which: Id, budget: int) -> None:
        super().__init__(which.dimension, budget)
        of = f"dimensions:{which.dimension} function_indices:{which.function} instance_indices:{which.instance}"
        suite = cocoex.Suite("bbob-constrained", "", of)
        self._suite, self._problem = suite, suite.get_problem(0)
        self.constraints = self._problem.number_of_constraints
        self.start = np.clip(self._problem.initial_solution, self.lower, self.upper)
        self._optimum = float(self._problem(written_best(self._problem)))

    def figures(self, x: Any) -> tuple[float, Any]:
        return float(self._problem(x)) - self._optimum, np.atleast_1d(self._problem.constraint(x))


class OfTextbook(Constrained):
    """In the unit cube, from its middle. Other instances have other starting points."""

    lower, upper = 0.0, 1.0

    def __init__(self, which: Id, budget: int) -> None:
        self._problem = PROBLEMS[which.function]
        super().__init__(len(self._problem.lower), budget)
        random = np.random.default_rng(which.instance)
        self.start = random.uniform(0.2, 0.8, self.dimension) if which.instance > 1 else np.full(self.dimension, 0.5)
        self.constraints = len(self.figures(self.start)[1])

    def figures(self, x: Any) -> tuple[float, Any]:
        p = self._problem
        x = p.lower + (p.upper - p.lower) * np.asarray(x)
        return p.value(x) - p.optimum, np.asarray(p.constraints(x))


def of_culmen(name: str, problem: Constrained, seed: int) -> None:
    limits = [(f"g{k}", -np.inf, 0.0) for k in range(problem.constraints)]
    player = Culmen(name, problem, seed, problem.budget, limits=limits, start=list(problem.start))
    while asked := player.ask(1):
        for evaluation, x in asked:
            value, constraints = problem(x)
            player.tell_figures(evaluation, value, {f"g{k}": float(g) for k, g in enumerate(constraints)})


def of_pycma(problem: Constrained, seed: int) -> None:
    """Its augmented Lagrangian, which writes into the working folder. Each restart doubles the population."""
    with tempfile.TemporaryDirectory() as folder, inside(folder):
        restarts_of_pycma(problem, seed)


def restarts_of_pycma(problem: Constrained, seed: int) -> None:
    import cma

    both = problem.once()
    for restart in count():
        fit = cma.ConstrainedFitnessAL(lambda x: both(x)[0], lambda x: both(x)[1])
        population = int((4 + 3 * np.log(problem.dimension)) * 2**restart)
        options = {"verbose": -9, "seed": seed + restart, "popsize": population}
        strategy = cma.CMAEvolutionStrategy(problem.start, (problem.upper - problem.lower) / 5, options)
        while not strategy.stop():
            points = strategy.ask()
            strategy.tell(points, [fit(x) for x in points])
            fit.update(strategy)


def of_scipy(method: str, problem: Constrained, seed: int) -> None:
    from scipy.optimize import minimize

    random, start, both = np.random.default_rng(seed), problem.start, problem.once()
    options = {"SLSQP": {"maxiter": 10**6, "ftol": 1e-12}, "COBYLA": {"maxiter": 10**6, "tol": 1e-10}}[method]
    while True:
        minimize(
            lambda x: both(x)[0],
            start,
            method=method,
            bounds=[(problem.lower, problem.upper)] * problem.dimension,
            constraints={"type": "ineq", "fun": lambda x: -both(x)[1]},
            options=options,
        )
        start = random.uniform(problem.lower, problem.upper, problem.dimension)


PEERS: dict[str, Callable[[Constrained, int], None]] = {
    "pycma": of_pycma,
    "slsqp": partial(of_scipy, "SLSQP"),
    "cobyla": partial(of_scipy, "COBYLA"),
}


def play(task: tuple[str, Id, int, int]) -> tuple[str, Id, list[float], float]:
    warnings.simplefilter("ignore")
    player, which, seed, budget = task
    problem = OfCoco(which, budget) if which.dimension else OfTextbook(which, budget)
    with contextlib.suppress(BudgetSpent):
        if player.startswith("peer:"):
            PEERS[player.removeprefix("peer:")](problem, seed)
        else:
            of_culmen(player, problem, seed)
    return player, which, problem.curve.times, problem.gap


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.quality.constrained", description=__doc__)
    parser.add_argument(
        "players",
        nargs="+",
        metavar="OPTIMIZER",
        help="an optimizer of culmen with its options (cmaes:constraints=last), or a peer: "
        + ", ".join("peer:" + p for p in PEERS),
    )
    parser.add_argument("-d", "--dimensions", type=numbers, default=[5, 10], help="default 5,10")
    parser.add_argument("-f", "--functions", type=numbers, default=list(range(1, 55)), help=ABOUT_FUNCTIONS)
    parser.add_argument("-i", "--instances", type=numbers, default=[1], help="of each problem (default 1)")
    parser.add_argument("-b", "--budget", type=int, default=1000, help="evaluations per dimension (default 1000)")
    parser.add_argument("-s", "--seed", type=int, default=1)
    parser.add_argument("-j", "--jobs", type=int, default=2, help="number of runs in parallel (default 2)")
    parser.add_argument("--by-function", action="store_true", help="also print a line for each function")
    parser.add_argument(
        "--textbook", action="store_true", help="seven problems of G1 to G10 instead, each with 20 BUDGET evaluations"
    )
    args = parser.parse_args()
    if args.textbook:
        args.dimensions, args.functions, args.by_function = [0], list(PROBLEMS), True
    for d in args.dimensions:
        check_instances(args.instances)
        which = [Id(f, d, i) for f in args.functions for i in args.instances]
        tasks = [(player, w, args.seed, args.budget * (d or 20)) for w in which for player in args.players]
        with Pool(args.jobs) as pool:
            report(args, d, pool.map(play, tasks, chunksize=1))


def report(args: argparse.Namespace, d: int, results: list[tuple[str, Id, list[float], float]]) -> None:
    for player in args.players:
        mine = [
            (w, area(times, args.budget * (d or 20)), len(times) / len(TARGETS), gap)
            for p, w, times, gap in results
            if p == player
        ]
        print(f"D={d:<3}{player:32}{line(mine)}", flush=True)
        width = ABOUT if d else 1
        for first in range(1, 55, width) if args.by_function else ():
            some = [r for r in mine if first <= r[0].function < first + width]
            if some:
                print(f"      f{first}-{first + width - 1:<5}{line(some)}")


def line(rows: list[tuple[Id, float, float, float]]) -> str:
    areas, shares, gaps = (np.array([r[k] for r in rows]) for k in (1, 2, 3))
    none = int(np.isinf(gaps).sum())
    middle = f"targets {shares.mean():.2f}  median gap {np.median(gaps):.1e}"
    return f"area {areas.mean():.3f}  {middle}  no feasible point {none} of {len(rows)}"


if __name__ == "__main__":
    main()
