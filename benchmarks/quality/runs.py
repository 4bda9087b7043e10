"""Runs one optimizer on one problem: one evaluation at a time, or in steps."""

from __future__ import annotations

import contextlib
import math
from typing import Any

from .bbob_peers import find
from .players import STREAMS, BudgetSpent, Culmen, Player
from .problems import Id, Problem
from .score import Curve


def serial(player: str, which: Id, seed: int, budget: int, noise: float = 0.0) -> list[float]:
    """The number of evaluations after which each target was reached."""
    problem, curve = Problem(which, noise, seed), Curve()
    if player.startswith("peer:"):
        _call(player[5:], problem, curve, budget, seed)
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


def _call(name: str, problem: Problem, curve: Curve, budget: int, seed: int, width: int = 1) -> None:
    """width: the number of evaluations in a step."""
    used = 0

    def f(x: Any) -> float:
        nonlocal used
        if used >= budget or curve.solved:
            raise BudgetSpent
        used += 1
        value = problem(x)
        curve.add(math.ceil(used / width), problem.true_gap)
        return value

    with contextlib.suppress(BudgetSpent):
        find(name).play(f, problem.dimension, budget, seed)


def stepped(player: str, which: Id, seed: int, steps: int, width: int, noise: float = 0.0) -> list[float]:
    """The number of steps after which each target was reached. A step has `width` candidates, or fewer if the optimizer
    gives fewer.

    A peer that calls a function must have a population of `width`.
    """
    problem, curve = Problem(which, noise, seed), Curve()
    if player.startswith("peer:") and player[5:] not in STREAMS:
        _call(player[5:], problem, curve, steps * width, seed, width)
        return curve.times
    asked_by = _player(player, problem, seed, steps, width)
    for t in range(1, steps + 1):
        asked = asked_by.ask(width)
        for evaluation, x in asked:
            value = problem(x)
            curve.add(t, problem.true_gap)
            asked_by.tell(evaluation, value, 1.0)
        if curve.solved or not asked:
            break
    return curve.times


def _player(player: str, problem: Problem, seed: int, steps: int, width: int) -> Player:
    if player.startswith("peer:"):
        return STREAMS[player[5:]](problem, seed, width)
    return Culmen(player, problem, seed, steps * width)
