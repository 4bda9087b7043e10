"""How near to the best settings of HPL the search of `culmen tune hpl` comes, and random search and Optuna's TPE.

    python benchmarks/hpl.py measure [--program XHPL] [--n N] [--repeats R] [--seconds S] [--small]
    python benchmarks/hpl.py [--seeds K] [--share X] [--small]
    python benchmarks/hpl.py made-up [--grids G] [--seeds K] [--share X] [--small]

The first command measures a grid of settings once, R times each, in random order, and keeps the results in
`build/hpl-grid-….jsonl`. Called again, it continues; S limits one call. The second command replays searches on this
grid. The speed of a run is the grid's mean for its settings, times a random one of the measured ratios of a repeat to
its mean. The run takes the time of this speed. A search may spend X of the time of the whole grid (once each). The
figure is the mean of the settings that it chooses, as a share of the best mean.

The third command replays searches on G made-up grids, so that no search is judged, or tuned, by one machine alone. The
logarithm of a speed is a sum of random effects: of each parameter, and smaller ones of each two. Speed is a smooth
function of NB with one maximum. Single runs have a spread of 3, 8 or 12 %, with more outliers than a normal
distribution.

All searches know only what they measured. As `culmen tune hpl` does, culmen begins with usual settings and keeps a part
of its time to look again at the best ones. Random search and TPE are replayed twice: they choose their best single run,
or they look again at their best settings as culmen does. Every choice is judged by the grid's mean, which no search
knows.

Not replayed: the first runs, looks with a larger N, the choice of the BLAS, the comparison at the end, and the time in
which programs start and searches think.
"""

import argparse
import itertools
import json
import math
import random
import time
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from culmen.launch.launcher import cores
from culmen.tune.hpl.dat import Dat
from culmen.tune.hpl.measured import run_once
from culmen.tune.hpl.output import HplError
from culmen.tune.hpl.plan import FINALISTS, LOOKS
from culmen.tune.hpl.program import find_program
from culmen.tune.hpl.scaling import operations
from culmen.tune.hpl.space import calculator, grids_for, squarest

import culmen

BUILD = Path(__file__).resolve().parent.parent / "build"
Settings = dict[str, Any]
ALL = {
    "nb": [32, 64, 96, 128, 192, 256],
    "depth": [0, 1],
    "nbmin": [2, 8],
    "pfact": ["left", "crout", "right"],
    "bcast": ["1ring", "1ringM", "long"],
}
SMALL = {"nb": [32, 64, 96, 128, 192, 256], "depth": [0, 1], "nbmin": [2, 8], "pfact": ["left", "crout", "right"]}
LIMIT_S = 60
MOST_RUNS = 300  # as in culmen tune hpl


def grid_of(small: bool) -> dict[str, list[Any]]:
    return {**(SMALL if small else ALL), "grid": grids_for(cores(), None)}


def points_of(grid: dict[str, list[Any]]) -> Iterator[Settings]:
    for values in itertools.product(*grid.values()):
        yield dict(zip(grid, values, strict=True))


def file_of(n: int, small: bool) -> Path:
    return BUILD / f"hpl-grid-{n}{'-small' if small else ''}.jsonl"


def measure(options: argparse.Namespace) -> None:
    program = find_program(options.program)
    usual = calculator(cores(), program.present_blas)
    file, until = file_of(options.n, options.small), time.monotonic() + options.seconds
    file.parent.mkdir(exist_ok=True)
    done = file.read_text().splitlines() if file.exists() else []
    order = []
    for repeat in range(options.repeats):
        points = list(points_of(grid_of(options.small)))
        random.Random(repeat).shuffle(points)  # noqa: S311 - an order
        order += points
    with file.open("a") as out:
        for at in range(len(done), len(order)):
            if time.monotonic() > until:
                break
            try:
                run = run_once(program, {**usual, **order[at]}, options.n, cores(), Dat(), LIMIT_S, BUILD)
                gflops = run.gflops
            except HplError:
                gflops = math.nan
            out.write(json.dumps({"settings": order[at], "gflops": gflops}) + "\n")
            out.flush()
    print(f"{len(file.read_text().splitlines())} of {len(order)} runs are in {file}")


