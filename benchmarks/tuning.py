"""The value of the choices of `culmen tune cluster` in later launches. Peers: an exhaustive search with ten times the
repetitions, and the method of ompi-collectives-tuning, the least mean of a grid, in the time of culmen."""

import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from culmen.bench.collectives.measured import measure_points, points_of
from culmen.bench.collectives.points import Point, Protocol
from culmen.bench.parts import for_evaluators
from culmen.bench.session import Ranks
from culmen.launch.mpi import Launcher, find_launcher
from culmen.launch.mpi.collectives import DEFAULT, Algorithm
from culmen.tune.cluster.choices import tuned_from
from culmen.tune.cluster.measured import measure, points_with_parts
from culmen.tune.cluster.pairs import LAUNCHES, next_pairs
from measure import Bench, Row, Spread, mpis_here

SIZES = (8, 64, 512, 4096, 32768, 262144)
BUDGET_S = 0.1  # of an algorithm and a size in the race
REPETITIONS = 2000  # of the exhaustive search: about ten times those of an algorithm in the race
TIMEOUT_S = 60.0
FRESH_LAUNCHES = 3
FRESH_VISITS = 10  # of the default and of each choice, in each launch

# Environment variable: a folder that keeps the choices. A later benchmark with this folder measures the same choices
# again, in a fresh session.
KEPT = "CULMEN_BENCH_CHOICES"
ONLY = "CULMEN_BENCH_MPIS"  # environment variable: the MPIs that are measured
RANKS = "CULMEN_BENCH_RANKS"  # environment variable: a number of ranks, instead of that of each case

Where = tuple[str, int]  # collective and size
Choices = dict[Where, str]


@dataclass(frozen=True)
class Case:
    """``ranks``: with MPICH as many as cores here, since its ranks do not give their cores away."""

    mpi: str
    ranks: int
    collectives: tuple[str, ...]

    @property
    def launcher(self) -> Launcher:
        return find_launcher(self.mpi)

    def algorithms(self, collective: str) -> list[Algorithm]:
        known = self.launcher.mpi.collectives
        given = {"collective": collective, "ranks": self.ranks, "commutative": True}
        return [*known.safe_algorithms(**given), *known.variants(**given)]


CASES = [
    Case("openmpi", 8, ("bcast", "allreduce", "reduce", "alltoall")),
    Case("mpich", 2, ("bcast", "allreduce", "reduce", "alltoall", "allgather", "reduce_scatter")),
]


@dataclass
class Method:
    """``seconds``: of its measurements, with the starts of the ranks; 0 if they were kept from another session."""

    choices: Choices
    calls: int
    seconds: float = 0.0


def tuning(bench: Bench) -> Iterator[Row]:
    here = os.environ.get(ONLY, " ".join(dict(mpis_here()))).split()
    for case in CASES:
        if case.mpi in here:
            yield from _rows(bench, replace(case, ranks=int(os.environ.get(RANKS, case.ranks))))


def _rows(bench: Bench, case: Case) -> Iterator[Row]:
    sizes = SIZES[::2] if bench.quick else SIZES
    methods = _kept(case, sizes) or _searched(bench, case, sizes)
    own, exhaustive = methods["tune cluster"], methods["exhaustive"]
    speed: dict[str, list[float]] = {name: [] for name in methods}
    regret: list[float] = []
    slower: dict[str, int] = dict.fromkeys(methods, 0)
    for number in range(FRESH_LAUNCHES):
        bench.say(f"{case.mpi}: fresh session {number + 1} of {FRESH_LAUNCHES}")
        fresh = _fresh(case, sizes, [each.choices for each in methods.values()])
        for name, method in methods.items():
            gains = {at: _gain(fresh[at], method.choices[at]) for at in fresh}
            speed[name].append(float(np.exp(np.mean([np.log(gain) for gain, _ in gains.values()]))))
            slower[name] += sum(high < 1 for _, high in gains.values())
        best = [min(np.median(t) for t in there.values()) for there in fresh.values()]
        chosen = [np.median(there[own.choices[at]]) for at, there in fresh.items()]
        regret.append(float(np.mean(np.array(chosen) / np.array(best))) - 1)
    what = f"{len(own.choices)} points, {case.ranks} ranks, {case.launcher.mpi.title}"
    own_speed, oracle, grid = (Spread(speed[name]) for name in methods)
    yield Row(f"tuned: times faster than the default, {what}", "", own_speed, oracle, "exhaustive search",
              own_speed.over(oracle), at_least=0.9)  # fmt: skip
    ahead = own_speed.over(grid)
    yield Row(f"tuned: the same, {what}", "", own_speed, grid, "least mean of a grid, same time", ahead, at_least=1)
    regrets = f"tuned: mean regret against the best that was measured in the same session, {case.mpi}"
    yield Row(regrets, "", Spread(regret), at_most=0.05)
    share = own.calls / exhaustive.calls
    yield Row(f"tuned: calls / calls of the exhaustive search, {case.mpi}", "", Spread([share]), at_most=0.2)
    for name in methods:
        each = Spread([slower[name] / FRESH_LAUNCHES])
        limit = {"at_most": 0.0} if name == "tune cluster" else {}
        yield Row(f"points slower than the default beyond their interval, {case.mpi}: {name}", "", each, **limit)


