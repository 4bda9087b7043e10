"""A function that takes its process down for some candidates."""

import math
import os


def root(p):
    if p["x"] < 0:
        os.abort()
    return math.sqrt(p["x"])
