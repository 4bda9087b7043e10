"""The output of ``culmen status`` for a benchmark: its measured points, instead of a search."""

import time
from typing import Any

from ...base.text import lasted
from ...store.opening import Opened

_OWN = ("culmen.bench.", "culmen.tune.")  # modules whose functions measure points


def is_benchmark(configuration: dict[str, Any]) -> bool:
    """Whether the study of this configuration measures a list of points, and does not search."""
    evaluator = str((configuration.get("evaluator") or {}).get("python", ""))
    starts, limit = configuration.get("starts") or [], (configuration.get("stop") or {}).get("evaluations")
    return evaluator.startswith(_OWN) and len(starts) == limit


def points_of(opened: Opened) -> dict[str, Any] | None:
    """None for a study that searches. ``now``: the current point. ``left_s``: the time until the end, if further points
    take as long as the former ones on average. None: not known."""
    configuration, summary = opened.begun.configuration, opened.summary
    if not is_benchmark(configuration):
        return None
    starts = configuration["starts"]
    told = int(summary["told"])
    running = summary["owned"] and told < len(starts)
    took = [outcome["duration_s"] for outcome in opened.store.outcomes(0, told)] if told else []
    return {
        "points": len(starts),
        "measured": told - int(summary["failed"]),
        "now": _named(starts, told) if running else None,
        "left_s": round(sum(took) / told * (len(starts) - told), 1) if told else None,
    }


def _named(starts: list[dict[str, Any]], number: int) -> str:
    """The values by which the points differ: "collective reduce, ranks 2"."""
    different = [name for name in starts[0] if name != "number" and len({str(start[name]) for start in starts}) > 1]
    return ", ".join(f"{name} {starts[number][name]}" for name in different) or f"point {number + 1}"


def figures_of(state: dict[str, Any]) -> dict[str, Any]:
    """The figures of ``state_of``, which must have the key ``points``."""
    points = state["points"]
    left = "not known before the first point is measured"
    if points["left_s"] is not None:
        left = f"about {lasted(points['left_s'])}"
    return {
        "benchmark": f"culmen {state['name']}",
        "state": "finished" if state["finished"] == "evaluations" and not state["owned"] else state["state"],
        "measured": f"{points['measured']} of {points['points']} points",
        "failed": state["failed"] or None,
        "now": points["now"],
        "time left": left if state["told"] < points["points"] else None,
        "created": time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(state["created_s"])),
        "store": state["store"],
    }


def how_to_continue(state: dict[str, Any]) -> str:
    return f"To continue: repeat the command culmen {state['name']} with the same options"
