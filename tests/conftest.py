"""Puts this folder on sys.path, for harness.py."""

import signal

# A shell starts what it puts into the background with SIGINT ignored; what the tests interrupt would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
