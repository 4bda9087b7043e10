"""python -m benchmarks.quality.bench: what culmen's optimizers are measured by, beside peers of the same run.

The figures are areas under the runtime curve (score.py) on COCO's 24 functions, instances 1 to 3, and the share of all
(problem, target) pairs that were reached. A goal is the best peer of its kind, measured once with its own defaults (see
README.md); what is printed as "peer" was run here.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.table import Table

from .ablation import ablation
from .measure import Mode, measure
from .problems import ids

COLUMNS = (
    "separable",
    "moderate",
    "ill-conditioned",
    "multimodal",
    "weak structure",
    "all",
    "targets",
    "busy",
)


@dataclass(frozen=True)
class Part:
    """One way of spending time, who is compared, and what is to be reached by dimension, player and column."""

    title: str
    mode: Mode
    dimensions: tuple[int, ...]
    players: tuple[str, ...]
    goals: dict[tuple[int, str], dict[str, float]]


_ASYNCHRONOUS = "cmaes:generational=false"
PARTS = {
    "serial": Part(
        "one evaluation at a time, 1000 D of them",
        Mode(),
        (5, 20),
        ("auto", "cmaes", "bfgs", "de", "swarm", "evolution", "random", "peer:pycma", "peer:slsqp"),
        {
            (5, "auto"): {"all": 0.250, "targets": 0.66, "multimodal": 0.150},
            (20, "auto"): {"all": 0.165, "targets": 0.53, "multimodal": 0.095},
            (5, "cmaes"): {"all": 0.182, "targets": 0.66},
            (20, "cmaes"): {"all": 0.099, "targets": 0.53},
            (5, "de"): {"all": 0.133},
            (20, "de"): {"all": 0.052},
            (5, "swarm"): {"all": 0.094},
            (20, "swarm"): {"all": 0.049},
            (5, "evolution"): {"all": 0.086},
            (20, "evolution"): {"all": 0.044},
        },
    ),
    "noise": Part(
        "values multiplied by 1 + 0.01 N(0, 1); the goal is the peer of this run",
        Mode(noise=0.01),
        (5, 20),
        ("auto", "cmaes", "peer:pycma"),
        {},
    ),
    "small": Part(
        "50 D evaluations",
        Mode(budget=50),
        (5,),
        ("auto", "bfgs", "cmaes", "random", "peer:slsqp"),
        {(5, "auto"): {"all": 0.105}},
    ),
    "steps": Part(
        "400 candidates at a time, 250 steps",
        Mode(step=400),
        (20,),
        ("auto:parallel=400", "cmaes:parallel=400", "peer:pycma"),
        {
            (20, player): {"all": 0.16, "weak structure": 0.111}
            for player in ("auto:parallel=400", "cmaes:parallel=400")
        },
    ),
    **{
        f"clock {sigma:g}": Part(
            f"100 workers, log-normal durations (sigma {sigma:g}), time in mean durations",
            Mode(sigma=sigma),
            (10,),
            ("auto:generational=false", _ASYNCHRONOUS, f"{_ASYNCHRONOUS},stale=ignored", "peer:pycma"),
            {(10, _ASYNCHRONOUS): {"all": goal, "busy": 0.98}},
        )
        for sigma, goal in ((0.0, 0.20), (0.5, 0.25), (1.0, 0.27))
    },
}


def cell(figure: float, goal: float | None) -> str:
    text = f"{figure:.3f}"
    if goal is None:
        return text
    return f"[{'green' if figure >= goal else 'red'}]{text}[/] ({goal:g})"


def run(part: Part, args: argparse.Namespace, console: Console) -> list[dict[str, object]]:
    problems = list(ids(list(range(1, 25)), list(part.dimensions), list(range(1, args.instances + 1))))
    scores = measure(part.players, problems, part.mode, args.seed, args.jobs)
    records: list[dict[str, object]] = []
    for d in part.dimensions:
        table = Table("", *COLUMNS, title=f"D = {d}: {part.title}")
        for player in part.players:
            figures = scores[player, d].figures
            goals = part.goals.get((d, player), {})
            table.add_row(player, *(cell(figures[name], goals.get(name)) for name in COLUMNS))
            records.append({"part": part.title, "dimension": d, "player": player, "figures": figures, "goals": goals})
        console.print(table)
    return records


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.quality.bench", description=__doc__)
    parser.add_argument("--only", action="append", choices=(*PARTS, "ablation"), help="a part of it")
    parser.add_argument("--instances", type=int, default=3, help="of each function")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write every figure here")
    args = parser.parse_args()
    console = Console()
    console.print("In brackets what is to be reached; green: it is.", highlight=False)
    begin, records = time.monotonic(), []
    for name in args.only or (*PARTS, "ablation"):
        if name in PARTS:
            records += run(PARTS[name], args, console)
        else:
            ablation(list(range(1, 25)), range(1, args.instances + 1), args.seed, args.jobs, console)
    libraries = {name: version(name) for name in ("coco-experiment", "cma", "scipy", "numpy")}
    machine = f"{platform.machine()}, Python {platform.python_version()}"
    console.print(f"{machine}; {libraries}; {time.monotonic() - begin:.0f} s", highlight=False)
    if args.json:
        args.json.write_text(json.dumps({"libraries": libraries, "rows": records}, indent=1) + "\n")


if __name__ == "__main__":
    main()
