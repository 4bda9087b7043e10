"""Compares optimizers on integers, choices and conditions, with 1000 evaluations.

Prints for each suite the area under the runtime curve, the share of targets, and the mean of the decimal logarithm of
the final gap (the difference to the optimum, at least 1e-8). The suites are mixint-5 and mixint-20 (ten functions of
COCO's bbob-mixint) and conditional (eight functions with conditions). The runs of peers are stored in peers/mixed.json,
for the first instance only.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import defaultdict
from multiprocessing import Pool
from pathlib import Path
from statistics import fmean

from rich.console import Console
from rich.progress import track
from rich.table import Table

from .__main__ import numbers
from .mixed_players import PEERS, Reached, play
from .mixed_problems import MixedId, mixed_ids
from .score import TARGETS, area
from .stored import Stored

SUITES = ("mixint-5", "mixint-20", "conditional")
COCO_VARIABLES = ("5", "10", "20", "40", "80", "160")
HELP = "an optimizer of culmen with its options (bayes:model=forest), or peer:NAME"
PLAYERS = ("auto", "cmaes", "evolution", "de", "annealing", "random", *(f"peer:{name}" for name in PEERS))

Task = tuple[str, MixedId, int, int]


def key(task: Task) -> str:
    _, which, seed, budget = task
    return f"{which}, seed {seed}, {budget} evaluations"


def _one(task: Task) -> tuple[Task, Reached]:
    player, which, seed, budget = task
    return task, play(player, which, seed, budget)


def run(tasks: list[Task], jobs: int, remake: bool) -> dict[Task, Reached]:
    """Reads the runs of peers from the file, or with `remake` repeats them. Runs culmen's optimizers."""
    store = Stored("mixed", "python -m benchmarks.quality.mixed --remake-peers")
    reached: dict[Task, Reached] = {}
    due = []
    for task in tasks:
        known = store.get(task[0], key(task)) if task[0].startswith("peer:") and not remake else None
        if known is not None:
            reached[task] = known
        elif remake or not task[0].startswith("peer:"):
            due.append(task)
    with Pool(jobs) as pool:
        for task, result in track(pool.imap_unordered(_one, due), "mixed spaces", len(due), transient=True):
            reached[task] = result
            if task[0].startswith("peer:"):
                store.put(task[0], key(task), result, PEERS[task[0][5:]][1])
    return reached


def figures(runs: list[Reached], budget: int) -> dict[str, float]:
    return {
        "area": fmean(area(r["times"], budget) for r in runs),
        "targets": fmean(len(r["times"]) / len(TARGETS) for r in runs),
        "final": fmean(math.log10(max(r["final"], 1e-8)) for r in runs),
    }


def suite(name: str) -> str:
    kind, _, variables = name.partition("-")
    if name not in SUITES and (kind != "mixint" or variables not in COCO_VARIABLES):
        known = f"conditional, or mixint- with {', '.join(COCO_VARIABLES)}"
        raise argparse.ArgumentTypeError(
            f"there is no suite '{name}'; the suites are {known}; give --suite once for each"
        )
    return name


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.quality.mixed", description=__doc__)
    parser.add_argument("players", nargs="*", metavar="OPTIMIZER", default=list(PLAYERS), help=HELP)
    parser.add_argument(
        "--suite",
        action="append",
        type=suite,
        metavar="SUITE",
        help=f"only this suite: {', '.join(SUITES)}, mixint-10, …",
    )
    parser.add_argument(
        "-f",
        "--functions",
        type=lambda s: s.split(","),
        default=[],
        help="only these functions of the suites, for example 1,15,solver",
    )
    parser.add_argument("-i", "--instances", type=numbers, default=[1], help="of each function (default 1)")
    parser.add_argument("-s", "--seeds", type=numbers, default=[1], help="default 1")
    parser.add_argument("-b", "--budget", type=int, default=1000, help="evaluations (default 1000)")
    parser.add_argument("-j", "--jobs", type=int, default=2, help="number of runs in parallel (default 2)")
    parser.add_argument("--remake-peers", action="store_true", help="only repeat the stored runs of peers")
    parser.add_argument("--by-function", action="store_true", help="also print a row for each function")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all figures to this file")
    args = parser.parse_args()
    problems = mixed_ids(args.suite or list(SUITES), args.functions, args.instances)
    players = [p for p in args.players if p.startswith("peer:")] if args.remake_peers else args.players
    tasks = [(p, which, seed, args.budget) for which in problems for seed in args.seeds for p in players]
    tasks = [t for t in tasks if t[0] != "cmaes" or t[1].suite != "conditional"]  # it needs parameters with an order
    reached = run(tasks, args.jobs, args.remake_peers)
    report(reached, args)


def report(reached: dict[Task, Reached], args: argparse.Namespace) -> None:
    """The last column has the area of the first optimizer in the same runs: green if it is the larger one."""
    cells: dict[tuple[str, str], dict[str, Reached]] = defaultdict(dict)
    for task, result in reached.items():
        player, which, _, _ = task
        cells[which.suite, player][key(task)] = result
        if args.by_function:
            cells[f"{which.suite} {which.function}", player][key(task)] = result
    first = args.players[0]
    rows = {k: figures(list(runs.values()), args.budget) for k, runs in cells.items()}
    table = Table("suite", "optimizer", "runs", "area", "targets", "log10 of the final gap", f"{first} in these")
    for (suite, player), figure in sorted(rows.items(), key=lambda row: (row[0][0], -row[1]["area"])):
        theirs = cells[suite, player]
        shared = [run for k, run in cells.get((suite, first), {}).items() if k in theirs]
        beside = ""
        if player != first and len(shared) == len(theirs):
            area_there = figures(shared, args.budget)["area"]
            beside = f"[{'green' if area_there >= figure['area'] else 'red'}]{area_there:.3f}[/]"
        shown = (f"{figure['area']:.3f}", f"{figure['targets']:.2f}", f"{figure['final']:.2f}", beside)
        table.add_row(suite, player, str(len(theirs)), *shown)
    Console(width=120).print(table)
    if args.json:
        records = [{"suite": s, "player": p, **figure} for (s, p), figure in rows.items()]
        args.json.write_text(json.dumps(records, indent=1) + "\n")


if __name__ == "__main__":
    main()
