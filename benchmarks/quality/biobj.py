"""Compares optimizers of two objectives on COCO's bbob-biobj (55 functions), and prints the mean hypervolume.

The hypervolume is that of all evaluated points. Each objective is scaled: the ideal point of the problem is 0, and the
nadir is 1. The nadir is the reference point. The result is between 0 and 1; larger is better. COCO uses the same
hypervolume (Brockhoff et al., Evol. Comput. 30 (2022) 165), but also adds distances, which are left out here.
"""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import cocoex
import numpy as np

from .__main__ import numbers
from .players import BudgetSpent, Culmen
from .problems import Id, check_instances

FUNCTIONS = [1, 2, 6, 8, 13, 14, 15, 17, 20, 21]  # of bbob; every pair of these
PAIRS = [(a, b) for k, a in enumerate(FUNCTIONS) for b in FUNCTIONS[k:]]
# By budget: the goal, and the peers with their best population. Tried were 16, 24, 32 and 40 for nsga2, and 12, 20, 30
# and 100 for pymoo.
GOALS = {
    1000: (0.80, ("mocma", "peer:nsga2:16", "peer:pymoo:12")),
    5000: (0.891, ("mocma", "peer:nsga2:24", "peer:pymoo:20")),
}
FIRST_INSTANCES = {1: (2, 4), 2: (3, 5)}


class BiProblem:
    """A function of a vector in the suite's box, with two values. `evaluated` keeps all values, scaled.

    It consists of the suite's two functions. COCO gives their optima, hence the ideal point and the nadir.
    """

    lower, upper = -100.0, 100.0

    def __init__(self, which: Id, budget: int) -> None:
        self.dimension, self.budget = which.dimension, budget
        instances = FIRST_INSTANCES.get(which.instance, (2 * which.instance + 1, 2 * which.instance + 2))
        pair = zip(PAIRS[which.function - 1], instances, strict=True)
        self._parts = [cocoex.BareProblem("bbob", f, which.dimension, i) for f, i in pair]
        optima = [self._values(part.best_parameter()) for part in self._parts]
        self._ideal = np.min(optima, axis=0)
        self._extent = np.max(optima, axis=0) - self._ideal
        self.evaluated: list[Any] = []

    def _values(self, x: Any) -> Any:
        return np.array([f(x) for f in self._parts])

    def __call__(self, x: Any) -> Any:
        if len(self.evaluated) >= self.budget:
            raise BudgetSpent
        values = self._values(x)
        self.evaluated.append((values - self._ideal) / self._extent)
        return values


def hypervolume(points: Iterable[Any]) -> float:
    """Of two objectives that are minimized, with the reference point (1, 1)."""
    volume, lowest = 0.0, 1.0
    for a, b in sorted(map(tuple, points)):
        if a < 1 and b < lowest:
            volume += (1 - a) * (lowest - b)
            lowest = b
    return volume


def of_culmen(name: str, problem: BiProblem, seed: int) -> None:
    player = Culmen(name, problem, seed, problem.budget, objectives=2)
    while True:
        for evaluation, x in player.ask(1):
            player.tell(evaluation, list(problem(x)), 1.0)


def of_pymoo(problem: BiProblem, seed: int, population: int) -> None:
    from pymoo.algorithms.moo.nsga2 import NSGA2
    from pymoo.core.problem import ElementwiseProblem
    from pymoo.optimize import minimize

    class Wrapped(ElementwiseProblem):
        def __init__(self) -> None:
            super().__init__(n_var=problem.dimension, n_obj=2, xl=problem.lower, xu=problem.upper)

        def _evaluate(self, x: Any, out: dict[str, Any], *_: Any, **__: Any) -> None:
            out["F"] = problem(x)

    minimize(Wrapped(), NSGA2(pop_size=population), ("n_eval", 10**9), seed=seed)


class PygmoProblem:
    """A problem of pygmo. pygmo copies it; all copies share one BiProblem."""

    def __init__(self, problem: BiProblem) -> None:
        self._problem = problem

    def __deepcopy__(self, _: Any) -> PygmoProblem:
        return self

    def fitness(self, x: Any) -> Any:
        try:
            return self._problem(x)
        except BudgetSpent:
            return np.array([1e300, 1e300])  # an exception inside an archipelago's generation would lose it

    def get_bounds(self) -> Any:
        return [self._problem.lower] * self._problem.dimension, [self._problem.upper] * self._problem.dimension

    def get_nobj(self) -> int:
        return 2


def of_pygmo(name: str, problem: BiProblem, seed: int, population: int) -> None:
    """With its defaults, except for the mutation of nsga2: one parameter of each point, instead of 1 % of them."""
    import pygmo

    population += -population % 4
    options: dict[str, Any] = {
        "nsga2": {"m": 1 / problem.dimension},
        "moead": {"neighbours": min(20, population - 1)},
    }.get(name, {})
    algorithm = pygmo.algorithm(getattr(pygmo, name)(gen=problem.budget // population, seed=seed, **options))
    members = pygmo.population(pygmo.problem(PygmoProblem(problem)), population, seed=seed)
    algorithm.evolve(members)


def play(player: str, seed: int, budget: int, which: Id) -> float:
    problem = BiProblem(which, budget)
    run: Callable[[], None] = partial(of_culmen, player, problem, seed)
    if player.startswith("peer:"):
        name, _, population = player.removeprefix("peer:").partition(":")
        peer = of_pymoo if name == "pymoo" else partial(of_pygmo, name)
        run = partial(peer, problem, seed, int(population or 100))
    with contextlib.suppress(BudgetSpent):
        run()
    return hypervolume(problem.evaluated)


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.quality.biobj", description=__doc__)
    parser.add_argument(
        "players",
        nargs="*",
        metavar="OPTIMIZER",
        help="an optimizer of culmen with its options (mocma, nsga2:population=19), or peer:NAME:POPULATION: pymoo is "
        "pymoo's NSGA-II; nsga2, moead and maco are pygmo's",
    )
    parser.add_argument("--goals", action="store_true", help="compare mocma with its goals and with peers (D = 5)")
    parser.add_argument("-d", "--dimension", type=int, default=5)
    parser.add_argument("-f", "--functions", type=numbers, default=list(range(1, len(PAIRS) + 1)))
    parser.add_argument("-i", "--instances", type=numbers, default=[1], help="of each function (default 1)")
    parser.add_argument("-b", "--budgets", type=numbers, default=[1000, 5000], help="evaluations (default 1000,5000)")
    parser.add_argument("-s", "--seed", type=int, default=1)
    parser.add_argument("-j", "--jobs", type=int, default=2, help="number of runs in parallel (default 2)")
    args = parser.parse_args()
    if bool(args.players) == args.goals:
        parser.error("give either optimizers or --goals")
    check_instances(args.instances, 7)  # each uses two instances of bbob
    problems = [Id(f, args.dimension, i) for f in args.functions for i in args.instances]
    with ProcessPoolExecutor(args.jobs) as pool:
        for budget in GOALS if args.goals else args.budgets:
            goal, players = GOALS[budget] if args.goals else (None, args.players)
            for player in players:
                volumes = list(pool.map(partial(play, player, args.seed, budget), problems, chunksize=4))
                wanted = f"  (goal {goal:g})" if goal and not player.startswith("peer:") else ""
                print(
                    f"D={args.dimension}  {budget:6} evaluations  {player:28} {np.mean(volumes):.4f}{wanted}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
