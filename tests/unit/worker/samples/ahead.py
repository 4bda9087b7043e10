"""Evaluations of a child while a further request waits: x is the number of the evaluation, n says what happens."""

import os
import select
import signal
import time
from pathlib import Path


def works(x):
    pass


def dies(x):
    os.kill(os.getpid(), signal.SIGKILL)


def hangs(x):
    time.sleep(3600)


def takes_a_while(x):
    time.sleep(2.6)  # two of these take longer than the limit


def dies_before_the_next(x):
    """Once the next request waits, which this child will not read."""
    select.select([3], [], [])
    os.read = lambda *_: os._exit(6)


HOW = {0: works, 1: dies, 2: hangs, 3: takes_a_while, 4: dies_before_the_next}


def f(p):
    x = int(p["x"])
    print(f"this is {x}")
    (Path(os.environ["MARKS"]) / str(x)).touch()
    HOW[p["n"]](x)
    return os.getpid(), {"x": x}


def many(p):
    return [1.0] * 200_000
