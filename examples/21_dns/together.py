"""Puts the results of the four techniques together: python together.py

Writes two files for `culmen tune command`: together.toml compares the present settings with all that were found better.
scaling.toml runs the program with both on 1, 2 and 4 ranks. Only its runs count, for plots.py, and not its verdict.
"""

import json
from pathlib import Path
from typing import Any

TECHNIQUES = ("vectorisation", "placement", "hints", "buffering")
RANKS, REPEATS = (1, 2, 4), 5
SCALING = [(ranks, tuned) for _ in range(REPEATS) for ranks in RANKS for tuned in (False, True)]  # the runs, in order
Settings = dict[str, Any]


def result_of(study: str) -> dict[str, Any] | None:
    """The result that `culmen tune command` wrote; None if it has not run yet."""
    path = Path(f"tune-{study}") / "result.json"
    return json.loads(path.read_text()) if path.exists() else None


def settings() -> tuple[Settings, Settings]:
    """The present ones, and those with all that is better."""
    before: Settings = {}
    after: Settings = {}
    for technique in TECHNIQUES:
        result = result_of(technique)
        if result is None:
            raise SystemExit(f"first run: culmen tune command {technique}.toml")
        before |= result["present"]
        after |= result[result["use"]]
    return before, after


def table_of(number: int, point: Settings) -> str:
    lines = (f"{name} = {json.dumps(value)}\n" for name, value in point.items())
    return f"\n[[starts]]\nrun = {number}\n{''.join(lines)}"


def write(name: str, points: list[Settings], rounds: int) -> None:
    """The study of all techniques, which evaluates these points alone.

    A parameter without effect makes runs of the same settings differ: culmen evaluates equal starts only once.
    """
    text = Path("all.toml").read_text().replace("rounds = 20", f"rounds = {rounds}")
    text = text.replace("[evaluator.environment]\n", '[evaluator.environment]\nRUN = "{run}"\n')
    text += f'\n[space.run]\ntype = "integer"\nlower = 0\nupper = {len(points)}\n'
    text += f"\n[stop]\nevaluations = {len(points)}\n" + "".join(map(table_of, range(len(points)), points))
    Path(name).write_text(text)
    print(f"written: {name}")


def main() -> None:
    before, after = settings()
    if before == after:
        raise SystemExit("no technique found better settings; keep the present ones")
    write("together.toml", [before] + [after] * REPEATS, 20)
    one_thread = {"threads": 1, "binding": "none"}
    points = [{**(after if tuned else before), **one_thread, "ranks": ranks} for ranks, tuned in SCALING]
    write("scaling.toml", points, 3)


if __name__ == "__main__":
    main()
