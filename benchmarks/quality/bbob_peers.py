"""Optimizers of other libraries on COCO's functions, in [-5, 5]^D, as their users would call them.

Each has the settings of its library, but tolerances that are finer than the last target needs. If it stops before the
budget is used, it restarts from another point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain, count
from typing import Any

import numpy as np

from .players import BudgetSpent

Function = Callable[[Any], float]
Play = Callable[..., None]  # function, dimension, budget, seed; pygmo's also population
FINE = 1e-12  # a tolerance that loses no target


@dataclass(frozen=True)
class Peer:
    """family: a goal may be the best of a family. libraries: its runs depend on their versions."""

    play: Play
    family: str
    libraries: tuple[str, ...]


def box(dimension: int) -> list[tuple[float, float]]:
    return [(-5.0, 5.0)] * dimension


def starts(dimension: int, seed: int) -> Iterator[Any]:
    """The middle, then random points."""
    random = np.random.default_rng(seed)
    return chain([np.zeros(dimension)], (random.uniform(-5, 5, dimension) for _ in count()))


def random_search(f: Function, dimension: int, budget: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    while True:
        f(random.uniform(-5, 5, dimension))


def pycma_bipop(f: Function, dimension: int, budget: int, seed: int, start: Any = None) -> None:
    """Without bounds, because bounds make it worse. From the middle or from `start`, then from random points."""
    import cma

    random = np.random.default_rng(seed)
    first = np.zeros(dimension) if start is None else start
    starts = chain([first], (random.uniform(-4, 4, dimension) for _ in count()))
    options = {"verbose": -9, "seed": seed, "maxfevals": budget}
    cma.fmin2(f, lambda: next(starts), 2, options, restarts=9, bipop=True)


def pycma_surrogate(f: Function, dimension: int, budget: int, seed: int) -> None:
    """lq-CMA-ES (Hansen, GECCO 2019). It has no restarts of its own."""
    import cma

    for run, start in enumerate(starts(dimension, seed)):
        cma.fmin_lq_surr(f, start, 2, {"verbose": -9, "seed": seed + run, "maxfevals": budget})


SCIPY: dict[str, dict[str, Any]] = {
    "SLSQP": {"maxiter": 10**6, "ftol": FINE},
    "L-BFGS-B": {"maxiter": 10**6, "maxfun": 10**6, "ftol": FINE, "gtol": FINE},
    "Nelder-Mead": {"maxiter": 10**6, "xatol": 1e-9, "fatol": FINE, "adaptive": True},
    "Powell": {"maxiter": 10**6, "xtol": 1e-9, "ftol": FINE},
    "COBYQA": {"maxiter": 10**6, "maxfev": 10**6, "final_tr_radius": 1e-9},
}


def scipy_local(method: str, f: Function, dimension: int, budget: int, seed: int) -> None:
    from scipy.optimize import minimize

    for start in starts(dimension, seed):
        minimize(f, start, method=method, bounds=box(dimension), options=SCIPY[method])


def slsqp_then_bipop(f: Function, dimension: int, budget: int, seed: int) -> None:
    from scipy.optimize import minimize

    used = 0

    def counted(x: Any) -> float:
        nonlocal used
        used += 1
        return f(x)

    found = minimize(counted, np.zeros(dimension), method="SLSQP", bounds=box(dimension), options=SCIPY["SLSQP"])
    pycma_bipop(f, dimension, budget - used, seed, found.x)


def scipy_evolution(f: Function, dimension: int, budget: int, seed: int) -> None:
    from scipy.optimize import differential_evolution

    for run in count():
        settings = {"maxiter": budget, "tol": 0, "atol": FINE, "polish": False}
        differential_evolution(f, box(dimension), rng=seed + 1000 * run, **settings)


def scipy_annealing(f: Function, dimension: int, budget: int, seed: int) -> None:
    from scipy.optimize import dual_annealing

    for run in count():
        dual_annealing(f, box(dimension), maxiter=budget, rng=seed + 1000 * run)


class _Boxed:
    """A problem of pygmo."""

    def __init__(self, f: Function, dimension: int) -> None:
        self._f, self._dimension = f, dimension

    def __deepcopy__(self, memory: Any) -> _Boxed:
        return self

    def fitness(self, x: Any) -> list[float]:
        return [self._f(x)]

    def get_bounds(self) -> tuple[list[float], list[float]]:
        return [-5.0] * self._dimension, [5.0] * self._dimension


def pagmo(
    name: str, options: dict[str, Any], f: Function, dimension: int, budget: int, seed: int, population: int = 20
) -> None:
    import pygmo

    problem = pygmo.problem(_Boxed(f, dimension))
    for run in count():
        algorithm = getattr(pygmo, name)(gen=budget // population + 1, seed=seed + 1000 * run, **options)
        pygmo.algorithm(algorithm).evolve(pygmo.population(problem, population, seed=seed + 1000 * run))


def pagmo_annealing(f: Function, dimension: int, budget: int, seed: int) -> None:
    """Corana's method (1987); one run uses all evaluations."""
    import pygmo

    problem = pygmo.problem(_Boxed(f, dimension))
    sweep = 10 * dimension  # one bin of 10 steps of each coordinate
    for run in count():
        algorithm = pygmo.simulated_annealing(
            Ts=10.0, Tf=1e-8, n_T_adj=max(1, budget // sweep // 10), n_range_adj=10, bin_size=1, seed=seed + 1000 * run
        )
        pygmo.algorithm(algorithm).evolve(pygmo.population(problem, 1, seed=seed + 1000 * run))


def minion(name: str, f: Function, dimension: int, budget: int, seed: int) -> None:
    import minionpy

    def values(points: Any) -> list[float]:
        return [f(x) for x in points]

    try:
        for run in count():
            minionpy.Minimizer(values, box(dimension), algo=name, maxevals=budget, seed=seed + 1000 * run).optimize()
    except RuntimeError as error:  # its C++ code keeps only the text of the exception
        raise (BudgetSpent() if BudgetSpent.__name__ in str(error) else error) from None


def nlopt_local(name: str, f: Function, dimension: int, budget: int, seed: int) -> None:
    import nlopt

    for start in starts(dimension, seed):
        search = nlopt.opt(getattr(nlopt, name), dimension)
        _prepare(search, f, dimension)
        try:
            search.optimize(start)
        except nlopt.RoundoffLimited:
            continue


def nlopt_multistart(f: Function, dimension: int, budget: int, seed: int) -> None:
    """MLSL on Sobol's points (Kucherenko and Sytsko 2005) with BOBYQA for its local searches."""
    import nlopt

    nlopt.srand(seed)
    search, local = nlopt.opt(nlopt.G_MLSL_LDS, dimension), nlopt.opt(nlopt.LN_BOBYQA, dimension)
    _prepare(search, f, dimension)
    local.set_xtol_rel(1e-10)
    local.set_ftol_abs(FINE)
    search.set_local_optimizer(local)
    search.optimize(np.zeros(dimension))


def _prepare(search: Any, f: Function, dimension: int) -> None:
    search.set_min_objective(lambda x, _: f(x))
    search.set_lower_bounds([-5.0] * dimension)
    search.set_upper_bounds([5.0] * dimension)
    search.set_xtol_rel(1e-10)
    search.set_ftol_abs(FINE)


def nevergrad(name: str, f: Function, dimension: int, budget: int, seed: int) -> None:
    import nevergrad as ng

    parameters = ng.p.Array(shape=(dimension,), lower=-5, upper=5)
    parameters.random_state.seed(seed)
    ng.optimizers.registry[name](parameters, budget=budget).minimize(f)


def optuna_tpe(f: Function, dimension: int, budget: int, seed: int) -> None:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed, multivariate=True))
    study.optimize(lambda t: f([t.suggest_float(f"x{i}", -5, 5) for i in range(dimension)]), n_trials=budget)


