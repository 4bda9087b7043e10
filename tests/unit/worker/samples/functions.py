"""One function for each way in which an evaluation can end."""

import ctypes
import os
import signal
import struct
import subprocess
import sys
import threading
import time
from decimal import Decimal

NOT_A_FUNCTION = 3.0


def sphere(p):
    return sum(x * x for x in p.values())


def types(p):
    return 0.0, {name: float(isinstance(x, int)) for name, x in p.items()} | {"order": float(list(p) == ["x", "n"])}


def fraction(p):
    return Decimal("0.25")


def residuals(p):
    return [x - 1 for x in p.values()]


def residuals_with_extras(p):
    return [3.0, 4.0], {"chi2_a": 9, "chi2_b": 16.0}


def process_id(p):
    return os.getpid()


def chatter(p):
    print("x" * 100)
    os.write(2, b"and more on stderr\n")
    return 1.0


def floods_then_crashes(p):
    for _ in range(3000):
        print("y" * 1000)
    print("the last words")
    os.kill(os.getpid(), signal.SIGKILL)


def raises(p):
    return deeper(p)


def deeper(p):
    raise ValueError("negative mass")


def exits(p):
    sys.exit("gone")


def exits_hard(p):
    print("last words")
    os._exit(4)


def segfaults(p):
    return ctypes.string_at(0)


def interrupts_itself(p):
    os.kill(os.getpid(), signal.SIGINT)
    return 2.0


def hangs(p):
    time.sleep(3600)


def hangs_with_grandchild(p):
    subprocess.Popen(["sleep", "3599"])
    print("hanging now")
    time.sleep(3600)


def leaves_grandchild(p):
    return subprocess.Popen(["sleep", "3598"]).pid


def forks_and_dies(p):
    """The forked child holds every descriptor of its parent, the channel too."""
    if os.fork() == 0:
        time.sleep(3600)
    os._exit(5)


def forks_and_returns(p):
    os.fork()
    return p["x"]


def leaves_with(code):
    """The code with which a forked child is seen to leave."""
    child = os.fork()
    if child == 0:
        sys.exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def code_of_forked_child(p):
    return leaves_with(p["n"])


def code_of_forked_child_with_last_words(p):
    return leaves_with("gone")


def code_of_forked_child_that_raises(p):
    child = os.fork()
    if child == 0:
        raise ValueError("of the child")
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def ends_forks(p):
    """The number of forks that a signal ended. One that the signal does not end gets SIGALRM in a minute."""
    ended = 0
    for stop in 25 * [signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGTERM]:
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            while True:
                signal.pause()
        os.kill(child, stop)
        ended += os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -stop
    return ended


def fakes_answer(p):
    """n: 0 for another evaluation, 1 for another attempt, 2 in time; the value is wrong always."""
    attempt, evaluation = {0: (0, 8), 1: (1, 7), 2: (0, 7)}[p["n"]]
    outcome = struct.pack("<BBddQIQ", 1, 0, 0.0, 13.0, 0, 0, 0)
    answer = struct.pack("<IQQ", attempt, evaluation, 0) + outcome
    os.write(3, struct.pack("<Q", len(answer)) + answer)
    time.sleep(3600)


def dies_soon(p):
    threading.Timer(0.05, os._exit, (6,)).start()
    return os.getpid()


def none(p):
    return None


def text(p):
    return "12"


def pair(p):
    return [1.0, 2.0]


def empty(p):
    return []


def words(p):
    return ["a", "b"]


def nested(p):
    return [[1.0], [2.0]]


def nan(p):
    return float("nan")


def residual_inf(p):
    return [0.0, float("inf")]


def bad_extra(p):
    return 1.0, {"why": "because"}


class Array:
    """Looks like a NumPy array as far as the slot looks."""

    def __init__(self, *shape):
        self.shape = shape

    def __getitem__(self, i):
        return Array(*self.shape[1:])

    def __float__(self):
        return 5.0


def scalar_array(p):
    return Array()


def one_element_array(p):
    return Array(1)


def batch_of_first(p):
    return list(p["x"])


def batch_with_extras(p):
    return [[x, 1.0] for x in p["x"]], {"n": list(p["n"]), "together": [len(p["x"])] * len(p["x"])}


def batch_that_raises_below_zero(p):
    if min(p["x"]) < 0:
        raise ValueError(f"{len(p['x'])} candidates, one below zero")
    return p["x"]


def batch_that_dies_below_zero(p):
    if min(p["x"]) < 0:
        os.abort()
    return p["x"]


def batch_that_hangs_below_zero(p):
    if min(p["x"]) < 0:
        time.sleep(3600)
    return p["x"]


def batch_that_is_too_short(p):
    return [1.0]


def batch_with_a_nan(p):
    return [float("nan") if x < 0 else x for x in p["x"]]


def prints(p):
    if p["n"] == 2:
        print("step", p["x"])
        subprocess.run(["echo", "from a child"])
    return 1.0


def prints_and_dies(p):
    print("a last word")
    os._exit(3)


def sees_the_environment(p):
    return float(os.environ.get("A_SETTING", -1))
