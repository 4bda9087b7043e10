#!/usr/bin/env python3
"""Measures the evaluations per second of a vectorised Python function: batch_rate.py WORKERS EVALUATIONS BATCH.

The function has ten parameters. If BATCH is 0, each call gets one candidate. Prints a JSON line.
"""

import json
import sys

import numpy as np

import culmen


def one(p: dict[str, float]) -> float:
    return float(np.square(np.array(list(p.values()))).sum())


def many(p: dict[str, np.ndarray]) -> np.ndarray:
    return np.square(np.stack(list(p.values()))).sum(axis=0)


workers, evaluations, batch = (int(word) for word in sys.argv[1:])
space = {f"x{i}": (-1.0, 1.0) for i in range(10)}
result = culmen.minimize(
    many if batch else one, space, budget=evaluations, batch=batch or None, workers=workers, optimizer="random"
)
assert result.failed == 0
assert abs(sum(x * x for x in result.best.values()) - result.value) < 1e-12
print(json.dumps({"rate": evaluations / result.wall_s}))
