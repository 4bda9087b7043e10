"""One player on one problem, one evaluation at a time."""

from __future__ import annotations

import contextlib
from typing import Any

from .players import PEERS, BudgetSpent, Culmen
from .problems import Id, Problem
from .score import Curve


def serial(player: str, which: Id, seed: int, budget: int, noise: float = 0.0) -> list[float]:
    """The evaluations after which each target was reached."""
    problem, curve = Problem(which, noise, seed), Curve()
    if player.startswith("peer:"):
        _call(PEERS[player[5:]], problem, curve, budget, seed)
    else:
        _ask(Culmen(player, problem, seed, budget), problem, curve, budget)
    return curve.times


def _ask(player: Culmen, problem: Problem, curve: Curve, budget: int) -> None:
    for t in range(1, budget + 1):
        asked = player.ask(1)
        if not asked:
            return
        (evaluation, x) = asked[0]
        value = problem(x)
        curve.add(t, problem.true_gap)
        if curve.solved:
            return
        player.tell(evaluation, value, 1.0)


def _call(peer: Any, problem: Problem, curve: Curve, budget: int, seed: int) -> None:
    used = 0

    def f(x: Any) -> float:
        nonlocal used
        if used >= budget or curve.solved:
            raise BudgetSpent
        used += 1
        value = problem(x)
        curve.add(used, problem.true_gap)
        return value

    with contextlib.suppress(BudgetSpent):
        peer(f, problem.dimension, budget, seed)
