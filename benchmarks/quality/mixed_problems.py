"""Problems with integers, choices and conditions, whose optimum is known.

`mixint` is COCO's bbob-mixint (Tušar, Brockhoff and Hansen, GECCO 2019): of every five variables one has 2 values, one
4, one 8, one 16, and one is real. The others are the project's own. Each instance has another optimum and other best
choices. Values are differences to the optimum, between 0 and some hundreds.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import cocoex
import numpy as np

from .folders import inside
from .problems import check_instances

Values = Mapping[str, Any]  # of the variables that are active


@dataclass(frozen=True)
class Variable:
    """A real or an integer from lower to upper, or one of the choices; active while `when[0]` is one of `when[1]`."""

    name: str
    kind: str  # real, integer, choice
    lower: float = 0
    upper: float = 1
    log: bool = False
    choices: tuple[str, ...] = ()
    when: tuple[str, tuple[Any, ...]] | None = None

    def active(self, values: Values) -> bool:
        return self.when is None or values.get(self.when[0]) in self.when[1]

    def share(self, value: float) -> float:
        """Of the range, on its scale."""
        if self.log:
            return math.log(value / self.lower) / math.log(self.upper / self.lower)
        return (value - self.lower) / (self.upper - self.lower)

    def at(self, share: float) -> float:
        """Of a real one, the reverse."""
        if self.log:
            return min(self.upper, max(self.lower, self.lower * (self.upper / self.lower) ** share))
        return self.lower + share * (self.upper - self.lower)


def real(name: str, lower: float, upper: float, **more: Any) -> Variable:
    return Variable(name, "real", lower, upper, **more)


def whole(name: str, lower: int, upper: int, **more: Any) -> Variable:
    return Variable(name, "integer", lower, upper, **more)


def choice(name: str, *choices: str, **more: Any) -> Variable:
    return Variable(name, "choice", 0, len(choices) - 1, choices=choices, **more)


class Place:
    """Where one instance has its optimum."""

    def __init__(self, variables: tuple[Variable, ...], instance: int) -> None:
        self._variables = {v.name: v for v in variables}
        self.random = np.random.default_rng([instance, len(variables)])
        self._best: dict[str, float] = {}
        self._costs: dict[str, dict[str, float]] = {}
        for v in variables:
            if v.kind == "choice":
                costs = [0.0, *np.linspace(0.3, 1, len(v.choices) - 1)]
                self._costs[v.name] = dict(zip(v.choices, self.random.permutation(costs).tolist(), strict=True))
            else:
                self._best[v.name] = self._draw(v)

    def _draw(self, v: Variable) -> float:
        u = self.random.uniform(0.15, 0.85)
        value = v.lower * (v.upper / v.lower) ** u if v.log else v.lower + u * (v.upper - v.lower)
        return v.share(round(value) if v.kind == "integer" else value)

    def off(self, values: Values, name: str) -> float:
        """How far from the best, as a signed share of the range."""
        return self._variables[name].share(values[name]) - self._best[name]

    def square(self, values: Values, *names: str) -> float:
        return sum(self.off(values, name) ** 2 for name in names)

    def cost(self, values: Values, name: str) -> float:
        """0 for the best choice, from 0.3 to 1 for the others."""
        return self._costs[name][values[name]]

    def best(self, name: str) -> str:
        return min(self._costs[name], key=self._costs[name].__getitem__)


def pipeline(place: Place, v: Values) -> float:
    """Which model, and how data are prepared for it; each model has parameters of its own."""
    total = 20 * place.cost(v, "scaler") * (0.1 if v["model"] == "forest" else 1)
    if v["reduce"] == "yes":
        total += 1 + 30 * place.square(v, "components")
    if v["model"] == "linear":
        return total + 4 + 40 * place.square(v, "penalty") + 5 * place.cost(v, "norm")
    if v["model"] == "forest":
        slope = place.off(v, "trees") + 0.5 * place.off(v, "depth")
        return total + 2 + 30 * slope**2 + 30 * place.square(v, "depth", "features")
    total += 200 * (place.off(v, "C") + place.off(v, "gamma")) ** 2 + 20 * place.square(v, "C", "gamma")
    return total + (3 + 30 * place.square(v, "degree") if v["kernel"] == "poly" else 0)


PIPELINE = (
    choice("scaler", "none", "standard", "minmax", "robust"),
    choice("reduce", "no", "yes"),
    whole("components", 2, 50, when=("reduce", ("yes",))),
    choice("model", "linear", "forest", "machine"),
    real("penalty", 1e-4, 1e4, log=True, when=("model", ("linear",))),
    choice("norm", "l1", "l2", when=("model", ("linear",))),
    whole("trees", 10, 1000, log=True, when=("model", ("forest",))),
    whole("depth", 1, 30, when=("model", ("forest",))),
    real("features", 0.05, 1, when=("model", ("forest",))),
    real("C", 1e-3, 1e3, log=True, when=("model", ("machine",))),
    real("gamma", 1e-6, 1e1, log=True, when=("model", ("machine",))),
    choice("kernel", "rbf", "poly", when=("model", ("machine",))),
    whole("degree", 2, 6, when=("kernel", ("poly",))),
)


def blocked_lu(place: Place, v: Values) -> float:
    """As HPL is tuned: block size, grid, broadcast, lookahead; block sizes off a multiple of 8 cost more."""
    block = place.off(v, "block")
    total = 60 * block**2 + (0.5 if v["block"] % 8 != 0 else 0)
    grid = place.off(v, "rows")
    total += 40 * (grid + 0.4 * block) ** 2 + 10 * place.cost(v, "broadcast") * (1 + abs(grid))
    total += 8 * place.square(v, "depth") + 3 * place.cost(v, "panel") + 4 * place.square(v, "stop", "divide")
    total += 5 * place.cost(v, "swap")
    if v["swap"] == "mix":
        total += 6 * place.square(v, "threshold")
    floor = blocked_lu_floor(place)
    return max(0.0, total - floor)


@cache
def blocked_lu_floor(place: Place) -> float:
    """The lowest value that the coupling of block and rows and the multiple of 8 allow."""
    block_variable, rows = BLOCKED_LU[0], BLOCKED_LU[1]
    least = math.inf
    for block in range(int(block_variable.lower), int(block_variable.upper) + 1):
        b = place.off({"block": block}, "block")
        for r in range(int(rows.lower), int(rows.upper) + 1):
            g = place.off({"rows": r}, "rows")
            least = min(least, 60 * b**2 + (0.5 if block % 8 else 0) + 40 * (g + 0.4 * b) ** 2)
    return least


BLOCKED_LU = (
    whole("block", 32, 512),
    whole("rows", 0, 6),
    choice("broadcast", "ring", "ring_m", "two_rings", "two_rings_m", "long", "long_m"),
    whole("depth", 0, 4),
    choice("panel", "left", "crout", "right"),
    whole("stop", 1, 16),
    whole("divide", 2, 8),
    choice("swap", "binary", "long", "mix"),
    whole("threshold", 16, 256, when=("swap", ("mix",))),
)


def solver(place: Place, v: Values) -> float:
    """An iterative method, its preconditioner, and what each of these asks for."""
    if v["method"] == "direct":
        return 6 + 10 * place.cost(v, "ordering")
    least = min(place.cost({"method": m}, "method") for m in ITERATIVE[1])
    total = 10 * (place.cost(v, "method") - least) + 30 * place.square(v, "tolerance")
    if v["method"] == "gmres":
        total += 20 * place.square(v, "restart")
    kind = v["preconditioner"]
    if kind in ("none", "jacobi"):
        return total + (8 if kind == "none" else 5)
    total += 2 * place.cost(v, "preconditioner") - 2 * min(
        place.cost({"preconditioner": k}, "preconditioner") for k in ("ilu", "multigrid")
    )
    if kind == "ilu":
        total += 30 * (place.off(v, "fill") - place.off(v, "drop")) ** 2 + 10 * place.square(v, "fill", "drop")
    if kind == "multigrid":
        total += 5 * place.cost(v, "smoother") + 20 * place.square(v, "sweeps", "strength")
    return total


ITERATIVE = ("method", ("cg", "gmres", "bicgstab"))
SOLVER = (
    choice("method", "direct", "cg", "gmres", "bicgstab"),
    choice("ordering", "amd", "metis", "natural", when=("method", ("direct",))),
    real("tolerance", 1e-12, 1e-2, log=True, when=ITERATIVE),
    whole("restart", 5, 200, log=True, when=("method", ("gmres",))),
    choice("preconditioner", "none", "jacobi", "ilu", "multigrid", when=ITERATIVE),
    whole("fill", 0, 10, when=("preconditioner", ("ilu",))),
    real("drop", 1e-8, 1e-1, log=True, when=("preconditioner", ("ilu",))),
    choice("smoother", "jacobi", "seidel", "chebyshev", when=("preconditioner", ("multigrid",))),
    whole("sweeps", 1, 8, when=("preconditioner", ("multigrid",))),
    real("strength", 0, 1, when=("preconditioner", ("multigrid",))),
)


def broadcast_time(ranks: float, size: float, fanout: Any, segment: Any, algorithm: str) -> Any:
    """Microseconds, by latency and bandwidth; a segment pays at least 64 bytes, and as much again above 8 KiB."""
    segment = np.minimum(segment, size)
    hop = 2.0 + segment / 3000.0 + np.where(segment > 8192, 1.5 + segment / 6000.0, 0.0)
    pieces = np.ceil(size / segment)
    if algorithm == "chain":
        return (np.ceil((ranks - 1) / fanout) + pieces - 1) * hop + 0.4 * fanout * pieces
    depth = np.ceil(np.log(ranks) / np.log(fanout))
    return (depth + pieces - 1) * hop * (0.45 + 0.55 * (fanout - 1))


def collective(place: Place, v: Values) -> float:
    """A broadcast: its algorithm, and for some of them how messages are cut and passed on. As it is: no smooth bowl."""
    ranks, size = collective_setting(place)
    return max(0.0, (collective_time(ranks, size, v) / collective_best(place) - 1) * 10)


@cache
def collective_setting(place: Place) -> tuple[float, float]:
    return float(place.random.integers(40, 1000)), float(2 ** place.random.uniform(14, 22))


def collective_time(ranks: float, size: float, v: Values) -> float:
    whole_message = 2.0 + size / 2000.0
    if v["algorithm"] == "linear":
        return (ranks - 1) * whole_message * 0.3
    if v["algorithm"] == "binomial":
        return math.ceil(math.log2(ranks)) * whole_message
    if v["algorithm"] == "scatter":
        return 2 * size / 2000.0 + (math.log2(ranks) + ranks - 1) * 2.0
    return float(broadcast_time(ranks, size, v["fanout"], v["segment"], v["algorithm"]))


@cache
def collective_best(place: Place) -> float:
    ranks, size = collective_setting(place)
    whole_ones = [collective_time(ranks, size, {"algorithm": a}) for a in ("linear", "binomial", "scatter")]
    fanouts, segments = np.arange(2, 33)[:, None], np.arange(64, 2**17 + 1)[None, :]
    cut = [float(broadcast_time(ranks, size, fanouts, segments, a).min()) for a in ("chain", "tree")]
    return min(whole_ones + cut)


CUT = ("algorithm", ("chain", "tree"))
COLLECTIVE = (
    choice("algorithm", "linear", "binomial", "scatter", "chain", "tree"),
    whole("segment", 64, 2**17, log=True, when=CUT),
    whole("fanout", 2, 32, when=CUT),
)


def network(place: Place, v: Values) -> float:
    """Layers with a width each; two ways of descending with parameters of their own."""
    total = 16 * abs(place.off(v, "layers")) + 6 * place.cost(v, "activation") + 30 * place.square(v, "dropout")
    for k in range(1, v["layers"] + 1):
        total += 15 / k * place.square(v, f"width{k}")
    total += 100 * place.square(v, "rate")
    if v["descent"] == "momentum":
        return total + 3 + 30 * place.square(v, "momentum")
    return total + 20 * (place.off(v, "beta") + place.off(v, "rate")) ** 2


NETWORK = (
    whole("layers", 1, 5),
    *(whole(f"width{k}", 8, 512, log=True, when=("layers", tuple(range(k, 6)))) for k in range(1, 6)),
    choice("activation", "relu", "tanh", "gelu", "silu"),
    real("dropout", 0, 0.8),
    real("rate", 1e-5, 1, log=True),
    choice("descent", "momentum", "adam"),
    real("momentum", 0, 0.99, when=("descent", ("momentum",))),
    real("beta", 0.5, 0.999, when=("descent", ("adam",))),
)


def branches(place: Place, v: Values) -> float:
    """Four functions of reals, of which the best is the hardest: what looks good early is not."""
    at = [place.off(v, f"{v['branch']}{k}") for k in range(BRANCH[v["branch"]])]
    if v["branch"] == "sphere":
        return 3 + 20 * sum(x * x for x in at)
    if v["branch"] == "ellipsoid":
        return 1.5 + sum(1000 ** (k / 3) * x * x for k, x in enumerate(at))
    if v["branch"] == "rastrigin":
        return 0.7 + sum(40 * x * x + 1 - math.cos(6 * math.pi * x) for x in at)
    a, b, c = at[0], at[1], at[2]
    return 300 * (b - 2 * a * a) ** 2 + 20 * a * a + 100 * (c - b) ** 2 + 10 * place.cost(v, "mode")


BRANCH = {"sphere": 3, "ellipsoid": 4, "rastrigin": 3, "valley": 3}
BRANCHES = (
    choice("branch", *BRANCH),
    *(real(f"{name}{k}", -5, 5, when=("branch", (name,))) for name, n in BRANCH.items() for k in range(n)),
    choice("mode", "a", "b", "c", when=("branch", ("valley",))),
)


def switches(place: Place, v: Values) -> float:
    """As flags of a compiler: nothing but choices, some of which count together only."""
    on = [v[f"flag{k}"] == place.best(f"flag{k}") for k in range(12)]
    total = sum(1.0 + k / 6 for k, right in enumerate(on) if not right)
    total += sum(3.0 for k in range(0, 12, 3) if on[k] != on[(k + 4) % 12])
    total += 8 * place.cost(v, "level") + 5 * place.cost(v, "math")
    if v["unroll"] == "yes":
        return total + 2 + 10 * place.square(v, "factor")
    return total + 5 * place.cost(v, "inline") + 4 * place.cost(v, "inline") * place.cost(v, "level")


SWITCHES = (
    *(choice(f"flag{k}", "no", "yes") for k in range(12)),
    choice("level", "O1", "O2", "O3", "Os"),
    choice("math", "exact", "fast", "finite"),
    choice("unroll", "no", "yes"),
    whole("factor", 2, 16, when=("unroll", ("yes",))),
    choice("inline", "none", "small", "all", when=("unroll", ("no",))),
)

Function = Callable[[Place, Values], float]
OURS: dict[str, tuple[Function, tuple[Variable, ...], float]] = {
    "pipeline": (pipeline, PIPELINE, 0),
    "blocked_lu": (blocked_lu, BLOCKED_LU, 0),
    "solver": (solver, SOLVER, 0),
    "collective": (collective, COLLECTIVE, 0),
    "network": (network, NETWORK, 0),
    "branches": (branches, BRANCHES, 0),
    "switches": (switches, SWITCHES, 0),
    "noisy_solver": (solver, SOLVER, 0.02),
}
MIXINT_FUNCTIONS = (1, 3, 6, 8, 10, 12, 15, 17, 20, 21)  # two of each group of bbob


@dataclass(frozen=True, order=True)
class MixedId:
    suite: str  # mixint-5, mixint-20, …; conditional
    function: str
    instance: int

    def __str__(self) -> str:
        return f"{self.suite} {self.function} {self.instance}"


class MixedProblem:
    """Gives the value of variables by name; `true_gap` is that of the last call, without noise."""

    def __init__(self, which: MixedId, seed: int = 1) -> None:
        self.true_gap = math.inf
        self._random = np.random.default_rng([seed, which.instance])
        self._noise = 0.0
        if which.suite == "conditional":
            function, self.variables, self._noise = OURS[which.function]
            self._gap: Callable[[Values], float] = partial(function, Place(self.variables, which.instance))
            return
        dimension = int(which.suite.partition("-")[2])
        suite, problem = _coco(int(which.function), dimension, which.instance)
        optimum = _coco_optimum(int(which.function), dimension, which.instance)
        self._suite = suite
        count = problem.number_of_integer_variables
        low, high = problem.lower_bounds, problem.upper_bounds
        self.variables = tuple(
            whole(f"x{k}", int(low[k]), int(high[k])) if k < count else real(f"x{k}", low[k], high[k])
            for k in range(dimension)
        )
        self._gap = lambda v: float(problem([v[f"x{k}"] for k in range(dimension)])) - optimum

    def __call__(self, values: Values) -> float:
        self.true_gap = max(0.0, self._gap(values))
        if self._noise == 0:
            return self.true_gap
        return (10 + self.true_gap) * (1 + self._noise * float(self._random.standard_normal()))


def _coco(function: int, dimension: int, instance: int) -> tuple[Any, Any]:
    words = f"dimensions:{dimension} function_indices:{function} instance_indices:{instance}"
    suite = cocoex.Suite("bbob-mixint", "", words)
    return suite, suite.get_problem(0)


def _coco_optimum(function: int, dimension: int, instance: int) -> float:
    """COCO writes the place into a file in the working folder."""
    with tempfile.TemporaryDirectory() as folder, inside(folder):
        _, problem = _coco(function, dimension, instance)
        problem._best_parameter("print")
        return float(problem(np.loadtxt("._bbob_problem_best_parameter.txt")))


def mixed_ids(suites: list[str], functions: list[str], instances: list[int]) -> list[MixedId]:
    """functions: those that the suites have; an empty list means all."""
    out = []
    for suite in suites:
        if suite != "conditional":
            check_instances(instances)
        known = list(OURS) if suite == "conditional" else [str(f) for f in MIXINT_FUNCTIONS]
        chosen = [f for f in functions if f in known or (suite != "conditional" and f.isdigit())] or known
        out += [MixedId(suite, f, i) for f in chosen for i in instances]
    return out
