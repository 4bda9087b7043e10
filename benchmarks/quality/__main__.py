"""python -m benchmarks.quality PLAYER …: the area of each on COCO's problems, by group.

With --clock SIGMA time is that of a virtual clock with many workers (see clock.py) instead of evaluations; with
--step N it is steps, in each of which N candidates are asked for, evaluated and told.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import dataclass
from multiprocessing import Pool

from . import clock, runs
from .problems import Id, ids
from .score import TARGETS, area, table


def numbers(text: str) -> list[int]:
    """1-3,7 is 1, 2, 3, 7."""
    out: list[int] = []
    for part in text.split(","):
        low, _, high = part.partition("-")
        out += range(int(low), int(high or low) + 1)
    return out


@dataclass(frozen=True)
class Task:
    """One player on one problem; horizon: evaluations, with a clock mean durations, or steps."""

    player: str
    which: Id
    seed: int
    horizon: int
    noise: float
    workers: int
    sigma: float | None
    step: int | None


def one(task: Task) -> tuple[Task, list[float], float]:
    """When the targets were reached, and the share of the workers' time that was used."""
    warnings.simplefilter("ignore")
    if task.step is not None:
        return task, runs.stepped(task.player, task.which, task.seed, task.horizon, task.step, task.noise), 1.0
    if task.sigma is None:
        return task, runs.serial(task.player, task.which, task.seed, task.horizon, task.noise), 1.0
    reached, busy = clock.parallel(
        task.player, task.which, task.seed, task.horizon, task.workers, task.sigma, task.noise
    )
    return task, reached, busy


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.quality", description=__doc__)
    parser.add_argument("players", nargs="+", help="culmen's name:option=value,…, or peer:name")
    parser.add_argument("-d", "--dimensions", type=numbers, help="5,20; with a clock 10, in steps 20")
    parser.add_argument("-f", "--functions", type=numbers, default=list(range(1, 25)))
    parser.add_argument("-i", "--instances", type=numbers, default=[1, 2, 3])
    parser.add_argument(
        "-b",
        "--budget",
        type=int,
        help="evaluations per dimension, 1000; with a clock mean durations, 5000 per dimension and worker; steps, 250",
    )
    parser.add_argument("-s", "--seed", type=int, default=1)
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("-n", "--noise", type=float, default=0.0, help="relative deviation of a value")
    parser.add_argument("--clock", type=float, metavar="SIGMA", help="durations' logarithms deviate so much (0: equal)")
    parser.add_argument("--workers", type=int, default=100, help="with a clock: how many evaluations run at once")
    parser.add_argument("--step", type=int, metavar="N", help="candidates asked for at a time")
    parser.add_argument("--by-function", action="store_true")
    args = parser.parse_args()
    standard = [20] if args.step is not None else [5, 20] if args.clock is None else [10]
    args.dimensions = args.dimensions or standard
    return args


def horizon(args: argparse.Namespace, dimension: int) -> int:
    if args.step is not None:
        return args.budget or 250
    if args.clock is None:
        return (args.budget or 1000) * dimension
    return args.budget or max(1, 5000 * dimension // args.workers)


def main() -> None:
    args = arguments()
    tasks = [
        Task(player, which, args.seed, horizon(args, which.dimension), args.noise, args.workers, args.clock, args.step)
        for which in ids(args.functions, args.dimensions, args.instances)
        for player in args.players
    ]
    times: dict[str, dict[Id, list[float]]] = {player: {} for player in args.players}
    busy: dict[tuple[str, int], list[float]] = {}
    with Pool(args.jobs) as pool:
        for task, reached, share in pool.imap_unordered(one, tasks):
            times[task.player][task.which] = reached
            busy.setdefault((task.player, task.which.dimension), []).append(share)
    for d in args.dimensions:
        for player in args.players:
            chosen = {k: v for k, v in times[player].items() if k.dimension == d}
            areas = {k: area(v, horizon(args, d)) for k, v in chosen.items()}
            solved = sum(len(v) == len(TARGETS) for v in chosen.values()) / len(chosen)
            cells = "  ".join(f"{name} {v:.3f}" for name, v in table(areas).items())
            share = sum(map(len, chosen.values())) / len(TARGETS) / len(chosen)
            shares = busy[player, d]
            used = "" if args.clock is None else f"  busy {100 * sum(shares) / len(shares):.0f} %"
            print(f"D={d:<3}{player:28} {cells}  targets {share:.2f}  solved {solved:.2f}{used}", flush=True)
            if args.by_function:
                by_function(args.functions, chosen, areas)


def by_function(functions: list[int], times: dict[Id, list[float]], areas: dict[Id, float]) -> None:
    for f in functions:
        mine = [k for k in times if k.function == f]
        mean = sum(areas[k] for k in mine) / len(mine)
        share = sum(len(times[k]) for k in mine) / len(mine)
        last = max((times[k][-1] for k in mine if times[k]), default=0)
        print(f"      f{f:<3} area {mean:.3f}  targets {share:4.1f} of 51  last {last:.0f}")


if __name__ == "__main__":
    main()
