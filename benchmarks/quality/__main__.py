"""Compares optimizers on COCO's 24 functions, and prints the area under the runtime curve for each group of functions.

By default, time is the number of evaluations, and each optimizer gets one result at a time. With --step N, time is the
number of steps: in each step the optimizer gets N results together. With --clock SIGMA, many workers run on a virtual
clock.
"""

from __future__ import annotations

import argparse

from .measure import Mode, Score, measure
from .problems import ids

SHARES = ("targets", "solved")
HELP = "an optimizer of culmen with its options (cmaes:population=20,sigma=0.3), or peer:NAME"


def numbers(text: str) -> list[int]:
    """1-3,7 gives 1, 2, 3 and 7."""
    out: list[int] = []
    for part in text.split(","):
        low, _, high = part.partition("-")
        out += range(int(low), int(high or low) + 1)
    return out


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.quality", description=__doc__)
    parser.add_argument("players", nargs="+", metavar="OPTIMIZER", help=HELP)
    parser.add_argument("-d", "--dimensions", type=numbers, help="default 5,20; with --clock 10, with --step 20")
    parser.add_argument(
        "-f", "--functions", type=numbers, default=list(range(1, 25)), help="for example 1-5,20; default: all"
    )
    parser.add_argument("-i", "--instances", type=numbers, default=[1, 2, 3], help="of each function; default 1-3")
    parser.add_argument(
        "-b",
        "--budget",
        type=int,
        help="evaluations per dimension (default 1000); with --step, steps (default 250); with --clock, mean durations "
        "(default 5000 evaluations per dimension, divided by the number of workers)",
    )
    parser.add_argument("-s", "--seed", type=int, default=1)
    parser.add_argument("-j", "--jobs", type=int, default=2, help="number of runs in parallel (default 2)")
    parser.add_argument(
        "-n", "--noise", type=float, default=0.0, help="relative standard deviation of a value; negative: absolute"
    )
    parser.add_argument(
        "--clock",
        type=float,
        metavar="SIGMA",
        help="standard deviation of the logarithm of the durations; 0: all equal",
    )
    parser.add_argument("--workers", type=int, default=100, help="with --clock: number of workers")
    parser.add_argument("--step", type=int, metavar="N", help="number of candidates in a step")
    parser.add_argument("--by-function", action="store_true", help="also print a line for each function")
    args = parser.parse_args()
    standard = [20] if args.step is not None else [5, 20] if args.clock is None else [10]
    args.dimensions = args.dimensions or standard
    return args


def main() -> None:
    args = arguments()
    mode = Mode(args.noise, args.clock, args.workers, args.step, args.budget)
    problems = list(ids(args.functions, args.dimensions, args.instances))
    scores = measure(args.players, problems, mode, args.seed, args.jobs)
    for d in args.dimensions:
        for player in args.players:
            score = scores[player, d]
            figures = score.figures
            busy = figures.pop("busy")
            cells = "  ".join(f"{name} {v:.2f}" if name in SHARES else f"{name} {v:.3f}" for name, v in figures.items())
            used = "" if args.clock is None else f"  busy {100 * busy:.0f} %"
            print(f"D={d:<3}{player:28} {cells}{used}", flush=True)
            if args.by_function:
                by_function(args.functions, score)


def by_function(functions: list[int], score: Score) -> None:
    areas = score.areas
    for f in functions:
        mine = [k for k in areas if k.function == f]
        mean = sum(areas[k] for k in mine) / len(mine)
        share = sum(len(score.times[k]) for k in mine) / len(mine)
        last = max((score.times[k][-1] for k in mine if score.times[k]), default=0)
        print(f"      f{f:<3} area {mean:.3f}  targets {share:4.1f} of 51  time of the last {last:.0f}")


if __name__ == "__main__":
    main()
