"""Puts this folder on sys.path, for harness.py."""

import signal

# A shell starts what it puts into the background with SIGINT ignored, nohup with SIGHUP; what the tests interrupt would
# inherit that, where a handler is no more in a new program.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda _number, _frame: None)
