"""python -m benchmarks.quality PLAYER …: the area of each on COCO's problems, by group."""

from __future__ import annotations

import argparse
import warnings
from multiprocessing import Pool

from . import runs
from .problems import Id, ids
from .score import TARGETS, area, table


def numbers(text: str) -> list[int]:
    """1-3,7 is 1, 2, 3, 7."""
    out: list[int] = []
    for part in text.split(","):
        low, _, high = part.partition("-")
        out += range(int(low), int(high or low) + 1)
    return out


def one(task: tuple[str, Id, int, int, float]) -> tuple[str, Id, list[float]]:
    warnings.simplefilter("ignore")
    player, which, seed, per_dimension, noise = task
    return player, which, runs.serial(player, which, seed, per_dimension * which.dimension, noise)


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.quality", description=__doc__)
    parser.add_argument("players", nargs="+", help="culmen's name:option=value,…, or peer:name")
    parser.add_argument("-d", "--dimensions", type=numbers, default=[5, 20])
    parser.add_argument("-f", "--functions", type=numbers, default=list(range(1, 25)))
    parser.add_argument("-i", "--instances", type=numbers, default=[1, 2, 3])
    parser.add_argument("-b", "--budget", type=int, default=1000, help="evaluations per dimension")
    parser.add_argument("-s", "--seed", type=int, default=1)
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("-n", "--noise", type=float, default=0.0, help="relative deviation of a value")
    parser.add_argument("--by-function", action="store_true")
    args = parser.parse_args()
    tasks = [
        (player, which, args.seed, args.budget, args.noise)
        for which in ids(args.functions, args.dimensions, args.instances)
        for player in args.players
    ]
    times: dict[str, dict[Id, list[float]]] = {player: {} for player in args.players}
    with Pool(args.jobs) as pool:
        for player, which, reached in pool.imap_unordered(one, tasks):
            times[player][which] = reached
    for d in args.dimensions:
        for player in args.players:
            chosen = {k: v for k, v in times[player].items() if k.dimension == d}
            areas = {k: area(v, args.budget * d) for k, v in chosen.items()}
            solved = sum(len(v) == len(TARGETS) for v in chosen.values()) / len(chosen)
            cells = "  ".join(f"{name} {v:.3f}" for name, v in table(areas).items())
            share = sum(map(len, chosen.values())) / len(TARGETS) / len(chosen)
            print(f"D={d:<3}{player:28} {cells}  targets {share:.2f}  solved {solved:.2f}", flush=True)
            if args.by_function:
                for f in args.functions:
                    mine = [k for k in chosen if k.function == f]
                    mean = sum(areas[k] for k in mine) / len(mine)
                    share = sum(len(chosen[k]) for k in mine) / len(mine)
                    print(
                        f"      f{f:<3} area {mean:.3f}  targets {share:4.1f} of 51  "
                        f"last {max((chosen[k][-1] for k in mine if chosen[k]), default=0):.0f}"
                    )


if __name__ == "__main__":
    main()
