"""Runs one optimizer on one problem with many workers, on a virtual clock.

The durations of evaluations are random and independent of the points: log-normal with mean 1. sigma is the standard
deviation of their logarithm; with 0, all durations are 1. A free worker asks at once. Results are told in the order in
which evaluations end. Ask and tell take no time.
"""

from __future__ import annotations

import heapq
import math
from typing import Any

import numpy as np

from .players import STREAMS, Culmen, Player
from .problems import Id, Problem
from .score import Curve


def parallel(
    player: str, which: Id, seed: int, horizon: float, workers: int, sigma: float, noise: float = 0.0
) -> tuple[list[float], float]:
    """When each target was reached, in mean durations, and the share of the time in which workers were busy.

    It ends at the horizon, or when the last target is reached.
    """
    problem, curve = Problem(which, noise, seed), Curve()
    evaluations = math.ceil(horizon * workers)
    if player.startswith("peer:"):
        chosen: Player = STREAMS[player[5:]](problem, seed, workers)
    else:
        chosen = Culmen(player, problem, seed, evaluations)
        chosen.resize(workers)
    durations = np.random.default_rng([seed, which.function, which.dimension, which.instance, 7])
    running: list[tuple[float, int, float, Any, float, float]] = []  # end, order, duration, id, value, gap
    now, worked, order = 0.0, 0.0, 0
    while True:
        while len(running) < workers and (asked := chosen.ask(1)):
            evaluation, x = asked[0]
            value = problem(x)
            duration = math.exp(sigma * durations.standard_normal() - sigma * sigma / 2)
            heapq.heappush(running, (now + duration, order, duration, evaluation, value, problem.true_gap))
            worked += min(duration, horizon - now)
            order += 1
        if not running or running[0][0] > horizon:
            return curve.times, worked / (workers * horizon)
        now, _, duration, evaluation, value, gap = heapq.heappop(running)
        curve.add(now, gap)
        if curve.solved:
            worked -= sum(min(r[0], horizon) - now for r in running)
            return curve.times, worked / (workers * now)
        chosen.tell(evaluation, value, duration)
