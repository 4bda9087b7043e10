"""Signals in what an evaluated function forks: none is lost, and the function's own handlers remain."""

import os
import signal
import subprocess
import sys

import pytest
from harness import HANGS_S, environment

import culmen

pytestmark = pytest.mark.no_numbers

SENT_WITHIN_FORK = """
import os, signal, sys, time
from culmen.slot import stops
stop = signal.Signals[sys.argv[1]]
# The hooks of a child run in the order of their registration: this one before those of culmen.
os.register_at_fork(after_in_child=lambda: os.kill(os.getpid(), stop))
stops.ignore()
child = os.fork()
if child == 0:
    time.sleep(2)
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
os.kill(os.getpid(), stop)
print("the slot goes on")
"""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGUSR1", "SIGHUP"])
def test_a_signal_between_the_fork_and_the_default_handlers_is_not_lost(name):
    words = [sys.executable, "-c", SENT_WITHIN_FORK, name]
    done = subprocess.run(words, env=environment(), capture_output=True, text=True, timeout=HANGS_S)
    assert (done.stdout, done.stderr) == (f"{-signal.Signals[name]}\nthe slot goes on\n", "")


def test_handlers_that_a_function_sets_remain_in_its_forks():
    def handlers():
        def own(_number, _frame):
            pass

        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGUSR1, own)
        reading, writing = os.pipe()
        if os.fork() == 0:
            kept = signal.getsignal(signal.SIGINT) is signal.SIG_IGN, signal.getsignal(signal.SIGUSR1) is own
            others = {signal.getsignal(stop) for stop in (signal.SIGTERM, signal.SIGHUP)}
            os.write(writing, repr((*kept, others == {signal.SIG_DFL})).encode())
            os._exit(0)
        os.wait()
        signal.signal(signal.SIGINT, before)
        return os.read(reading, 100).decode()

    with culmen.Executor(1) as pool:
        assert pool.submit(handlers).result() == "(True, True, True)"