class Measured:
    """``means``: the mean speed of each point. ``deviations``: of the logarithms of single runs from these, as large as
    they are from the unknown true means."""

    def __init__(self, file: Path) -> None:
        runs = defaultdict(list)
        for line in file.read_text().splitlines():
            row = json.loads(line)
            if row["gflops"] == row["gflops"]:
                runs[key_of(row["settings"])].append(math.log(row["gflops"]))
        self.means = {key: math.exp(float(np.mean(logs))) for key, logs in runs.items()}
        repeated = [np.array(logs) for logs in runs.values() if len(logs) > 1]
        free = [np.sqrt(len(logs) / (len(logs) - 1)) * (logs - logs.mean()) for logs in repeated]
        self.deviations = np.concatenate(free) if free else np.zeros(1)

    def share(self, settings: Settings) -> float:
        return self.means.get(key_of(settings), 0.0) / max(self.means.values())


class MadeUp(Measured):
    """A random function in place of measurements."""

    def __init__(self, grid: dict[str, list[Any]], seed: int) -> None:
        rng = np.random.default_rng(seed)
        effects = {name: rng.random() ** 2 * 0.25 * rng.standard_normal(len(values)) for name, values in grid.items()}
        at = np.arange(len(grid["nb"]))
        effects["nb"] = -rng.uniform(0.005, 0.06) * (at - rng.uniform(0, len(at) - 1)) ** 2
        pairs = {
            (a, b): 0.04 * rng.random() ** 3 * rng.standard_normal((len(grid[a]), len(grid[b])))
            for a, b in itertools.combinations(grid, 2)
        }
        self.means = {}
        for settings in points_of(grid):
            k = {name: grid[name].index(value) for name, value in settings.items()}
            alone = sum(effect[k[name]] for name, effect in effects.items())
            together = sum(effect[k[a], k[b]] for (a, b), effect in pairs.items())
            self.means[key_of(settings)] = 80 * math.exp(alone + together)
        self.deviations = (0.03, 0.08, 0.12)[seed % 3] * rng.standard_t(5, 400) / math.sqrt(5 / 3)


class Runs:
    """Of one search. ``left``: of its time, in 1 / GFLOPS, as all runs have the same N."""

    def __init__(self, measured: Measured, seed: int, time: float) -> None:
        self._measured, self._rng, self.left = measured, np.random.default_rng(seed), time
        self.count = 0

    def __call__(self, settings: Settings) -> float:
        """The speed in GFLOPS."""
        mean = self._measured.means.get(key_of(settings)) or min(self._measured.means.values()) / 2  # it failed
        speed = mean * math.exp(self._rng.choice(self._measured.deviations))
        self.left -= 1 / speed
        self.count += 1
        return speed


class Seen:
    """The runs of a search. ``looks``: at the end, it runs its best settings again, and keeps time for this."""

    def __init__(self, run: Runs, looks: bool) -> None:
        self._run, self._looks = run, LOOKS if looks else 0
        self._speeds: dict[str, list[float]] = defaultdict(list)

    def has_time(self) -> bool:
        fastest = max((max(speeds) for speeds in self._speeds.values()), default=math.inf)
        return self._run.left > FINALISTS * self._looks / fastest

    def run(self, settings: Settings) -> float:
        speed = self._run(settings)
        self._speeds[key_of(settings)].append(speed)
        return speed

    def best(self, recommended: Settings | None = None) -> Settings:
        """``recommended``: settings that the search itself thinks best; they are among those that run again."""
        best = sorted(self._speeds, key=lambda key: -max(self._speeds[key]))
        if recommended:
            best.insert(0, key_of(recommended))
        finalists = [*dict.fromkeys(best)][: FINALISTS if self._looks else 1]
        for key in finalists * self._looks:
            self.run(json.loads(key))
        return dict(json.loads(max(finalists, key=lambda key: float(np.mean(self._speeds[key])))))


def key_of(settings: Settings) -> str:
    return json.dumps(settings, sort_keys=True)


