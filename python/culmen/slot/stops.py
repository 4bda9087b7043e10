"""Signals that stop a study: the slot ignores them, but no process that it forks does."""

import os
import signal
import threading

STOPS = {signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGHUP}


def ignore():
    """A signal may reach every process, but only the master decides to stop.

    A program that the function starts does not inherit a handler; it would inherit SIG_IGN. A fork does inherit it, so
    it gets Python's default handlers, except where the function has set its own. The signals are blocked until then, so
    that none is lost in between: a ``multiprocessing.Pool`` waits for a child that it has sent SIGTERM.
    """
    for stop in STOPS:
        signal.signal(stop, _nothing)
    former = threading.local()

    def block():
        former.mask = signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)

    def unblock():
        signal.pthread_sigmask(signal.SIG_SETMASK, former.mask)

    def restore():
        for stop in STOPS:
            if signal.getsignal(stop) is _nothing:
                signal.signal(stop, signal.default_int_handler if stop == signal.SIGINT else signal.SIG_DFL)
        unblock()

    os.register_at_fork(before=block, after_in_parent=unblock, after_in_child=restore)


def _nothing(_number, _frame):
    pass
