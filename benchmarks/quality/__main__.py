"""python -m benchmarks.quality PLAYER …: the area of each on COCO's problems, by group.

With --clock SIGMA time is that of a virtual clock with many workers (see clock.py) instead of evaluations; with
--step N it is steps, in each of which N candidates are asked for, evaluated and told.
"""

from __future__ import annotations

import argparse

from .measure import Mode, Score, measure
from .problems import ids

SHARES = ("targets", "solved")


def numbers(text: str) -> list[int]:
    """1-3,7 is 1, 2, 3, 7."""
    out: list[int] = []
    for part in text.split(","):
        low, _, high = part.partition("-")
        out += range(int(low), int(high or low) + 1)
    return out


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
    parser.add_argument(
        "-n", "--noise", type=float, default=0.0, help="relative deviation of a value; below 0: absolute"
    )
    parser.add_argument("--clock", type=float, metavar="SIGMA", help="durations' logarithms deviate so much (0: equal)")
    parser.add_argument("--workers", type=int, default=100, help="with a clock: how many evaluations run at once")
    parser.add_argument("--step", type=int, metavar="N", help="candidates asked for at a time")
    parser.add_argument("--by-function", action="store_true")
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
        print(f"      f{f:<3} area {mean:.3f}  targets {share:4.1f} of 51  last {last:.0f}")


if __name__ == "__main__":
    main()
