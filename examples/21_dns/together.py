"""Puts the results of the four techniques together: python together.py

Writes two files for `culmen tune command`: together.toml compares the present settings with all that were found better.
scaling.toml runs the program with both on 1, 2 and 4 ranks.
"""

import json
from pathlib import Path
from typing import Any

TECHNIQUES = ("vectorisation", "placement", "hints", "buffering")
RANKS, REPEATS = (1, 2, 4), 5
SCALING = [(ranks, tuned) for _ in range(REPEATS) for ranks in RANKS for tuned in (False, True)]  # the runs, in order
Settings = dict[str, Any]


def result_of(study: str) -> dict[str, Any] | None:
    """What `culmen tune command` wrote; None: it has not run yet."""
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


def table_of(point: Settings) -> str:
    return "\n[[starts]]\n" + "".join(f"{name} = {json.dumps(value)}\n" for name, value in point.items())


def write(name: str, points: list[Settings]) -> None:
    """The study of all techniques, which evaluates these points alone."""
    begin = Path("all.toml").read_text()
    tables = "".join(map(table_of, points))
    Path(name).write_text(f"{begin}\n[stop]\nevaluations = {len(points)}\n{tables}")
    print(f"written: {name}")


def main() -> None:
    before, after = settings()
    write("together.toml", [before, after] * REPEATS)
    one_thread = {"threads": 1, "binding": "none"}
    write("scaling.toml", [{**(after if tuned else before), **one_thread, "ranks": ranks} for ranks, tuned in SCALING])


if __name__ == "__main__":
    main()