def _searched(bench: Bench, case: Case, sizes: tuple[int, ...]) -> dict[str, Method]:
    bench.say(f"{case.mpi}: tune cluster")
    own = _own(case, sizes, bench.scratch)
    bench.say(f"{case.mpi}: exhaustive search")
    repetitions = REPETITIONS // (4 if bench.quick else 1)
    exhaustive = _grid(case, sizes, repetitions, np.median)
    bench.say(f"{case.mpi}: least mean of a grid, in the same time")
    mean = _grid(case, sizes, max(1, round(repetitions * own.seconds / exhaustive.seconds)), np.mean)
    methods = {"tune cluster": own, "exhaustive": exhaustive, "least mean": mean}
    if file := _file_of(case):
        kept = {name: [[*at, choice] for at, choice in each.choices.items()] for name, each in methods.items()}
        file.write_text(json.dumps({name: [each.calls, kept[name]] for name, each in methods.items()}))
    return methods


def _file_of(case: Case) -> Path | None:
    folder = os.environ.get(KEPT)
    return Path(folder, f"{case.mpi}-{case.ranks}.json") if folder else None


def _kept(case: Case, sizes: tuple[int, ...]) -> dict[str, Method]:
    """The choices of an earlier session; empty if there are none for these sizes."""
    file = _file_of(case)
    if file is None or not file.exists():
        return {}
    methods = {
        name: Method({(collective, size): choice for collective, size, choice in rows}, calls)
        for name, (calls, rows) in json.loads(file.read_text()).items()
    }
    wanted = {(name, size) for name in case.collectives for size in sizes}
    return methods if all(set(each.choices) == wanted for each in methods.values()) else {}


def _own(case: Case, sizes: tuple[int, ...], scratch: Path) -> Method:
    begin, folder = time.monotonic(), scratch / f"tuned-{case.mpi}"
    for_evaluators(folder)
    for launch in range(LAUNCHES + 1):
        for name in case.collectives:
            measure(
                {
                    "collective": name,
                    "ranks": case.ranks,
                    "launch": launch,
                    "mpi": case.mpi,
                    "sizes": ",".join(map(str, sizes)),
                    "interval": 0.1,
                    "budget_s": BUDGET_S,
                    "timeout_s": TIMEOUT_S,
                    "same_types": False,
                    "commutative": True,
                }
            )
    tuned = tuned_from([(name, case.ranks) for name in case.collectives], folder)
    choices = {(c.place.collective, c.place.size): c.algorithm for c in tuned.choices}
    return Method(choices, tuned.calls, time.monotonic() - begin)


def _grid(case: Case, sizes: tuple[int, ...], repetitions: int, value) -> Method:
    """Each algorithm with this number of repetitions; the one with the least value wins."""
    choices: Choices = {}
    begin, calls = time.monotonic(), 0
    for name in case.collectives:
        points = points_with_parts(name, case.algorithms(name), sizes, case.ranks)
        with Ranks(case.launcher, case.ranks, TIMEOUT_S) as ranks:
            measure_points(ranks, name, points, Protocol(repetitions=repetitions), seed=1)
        calls += sum(len(times) for point in points for times in point.visits)
        for size in sizes:
            there = [p for p in points if p.size == size and p.in_time and (p.verified or p.algorithm.name == DEFAULT)]
            choices[name, size] = min(there, key=lambda p: value(np.concatenate(p.in_time))).algorithm.name
    return Method(choices, calls, time.monotonic() - begin)


def _fresh(case: Case, sizes: tuple[int, ...], all_choices: list[Choices]) -> dict[Where, dict[str, np.ndarray]]:
    """The visits' medians of the default and of all choices, in turns, in a new launch."""
    out: dict[Where, dict[str, np.ndarray]] = {}
    for name in case.collectives:
        by_name = {one.name: one for one in case.algorithms(name)}
        points: list[Point] = []
        for size in sizes:
            wanted = dict.fromkeys([DEFAULT, *(choices[name, size] for choices in all_choices)])
            points += points_of(name, [by_name[each] for each in wanted], [size])
        with Ranks(case.launcher, case.ranks, TIMEOUT_S) as ranks:
            measure_points(ranks, name, points, Protocol(), 1, partial(next_pairs, visits=FRESH_VISITS))
        for point in points:
            medians = np.array([np.median(times) for times in point.in_time[1:]])
            out.setdefault((name, point.size), {})[point.algorithm.name] = medians
    return out


def _gain(there: dict[str, np.ndarray], name: str) -> tuple[float, float]:
    """Times faster than the default, and the upper end of the interval of 95 % (bootstrap of the median of pairs)."""
    if name == DEFAULT:
        return 1.0, 1.0
    n = min(len(there[DEFAULT]), len(there[name]))
    logs = np.log(there[DEFAULT][:n] / there[name][:n])
    rng = np.random.default_rng(1)
    medians = np.median(rng.choice(logs, (2000, n)), axis=1)
    return float(np.exp(np.median(logs))), float(np.exp(np.quantile(medians, 0.975)))
