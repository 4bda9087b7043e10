"""python -m benchmarks.quality.ablation: asynchronous CMA-ES without its cures for results that come late.

Rows are what is done about results of points from before the last steps (option `stale`); columns are how much
durations differ, on the virtual clock of clock.py with 100 workers, D = 10. Equal times are the oracle: no result comes
sooner than others. Figures are areas over all functions, and beside them the share of (problem, target) pairs reached.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable

from rich.console import Console
from rich.table import Table

from .measure import Mode, measure
from .problems import ids

DIMENSION, WORKERS = 10, 100
SIGMAS = {0.0: "equal times (oracle)", 0.5: "sigma 0.5", 1.0: "sigma 1"}
POPULATIONS = (WORKERS // 2, WORKERS // 4)
STALE = {"ignored": "ignored (off)", "weighted": "weighted", "corrected": "corrected (on)"}
PLAYERS = {
    (population, stale): f"cmaes:generational=false,population={population},stale={stale}"
    for population in POPULATIONS
    for stale in STALE
}
RUNS_A_PROBLEM = len(PLAYERS) * len(SIGMAS)


def ablation(
    functions: list[int],
    instances: Iterable[int],
    seed: int,
    jobs: int,
    console: Console,
    tick: Callable[[], None] = lambda: None,
) -> None:
    """tick: called after each run; problems times RUNS_A_PROBLEM of them."""
    problems = list(ids(functions, [DIMENSION], list(instances)))
    scores = {
        sigma: measure(tuple(PLAYERS.values()), problems, Mode(sigma=sigma, workers=WORKERS), seed, jobs, tick)
        for sigma in SIGMAS
    }
    table = Table("population", "stale", *SIGMAS.values(), title="Asynchronous cmaes without its cures")
    for (population, stale), player in PLAYERS.items():
        cells = [scores[sigma][player, DIMENSION].figures for sigma in SIGMAS]
        row = (f"{figures['all']:.3f} ({figures['targets']:.2f})" for figures in cells)
        table.add_row(str(population), STALE[stale], *row)
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.quality.ablation", description=__doc__)
    parser.add_argument("--functions", type=int, nargs="+", default=list(range(1, 25)))
    parser.add_argument("--instances", type=int, default=1, help="of each function")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    ablation(args.functions, range(1, args.instances + 1), args.seed, args.jobs, Console())


if __name__ == "__main__":
    main()