def of_pagmo(name: str, family: str, **options: Any) -> Peer:
    return Peer(partial(pagmo, name, options), family, ("pygmo",))


def of_minion(name: str, family: str) -> Peer:
    return Peer(partial(minion, name), family, ("minionpy",))


def of_scipy(method: str) -> Peer:
    return Peer(partial(scipy_local, method), "local", ("scipy", "numpy"))


_CMA = ("cma", "numpy")
_TIGHT = {"ftol": FINE, "xtol": FINE}
PEERS: dict[str, Peer] = {
    "random": Peer(random_search, "random", ("numpy",)),
    "pycma": Peer(pycma_bipop, "cma", _CMA),
    "slsqp": of_scipy("SLSQP"),
    "slsqp-pycma": Peer(slsqp_then_bipop, "portfolio", ("scipy", *_CMA)),
    "lbfgsb": of_scipy("L-BFGS-B"),
    "nelder-mead": of_scipy("Nelder-Mead"),
    "powell": of_scipy("Powell"),
    "cobyqa": of_scipy("COBYQA"),
    "bobyqa": Peer(partial(nlopt_local, "LN_BOBYQA"), "local", ("nlopt",)),
    "sbplx": Peer(partial(nlopt_local, "LN_SBPLX"), "local", ("nlopt",)),
    "mlsl-bobyqa": Peer(nlopt_multistart, "local", ("nlopt",)),
    "scipy-de": Peer(scipy_evolution, "de", ("scipy", "numpy")),
    "dual-annealing": Peer(scipy_annealing, "annealing", ("scipy", "numpy")),
    "arrde": of_minion("ARRDE", "de"),
    "lshade": of_minion("LSHADE", "de"),
    "minion-bipop": of_minion("BIPOP_aCMAES", "cma"),
    "minion-pso": of_minion("DMSPSO", "swarm"),
    "de1220": of_pagmo("de1220", "de", **_TIGHT),
    "sade": of_pagmo("sade", "de", **_TIGHT),
    "pso": of_pagmo("pso", "swarm"),
    "pso-gen": of_pagmo("pso_gen", "swarm"),
    "xnes": of_pagmo("xnes", "cma", **_TIGHT),
    "sga": of_pagmo("sga", "evolution"),
    "bee-colony": of_pagmo("bee_colony", "bees"),
    "pagmo-annealing": Peer(pagmo_annealing, "annealing", ("pygmo",)),
    "one-plus-one": Peer(partial(nevergrad, "OnePlusOne"), "evolution", ("nevergrad", "numpy")),
    "ngopt": Peer(partial(nevergrad, "NGOpt"), "portfolio", ("nevergrad", *_CMA)),
    "lq-cma": Peer(pycma_surrogate, "surrogate", _CMA),
    "tpe": Peer(optuna_tpe, "surrogate", ("optuna", "numpy")),
}


def find(name: str) -> Peer:
    """name: a key of PEERS; for pygmo's, with a population after a colon if wanted (de1220:400)."""
    name, _, population = name.partition(":")
    peer = PEERS[name]
    if not population:
        return peer
    if peer.libraries != ("pygmo",):
        raise ValueError(f"peer:{name}:{population}: only the peers of pygmo take a population")
    return Peer(partial(peer.play, population=int(population)), peer.family, peer.libraries)
