"""Compares culmen's optimizers with peers on COCO's 24 functions.

Prints the area under the runtime curve and the share of targets; larger is better. Some parts also run pycma, SLSQP and
random search. The runs of other peers are stored in peers/bbob.json. A second table shows which goals are reached.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from .ablation import RUNS_A_PROBLEM, ablation
from .bars import Scores, judged, oracle, whole
from .measure import measure
from .parts import COLUMNS, PARTS, Part
from .peer_runs import PeerRuns, missing
from .problems import Id, ids

LIBRARIES = ("coco-experiment", "cma", "scipy", "numpy")


def run(part: Part, args: argparse.Namespace, progress: Progress) -> list[dict[str, Any]]:
    problems = problems_of(part, args)
    bar = progress.add_task(part.title, total=len(problems) * len(part.players))
    tick = ticking(progress, bar)
    scores = measure(part.players, problems, part.mode, args.seed, args.jobs, tick)
    scores |= PeerRuns().scores(part.stored, problems, part.mode)
    progress.remove_task(bar)
    for d in part.dimensions:
        progress.console.print(areas(part, scores, d))
    if part.bars:
        progress.console.print(judged(part.bars, scores))
    return [
        {"part": part.title, "dimension": d, "player": player, "runs": len(score.times), "figures": score.figures}
        for (player, d), score in scores.items()
    ]


def problems_of(part: Part, args: argparse.Namespace) -> list[Id]:
    return list(ids(list(range(1, 25)), list(part.dimensions), list(range(1, args.instances + 1))))


def ticking(progress: Progress, bar: Any) -> Callable[[], None]:
    return lambda: progress.advance(bar)


def areas(part: Part, scores: Scores, dimension: int) -> Table:
    """culmen's optimizers, the peers with the best first, the best peer for each column, and the oracle."""
    columns = COLUMNS if part.mode.sigma is not None else COLUMNS[:-1]
    table = Table("", *columns, title=f"D = {dimension}: {part.title}")
    mine = {player: score for (player, d), score in scores.items() if d == dimension}
    most = max(len(score.times) for score in mine.values())
    rows = {player: score.figures for player, score in mine.items()}
    ours = [p for p in part.players if not p.startswith("peer:")]
    theirs = sorted((p for p in rows if p.startswith("peer:")), key=lambda p: -rows[p]["all"])
    for player in (*ours, *theirs):  # some peers have fewer runs in the file
        runs = len(mine[player].times)
        name = player if runs == most else f"{player} ({runs} of {most} problems)"
        table.add_row(name, *cells(rows[player], columns), end_section=player == ours[-1])
    peers = whole(scores, dimension)
    if len(peers) > 1:
        best = {column: max(rows[p].get(column, 0.0) for p in peers) for column in columns}
        table.add_row("best peer for each column", *cells(best, columns))
        table.add_row(f"oracle: best of {len(peers)} peers for each function", *cells(oracle(peers), columns))
    return table


def cells(figures: Mapping[str, float], columns: Sequence[str]) -> Iterator[str]:
    return (f"{figures[column]:.3f}" if column in figures else "" for column in columns)


def remake(part: Part, args: argparse.Namespace, progress: Progress) -> None:
    if sentence := missing(part.stored, part.mode):
        raise SystemExit(sentence)
    problems = problems_of(part, args)
    tasks = [(player, which, part.mode, 1) for player in part.stored for which in problems]
    bar = progress.add_task(part.title, total=len(tasks))
    PeerRuns().remake(tasks, args.jobs, args.remake_peers == "all", ticking(progress, bar))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.quality.bench", description=__doc__)
    parser.add_argument("--only", action="append", choices=(*PARTS, "ablation"), help="only this part")
    parser.add_argument("--instances", type=int, default=3, help="number of instances of each function (default 3)")
    parser.add_argument(
        "--seed", type=int, default=1, help="seed of the runs that are made now; stored runs have seed 1"
    )
    parser.add_argument("--jobs", type=int, default=2, help="number of runs in parallel (default 2)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all figures to this file")
    parser.add_argument(
        "--remake-peers",
        nargs="?",
        const="all",
        choices=("all", "missing"),
        help="only repeat the stored runs of peers (two hours on one core), or make the missing ones",
    )
    return parser.parse_args()


def main() -> None:
    args = arguments()
    console = Console()
    if not console.is_terminal:
        console = Console(width=160)
    begin, records = time.monotonic(), []
    with Progress(console=console, transient=True) as progress:
        for name in args.only or (*PARTS, "ablation"):
            if args.remake_peers and name in PARTS:
                remake(PARTS[name], args, progress)
            elif name in PARTS:
                records += run(PARTS[name], args, progress)
            elif not args.remake_peers:
                bar = progress.add_task("late results in cmaes", total=24 * RUNS_A_PROBLEM)
                ablation(list(range(1, 25)), [1], args.seed, args.jobs, console, ticking(progress, bar))
                progress.remove_task(bar)
            console.print(f"{name}: ended after {time.monotonic() - begin:.0f} s", highlight=False)
    libraries = {name: version(name) for name in LIBRARIES}
    machine = f"{platform.machine()}, Python {platform.python_version()}"
    console.print(f"{machine}; {libraries}; {time.monotonic() - begin:.0f} s", highlight=False)
    if args.json:
        args.json.write_text(json.dumps({"libraries": libraries, "rows": records}, indent=1) + "\n")


if __name__ == "__main__":
    main()
