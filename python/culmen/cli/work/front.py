"""The Pareto front at the end of a run, and in `culmen status`."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.table import Table

from ...base.text import shown
from ...store import table as evaluations
from ...store.front import Trade, best_in, trades
from ...store.opening import Opened

_ROWS = 12


def front_in(opened: Opened) -> dict[str, Any] | None:
    """For a store: see ``front_of``. None with one objective, and without a member."""
    if len(opened.objectives) < 2:
        return None
    found = trades(evaluations.Table(opened))
    return front_of(found, opened.objectives) if found else None


def front_of(front: Sequence[Trade], objectives: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """``size``; ``best``: the member that is the best in each objective; ``members``: at most 12 of them."""
    ordered = sorted(front, key=lambda trade: list(trade.values.values()))
    best = best_in(ordered, objectives)
    return {
        "size": len(ordered),
        "best": {name: asdict(trade) for name, trade in best.items()},
        "members": [asdict(trade) for trade in _some(ordered, list(best.values()))],
    }


def _some(ordered: list[Trade], best: list[Trade]) -> list[Trade]:
    """Members at equal distances along the first objective, and the best member in each objective."""
    if len(ordered) <= _ROWS:
        return ordered
    chosen = {trade.evaluation for trade in (ordered[0], ordered[-1], *best)}
    rows = max(2, _ROWS + 2 - len(chosen))
    chosen |= {ordered[k * (len(ordered) - 1) // (rows - 1)].evaluation for k in range(rows)}
    return [trade for trade in ordered if trade.evaluation in chosen]


def front_table(front: dict[str, Any], digits: int) -> Table:
    """For the result of ``front_of``. ``digits``: significant ones."""
    rows, size = front["members"], front["size"]
    parameters = list(dict.fromkeys(name for trade in rows for name in trade["params"]))
    of = f" ({len(rows)} of {size} shown)" if len(rows) < size else ""
    table = Table(*rows[0]["values"], *parameters, "best in", title=f"Pareto front: {size} candidates{of}")
    for trade in rows:
        values = [shown(value, digits) for value in trade["values"].values()]
        own = [shown(trade["params"][name], digits) if name in trade["params"] else "" for name in parameters]
        ends = [name for name, best in front["best"].items() if best["evaluation"] == trade["evaluation"]]
        table.add_row(*values, *own, ", ".join(ends))
    return table
