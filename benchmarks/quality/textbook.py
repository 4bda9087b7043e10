"""Constrained problems of textbooks, with their best known values: seven of G1 to G10 of the CEC collections.

Michalewicz and Schoenauer, Evol. Comput. 4 (1996) 1; values of Liang and others, CEC 2006. Constraints are at most 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Textbook:
    lower: Any
    upper: Any
    optimum: float
    value: Callable[[Any], float]
    constraints: Callable[[Any], Any]


def _g1(x: Any) -> Any:
    a = [2 * x[i] + 2 * x[j] + x[9 + i] + x[9 + j] - 10 for i, j in ((0, 1), (0, 2), (1, 2))]
    b = [-8 * x[i] + x[9 + i] for i in range(3)]
    return [*a, *b, *(-2 * x[3 + 2 * i] - x[4 + 2 * i] + x[9 + i] for i in range(3))]


def _g4(x: Any) -> Any:
    a, b, c, d, e = x
    u = 85.334407 + 0.0056858 * b * e + 0.0006262 * a * d - 0.0022053 * c * e
    v = 80.51249 + 0.0071317 * b * e + 0.0029955 * a * b + 0.0021813 * c * c
    w = 9.300961 + 0.0047026 * c * e + 0.0012547 * a * c + 0.0019085 * c * d
    return [u - 92, -u, v - 110, 90 - v, w - 25, 20 - w]


def _g7(x: Any) -> float:
    a, b, c, d, e, f, g, h, i, j = x
    near = (c - 10) ** 2 + 4 * (d - 5) ** 2 + (e - 3) ** 2 + 2 * (f - 1) ** 2 + 5 * g * g
    far = 7 * (h - 11) ** 2 + 2 * (i - 10) ** 2 + (j - 7) ** 2 + 45
    return float(a * a + b * b + a * b - 14 * a - 16 * b + near + far)


def _g7_constraints(x: Any) -> Any:
    a, b, c, d, e, f, g, h, i, j = x
    return [
        4 * a + 5 * b - 3 * g + 9 * h - 105,
        10 * a - 8 * b - 17 * g + 2 * h,
        -8 * a + 2 * b + 5 * i - 2 * j - 12,
        3 * (a - 2) ** 2 + 4 * (b - 3) ** 2 + 2 * c * c - 7 * d - 120,
        5 * a * a + 8 * b + (c - 6) ** 2 - 2 * d - 40,
        a * a + 2 * (b - 2) ** 2 - 2 * a * b + 14 * e - 6 * f,
        0.5 * (a - 8) ** 2 + 2 * (b - 4) ** 2 + 3 * e * e - f - 30,
        -3 * a + 6 * b + 12 * (i - 8) ** 2 - 7 * j,
    ]


def _g8(x: Any) -> float:
    a, b = x[0], x[1]
    return float(-(np.sin(2 * np.pi * a) ** 3) * np.sin(2 * np.pi * b) / max(a**3 * (a + b), 1e-9))


def _g9(x: Any) -> float:
    a, b, c, d, e, f, g = x
    last = 10 * e**6 + 7 * f * f + g**4 - 4 * f * g - 10 * f - 8 * g
    return float((a - 10) ** 2 + 5 * (b - 12) ** 2 + c**4 + 3 * (d - 11) ** 2 + last)


def _g9_constraints(x: Any) -> Any:
    a, b, c, d, e, f, g = x
    return [
        2 * a * a + 3 * b**4 + c + 4 * d * d + 5 * e - 127,
        7 * a + 3 * b + 10 * c * c + d - e - 282,
        23 * a + b * b + 6 * f * f - 8 * g - 196,
        4 * a * a + b * b - 3 * a * b + 2 * c * c + 5 * f - 11 * g,
    ]


def _g10(x: Any) -> Any:
    a, b, c, d, e, f, g, h = x
    return [
        0.0025 * (d + f) - 1,
        0.0025 * (e + g - d) - 1,
        0.01 * (h - e) - 1,
        -a * f + 833.33252 * d + 100 * a - 83333.333,
        -b * g + 1250 * e + b * d - 1250 * d,
        -c * h + 1250000 + c * e - 2500 * e,
    ]


PROBLEMS = {
    1: Textbook(
        np.zeros(13),
        np.array([1.0] * 9 + [100.0] * 3 + [1.0]),
        -15,
        lambda x: float(5 * x[:4].sum() - 5 * (x[:4] ** 2).sum() - x[4:].sum()),
        _g1,
    ),
    4: Textbook(
        np.array([78.0, 33, 27, 27, 27]),
        np.array([102.0, 45, 45, 45, 45]),
        -30665.538671783,
        lambda x: float(5.3578547 * x[2] ** 2 + 0.8356891 * x[0] * x[4] + 37.293239 * x[0] - 40792.141),
        _g4,
    ),
    6: Textbook(
        np.array([13.0, 0]),
        np.array([100.0, 100]),
        -6961.81387558015,
        lambda x: float((x[0] - 10) ** 3 + (x[1] - 20) ** 3),
        lambda x: [
            100 - (x[0] - 5) ** 2 - (x[1] - 5) ** 2,
            (x[0] - 6) ** 2 + (x[1] - 5) ** 2 - 82.81,
        ],
    ),
    7: Textbook(np.full(10, -10.0), np.full(10, 10.0), 24.3062090681, _g7, _g7_constraints),
    8: Textbook(
        np.zeros(2),
        np.full(2, 10.0),
        -0.0958250414180359,
        _g8,
        lambda x: [x[0] ** 2 - x[1] + 1, 1 - x[0] + (x[1] - 4) ** 2],
    ),
    9: Textbook(np.full(7, -10.0), np.full(7, 10.0), 680.630057374402, _g9, _g9_constraints),
    10: Textbook(
        np.array([100.0, 1000, 1000, 10, 10, 10, 10, 10]),
        np.array([1e4] * 3 + [1e3] * 5),
        7049.24802052867,
        lambda x: float(x[:3].sum()),
        _g10,
    ),
}
