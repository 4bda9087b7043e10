"""Compares the treatments of late results in asynchronous CMA-ES (option `stale`), on a virtual clock with 100 workers.

A result is late if its candidate was drawn before the last steps of the optimizer. Each column has another standard
deviation σ of the logarithm of the durations. Each cell has the area over all functions in 10 dimensions, and the share
of targets in brackets.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable

from rich.console import Console
from rich.table import Table

from .measure import Mode, measure
from .problems import ids

DIMENSION, WORKERS = 10, 100
SIGMAS = {0.0: "σ = 0", 0.5: "σ = 0.5", 1.0: "σ = 1"}
POPULATIONS = (WORKERS // 2, WORKERS // 4)
STALE = ("ignored", "weighted", "corrected")
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
    """tick: called after each run. There are RUNS_A_PROBLEM runs for each problem."""
    problems = list(ids(functions, [DIMENSION], list(instances)))
    scores = {
        sigma: measure(tuple(PLAYERS.values()), problems, Mode(sigma=sigma, workers=WORKERS), seed, jobs, tick)
        for sigma in SIGMAS
    }
    table = Table(
        "population", "stale", *SIGMAS.values(), title="Late results in asynchronous cmaes: area (share of targets)"
    )
    for (population, stale), player in PLAYERS.items():
        cells = [scores[sigma][player, DIMENSION].figures for sigma in SIGMAS]
        row = (f"{figures['all']:.3f} ({figures['targets']:.2f})" for figures in cells)
        table.add_row(str(population), stale, *row)
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.quality.ablation", description=__doc__)
    parser.add_argument("--functions", type=int, nargs="+", default=list(range(1, 25)), help="default: all")
    parser.add_argument("--instances", type=int, default=1, help="number of instances of each function (default 1)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2, help="number of runs in parallel (default 2)")
    args = parser.parse_args()
    ablation(args.functions, range(1, args.instances + 1), args.seed, args.jobs, Console())


if __name__ == "__main__":
    main()