def by_culmen(grid: dict[str, list[Any]], run: Runs, seed: int) -> Settings:
    """As in `culmen tune hpl`: usual settings first, with ranks alone and with threads alone."""
    usual = by_calculator(grid)
    starts = [{**usual, "grid": name} for name in dict.fromkeys([squarest(cores()), "1x1"])]
    space = {name: _parameter(values, starts[0][name]) for name, values in grid.items()}
    study = culmen.Optimizer(
        space, "bayes", seed=seed, evaluations=MOST_RUNS, options={"model": "additive"}, starts=starts
    )
    seen = Seen(run, looks=True)
    while seen.has_time():
        (candidate,) = study.ask(1)
        study.tell(candidate, -math.log(seen.run(candidate.params)))
    return seen.best(study.recommended.params if study.recommended else None)


def _parameter(values: list[Any], initial: Any) -> Any:
    if isinstance(values[0], str):
        return culmen.categorical(values, initial=initial)
    return culmen.ordinal(values, initial=initial)


def by_random(grid: dict[str, list[Any]], run: Runs, seed: int, looks: bool = False) -> Settings:
    points, seen = [*points_of(grid)], Seen(run, looks)
    random.Random(seed).shuffle(points)  # noqa: S311 - an order
    for settings in itertools.takewhile(lambda _: seen.has_time(), points):
        seen.run(settings)
    return seen.best()


def by_tpe(grid: dict[str, list[Any]], run: Runs, seed: int, looks: bool = False) -> Settings:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    seen = Seen(run, looks)
    while seen.has_time():
        trial = study.ask()
        study.tell(trial, seen.run({name: trial.suggest_categorical(name, values) for name, values in grid.items()}))
    return seen.best()


def by_calculator(grid: dict[str, list[Any]], *_others: Any) -> Settings:
    usual = {name: calculator(cores(), "")[name] for name in grid}
    return {**usual, "nbmin": min(grid["nbmin"], key=lambda nbmin: abs(nbmin - usual["nbmin"]))}


def replay(options: argparse.Namespace) -> None:
    grid, measured = grid_of(options.small), Measured(file_of(options.n, options.small))
    each = [1 / speed for speed in measured.means.values()]
    time_s = options.share * sum(each) * operations(options.n) * 1e-9
    best = max(measured.means, key=lambda key: measured.means[key])
    middle = np.median([*measured.means.values()])
    print(f"{len(each)} settings with N = {options.n}, spread of a run {100 * measured.deviations.std():.1f} %")
    print(f"best: {measured.means[best]:.4g} GFLOPS with {best}; median of all settings: {middle:.4g} GFLOPS")
    print(f"time of a search: {time_s:.3g} s in HPL, {100 * options.share:.3g} % of that of the grid")
    compare(grid, [measured], options)


def made_up(options: argparse.Namespace) -> None:
    grid = grid_of(options.small)
    grids = [MadeUp(grid, seed) for seed in range(1, options.grids + 1)]
    print(f"{options.grids} made-up grids of {len(grids[0].means)} settings, {options.seeds} searches on each")
    compare(grid, grids, options)


def compare(grid: dict[str, list[Any]], grids: list[Any], options: argparse.Namespace) -> None:
    searches = {
        "culmen": by_culmen,
        "random": by_random,
        "random, looks again": partial(by_random, looks=True),
        "TPE (Optuna)": by_tpe,
        "TPE (Optuna), looks again": partial(by_tpe, looks=True),
        "web calculators": by_calculator,
    }
    for name, search in searches.items():
        shares, counts = [], []
        for measured, seed in itertools.product(grids, range(1, options.seeds + 1)):
            run = Runs(measured, seed, options.share * sum(1 / speed for speed in measured.means.values()))
            shares.append(100 * measured.share(search(grid, run, seed)))
            counts.append(run.count)
        about = f"{name}, {np.median(counts):.0f} runs: {np.median(shares):.1f} % of the best (median)"
        print(f"{about}, mean {np.mean(shares):.1f} %, worst {min(shares):.1f} %", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=["measure", "replay", "made-up"], default="replay")
    parser.add_argument("--program", type=Path)
    parser.add_argument("--n", type=int, default=2000)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=270)
    parser.add_argument("--small", action="store_true", help="without BCAST")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--grids", type=int, default=30)
    parser.add_argument("--share", type=float, default=0.1, help="of the time of the grid")
    options = parser.parse_args()
    {"measure": measure, "replay": replay, "made-up": made_up}[options.what](options)


if __name__ == "__main__":
    main()
